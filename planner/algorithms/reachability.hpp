// Which arcs between hosts may be dropped while every host stays reachable from the source: the
// common part of all pruning. An arc that is needed once stays needed, because dropping others only
// makes more arcs needed. So each arc is tried once.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"

namespace espalier::planner {

// Keeps a spanning tree of the remaining arcs. Dropping an arc outside it costs nothing. Dropping
// one of its arcs searches for other arcs into the subtree below only.
class Reachability {
 public:
  // Keeps a reference to `arcs`, the instance's own.
  Reachability(const Instance& instance, const lp::HostArcs& arcs);

  // Drops the arc if every host stays reachable.
  bool drop(std::uint32_t arc);

  // The remaining arcs when nothing more can be dropped: a tree, parents before children.
  [[nodiscard]] lp::RoutedTree tree() const;

 private:
  enum Mark : char { kOutside, kCutOff, kAttached };

  void collect_subtree(std::uint32_t top);
  [[nodiscard]] std::vector<std::uint32_t> parents_of_subtree() const;
  void attach_from(std::vector<std::uint32_t> frontier);
  void relink(const std::vector<std::uint32_t>& old_parents);

  const lp::HostArcs& arcs_;
  std::uint32_t source_;
  std::vector<char> kept_;
  std::vector<std::uint32_t> parent_arc_;
  std::vector<std::vector<std::uint32_t>> children_;  // arcs of the spanning tree, by tail
  std::vector<char> mark_;
  std::vector<std::uint32_t> below_;
};

}  // namespace espalier::planner
