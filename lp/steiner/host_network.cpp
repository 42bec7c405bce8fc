#include "lp/steiner/host_network.hpp"

namespace espalier::lp {

HostNetwork HostNetwork::of(std::uint32_t node_count, std::span<const std::uint32_t> tail,
                            std::span<const std::uint32_t> head, std::uint32_t root,
                            std::span<const char> is_member) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    if (is_member[node] != 0 && node != root) members.push_back(node);
  }
  const auto all = [](std::uint32_t /*arc*/) { return true; };
  const std::vector<char> from_root =
      reached_along(std::span(&root, 1), ArcsByEnd(tail, node_count), head, node_count, all);
  const std::vector<char> to_member =
      reached_along(members, ArcsByEnd(head, node_count), tail, node_count, all);
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
