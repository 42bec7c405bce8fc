// Which arcs between hosts may be dropped while every host stays reachable from the source: the
// common part of all pruning. An arc that is needed once stays needed, because dropping others only
// makes more arcs needed. So each arc is tried once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/rooted_tree.hpp"
#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

// Keeps a spanning tree of the remaining arcs. Dropping an arc outside it costs nothing. Where one
// of its arcs is dropped, the host below gets another parent outside its subtree, if possible that
// of an arc that stays for long; only where it has none is the whole subtree searched for other
// arcs into it. So pruning is about linear in the arcs, though not in the worst case.
class Reachability {
 public:
  // Keeps a reference to `arcs`, the instance's own. order: all arcs, about as they will be tried;
  // it decides how long dropping takes, not what is dropped. Throws LimitReached.
  Reachability(const Instance& instance, const lp::HostArcs& arcs,
               std::span<const std::uint32_t> order, const Deadline& deadline);

  // Drops the arc if every host stays reachable.
  bool drop(std::uint32_t arc);
  // Tries the arcs in this order; false: the deadline passed before all were tried.
  bool drop_all(std::span<const std::uint32_t> order, const Deadline& deadline);

  // Steps so far: arcs and hosts visited.
  [[nodiscard]] std::size_t work() const { return work_; }

  // A spanning tree of the remaining arcs, parents before children: all of them when nothing more
  // can be dropped.
  [[nodiscard]] lp::RoutedTree tree() const;

 private:
  enum Mark : char { kOutside, kCutOff, kAttached };
  // The arcs at one end of a node: those that remain, and some that do not.
  struct Bundle {
    std::vector<std::uint32_t> arcs;  // the later their turn, the earlier in the list
    std::size_t remaining = 0;
  };

  void span(const std::vector<std::uint32_t>& turn, DeadlineWatch& watch);
  void remove(std::uint32_t arc);
  void remove_from(Bundle& bundle);
  [[nodiscard]] bool below(std::uint32_t node, std::uint32_t top);
  bool move_alone(std::uint32_t node);
  bool move_subtree(std::uint32_t top);
  void collect_subtree(std::uint32_t top);
  [[nodiscard]] std::uint32_t arc_from_outside(std::uint32_t node);

  const lp::HostArcs& arcs_;
  std::uint32_t source_;
  std::vector<char> kept_;
  std::vector<Bundle> in_;   // per node
  std::vector<Bundle> out_;  // per node
  std::size_t work_ = 0;

  lp::RootedTree tree_;  // spans the hosts along remaining arcs

  // Of a subtree that is cut off.
  std::vector<char> mark_;
  std::vector<std::uint32_t> below_;
};

}  // namespace espalier::planner
