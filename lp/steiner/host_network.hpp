// The hosts that a tree from a root to some members can be made of, and the arcs between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"

namespace espalier::lp {

struct HostNetwork {
  std::uint32_t nodes = 0;  // numbered from 0; each is reached from the root, and leads to a member
  std::uint32_t root = 0;
  std::vector<std::uint32_t> members{};  // ascending, without the root
  std::vector<std::uint32_t> helpers{};  // the other nodes but the root, ascending
  std::vector<char> is_helper{};         // per node
  std::vector<std::uint32_t> tail{};     // per arc; no arc leads to the root
  std::vector<std::uint32_t> head{};
  std::vector<std::uint32_t> given{};  // per arc, its number in the graph that it was made from
  ArcsByEnd into{};
  ArcsByEnd out_of{};

  // The part of a graph that matters. is_member: per node. Its root and members are kept whatever
  // leads to them: is_connected tells whether a tree exists.
  static HostNetwork of(std::uint32_t node_count, std::span<const std::uint32_t> tail,
                        std::span<const std::uint32_t> head, std::uint32_t root,
                        std::span<const char> is_member);
  bool is_connected = true;  // the root reaches every member
};

// Per node, whether arcs that `passes` holds for lead there from `starts`. onward: the arcs at each
// node; to: per arc, the node that it leads to.
template <class Passes>
std::vector<char> reached_along(std::span<const std::uint32_t> starts, const ArcsByEnd& onward,
                                std::span<const std::uint32_t> to, std::uint32_t node_count,
                                const Passes& passes) {
  std::vector<char> is_reached(node_count, 0);
  std::vector<std::uint32_t> waiting(starts.begin(), starts.end());
  for (const std::uint32_t node : waiting) is_reached[node] = 1;
  while (!waiting.empty()) {
    const std::uint32_t node = waiting.back();
    waiting.pop_back();
    for (const std::uint32_t arc : onward.of(node)) {
      if (is_reached[to[arc]] != 0 || !passes(arc)) continue;
      is_reached[to[arc]] = 1;
      waiting.push_back(to[arc]);
    }
  }
  return is_reached;
}

// Arcs of a network that form a tree from its root, with their cost.
struct SteinerTree {
  std::vector<std::uint32_t> arcs{};
  double cost = 0;
};

}  // namespace espalier::lp
