// The graph of hosts only: an arc between two hosts is one arc of the platform, or the cheapest
// path through relays under the current prices. Memory O(m + R (R + H) + L), with R relays that
// have an arc from a host, H hosts, L logical arcs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class HostGraph {
 public:
  // Keeps a reference to `graph`. Through relays there may be hosts^2 logical arcs, so that this
  // and reprice can take long: both throw LimitReached when the deadline passes.
  explicit HostGraph(const Digraph& graph, const Deadline& deadline = Deadline());

  // Logical arcs between nodes of the digraph (relays keep their numbers, and have no logical
  // arcs).
  [[nodiscard]] std::span<const std::uint32_t> tail() const { return tail_; }
  [[nodiscard]] std::span<const std::uint32_t> head() const { return head_; }

  // arc_cost: per arc of the digraph, >= 0. Returns the cost of each logical arc; valid until the
  // next call. After LimitReached there are no valid prices.
  std::span<const double> reprice(std::span<const double> arc_cost);
  // Appends to `path` the digraph's arcs of a logical arc, as of the last reprice.
  void append_path(std::uint32_t logical_arc, std::vector<std::uint32_t>& path) const;

 private:
  struct RelayArc {
    std::uint32_t arc;
    std::uint32_t head;
  };
  void find_relay_reach();
  void run_dijkstra(std::uint32_t entry, std::span<const double> arc_cost);
  [[nodiscard]] std::uint32_t best_entry_arc(std::uint32_t tail, std::uint32_t head,
                                             double* cost) const;

  const Digraph* graph_;
  DeadlineWatch watch_;
  std::vector<std::uint32_t> tail_;  // per logical arc; the direct ones first
  std::vector<std::uint32_t> head_;
  std::vector<std::uint32_t> direct_;  // per direct logical arc: the digraph's arc
  std::vector<double> cost_;

  std::vector<std::uint32_t> first_out_;  // CSR of arcs by tail
  std::vector<RelayArc> out_;
  std::vector<std::uint32_t> entry_relays_;  // relays with an arc from a host
  std::vector<std::uint32_t> entry_index_;   // per node
  std::vector<double> distance_;             // entries x nodes
  std::vector<std::uint32_t> last_arc_;  // entries x nodes: arc into the node on the cheapest path
  std::vector<double> arc_cost_;         // copy of the last prices
  std::vector<std::pair<double, std::uint32_t>> frontier_;
};

}  // namespace espalier::lp
