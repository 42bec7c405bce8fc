// The best single spanning tree that a walk through trees finds.
//
// Which tree has the least period is NP-hard (HBT: the single-tree pipelined broadcast problem,
// doi:10.1109/IPDPS.2005.118). What is done: a target is set below the busiest load of the best
// tree at hand, and a walk through trees lowers how far resources are above it,
//
//     excess(T) = sum_r max(0, (A x_T)_r - target),
//
// by simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220 (1983),
// doi:10.1126/science.220.4598.671). A tree without excess is a better one. Moves: a host gets
// another parent (and, where that lies below it, some host between the two goes elsewhere first),
// or goes between a host and one of its children.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

struct SingleTreeOptions {
  std::uint64_t seed = 1;
  std::uint64_t effort = 1'000'000;                  // moves weighed, about
  std::optional<Seconds> time_limit = std::nullopt;  // unset: none, and the result is reproducible
  double bound = 0;  // seconds per byte: no tree has a busiest load below this
};

struct SingleTree {
  RoutedTree tree;          // parents before children
  double busiest_load = 0;  // seconds per byte
  std::uint64_t moves = 0;  // weighed
};

// starts: spanning trees to begin from, all of whose edges are among `arcs`; at least one. The
// result is no worse than the best of them.
SingleTree search_single_tree(const HostArcs& arcs, std::uint32_t root,
                              const std::vector<RoutedTree>& starts,
                              const SingleTreeOptions& options = {});

}  // namespace espalier::lp
