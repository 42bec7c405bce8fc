// GROWING-MINIMUM-WEIGHTED-OUT-DEGREE-TREE (HBT), under any occupation matrix: the tree grows along
// the arc e of least max_r (load_r + A[r, e]). grow_as_printed has the slides' own update, which
// counts earlier children twice from the third on.
#include <algorithm>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/growing_tree.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

Outcome grow(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse in_use(instance, options);
  const lp::HostArcs& arcs = in_use.get();
  std::vector<double> load(instance.resource_count(), 0.0);
  const auto cost_of = [&](std::uint32_t arc) {
    double cost = 0;
    for (const lp::HostArcs::Use& use : arcs.uses(arc)) {
      cost = std::max(cost, load[use.resource] + use.seconds_per_byte);
    }
    return cost;
  };
  const auto take = [&](std::uint32_t arc) {
    for (const lp::HostArcs::Use& use : arcs.uses(arc)) load[use.resource] += use.seconds_per_byte;
  };
  return single_tree(instance, grow_tree(arcs, static_cast<std::uint32_t>(instance.source()),
                                         options.deadline, cost_of, take));
}

// cost(u, w) <- cost(u, w) + cost(u, v) for the other arcs of u when (u, v) is taken. All of them
// grow by the same, so a sum for each sender is enough. It doubles with every child, and is
// infinite from about the thousandth on; of equal costs the first arc is taken.
Outcome grow_as_printed(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse in_use(instance, options);
  const lp::HostArcs& arcs = in_use.get();
  std::vector<double> added(arcs.node_count(), 0.0);
  const auto cost_of = [&](std::uint32_t arc) { return arcs.weight(arc) + added[arcs.tail(arc)]; };
  const auto take = [&](std::uint32_t arc) { added[arcs.tail(arc)] += cost_of(arc); };
  return single_tree(instance, grow_tree(arcs, static_cast<std::uint32_t>(instance.source()),
                                         options.deadline, cost_of, take));
}

}  // namespace espalier::planner::tree_algorithms
