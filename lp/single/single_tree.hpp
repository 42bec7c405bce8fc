// A good single spanning tree by simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220
// (1983), doi:10.1126/science.220.4598.671) on the load above a target, sum_r max(0, (A x_T)_r -
// target). The best one is NP-hard to find (HBT, doi:10.1109/IPDPS.2005.118).
#pragma once

#include <cstdint>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "lp/limits.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

struct SingleTreeOptions : Limits {
  std::uint64_t seed = 1;
  std::uint64_t effort = 1'000'000;  // approximate number of moves evaluated
  double bound = 0;  // lower bound of the busiest load of any tree, seconds per byte
};

struct SingleTree {
  RoutedTree tree;          // parents before children
  double busiest_load = 0;  // seconds per byte
  bool complete = true;     // false: the deadline passed before the effort was spent
};

// starts: spanning trees to begin from, all of whose edges are among `arcs`; at least one. The
// result is no worse than the best of them.
SingleTree search_single_tree(const HostArcs& arcs, std::uint32_t root,
                              const std::vector<RoutedTree>& starts,
                              const SingleTreeOptions& options = {});

}  // namespace espalier::lp
