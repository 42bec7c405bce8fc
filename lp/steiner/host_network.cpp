#include "lp/steiner/host_network.hpp"

#include <algorithm>

namespace espalier::lp {
namespace {

// Per node, whether the search comes to it from `starts` along arcs, from `from` to `to`.
std::vector<char> reached(std::span<const std::uint32_t> starts, const ArcsByEnd& onward,
                          std::span<const std::uint32_t> to, std::uint32_t node_count) {
  std::vector<char> is_reached(node_count, 0);
  std::vector<std::uint32_t> waiting(starts.begin(), starts.end());
  for (const std::uint32_t node : waiting) is_reached[node] = 1;
  while (!waiting.empty()) {
    const std::uint32_t node = waiting.back();
    waiting.pop_back();
    for (const std::uint32_t arc : onward.of(node)) {
      if (is_reached[to[arc]] != 0) continue;
      is_reached[to[arc]] = 1;
      waiting.push_back(to[arc]);
    }
  }
  return is_reached;
}

}  // namespace

HostNetwork HostNetwork::of(std::uint32_t node_count, std::span<const std::uint32_t> tail,
                            std::span<const std::uint32_t> head, std::uint32_t root,
                            std::span<const char> is_member) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (is_member[node] != 0 && node != root) members.push_back(node);
  }
  const std::vector<char> from_root =
      reached(std::span(&root, 1), ArcsByEnd(tail, node_count), head, node_count);
  const std::vector<char> to_member =
      reached(members, ArcsByEnd(head, node_count), tail, node_count);
  HostNetwork network;
  std::vector<std::uint32_t> number(node_count, kNone);
  for (std::uint32_t node = 0; node < node_count; ++node) {
    const bool is_needed = node == root || is_member[node] != 0;
    if (is_needed && from_root[node] == 0) network.is_connected = false;
    if (!is_needed && (from_root[node] == 0 || to_member[node] == 0)) continue;
    number[node] = network.nodes++;
    network.is_helper.push_back(is_needed ? 0 : 1);
    if (node == root) {
      network.root = number[node];
    } else {
      (is_needed ? network.members : network.helpers).push_back(number[node]);
    }
  }
  for (std::uint32_t arc = 0; arc < tail.size(); ++arc) {
    if (number[tail[arc]] == kNone || number[head[arc]] == kNone || head[arc] == root) continue;
    network.tail.push_back(number[tail[arc]]);
    network.head.push_back(number[head[arc]]);
    network.given.push_back(arc);
  }
  network.into = ArcsByEnd(network.head, network.nodes);
  network.out_of = ArcsByEnd(network.tail, network.nodes);
  return network;
}

}  // namespace espalier::lp
