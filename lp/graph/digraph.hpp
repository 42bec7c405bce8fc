// The bare graph that lp/ works on: numbered nodes and arcs, no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::lp {

// No node, no arc or no index.
inline constexpr std::uint32_t kNone = UINT32_MAX;

// A directed graph whose nodes are hosts or relays. Hosts must be spanned; a relay only forwards
// between two hosts, and cannot copy data. Arc order is the column order of the matrix A.
struct Digraph {
  std::uint32_t node_count = 0;
  std::vector<std::uint32_t> tail;  // per arc
  std::vector<std::uint32_t> head;  // per arc; never equal to its tail
  std::vector<char> is_relay;       // per node; empty: no relays
  // Per arc, seconds, >= 0; empty: all 0. Rates and prices do not depend on it.
  std::vector<double> latency_s{};

  [[nodiscard]] std::size_t arc_count() const { return tail.size(); }
  [[nodiscard]] std::uint32_t host_count() const {
    std::uint32_t relays = 0;
    for (const char flag : is_relay) relays += flag != 0 ? 1 : 0;
    return node_count - relays;
  }
  [[nodiscard]] bool has_relays() const { return host_count() < node_count; }
  [[nodiscard]] bool relay(std::uint32_t node) const {
    return !is_relay.empty() && is_relay[node] != 0;
  }
};

// Arcs grouped by the node at one of their ends, ascending within a group.
struct ArcsByEnd {
  std::vector<std::size_t> first;  // per node, where its group begins; and the end of the last one
  std::vector<std::uint32_t> arcs;

  ArcsByEnd() = default;
  // end: per arc.
  ArcsByEnd(std::span<const std::uint32_t> end, std::uint32_t node_count)
      : first(node_count + 1, 0), arcs(end.size()) {
    for (const std::uint32_t node : end) ++first[node + 1];
    for (std::uint32_t node = 0; node < node_count; ++node) first[node + 1] += first[node];
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t arc = 0; arc < end.size(); ++arc) arcs[next[end[arc]]++] = arc;
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {arcs.data() + first[node], first[node + 1] - first[node]};
  }
};

}  // namespace espalier::lp
