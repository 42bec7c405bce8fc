#include "planner/send_windows.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::planner {

double bytes_on_the_way(const PlanTree& tree, std::size_t edge) {
  return tree.rate.value * tree.latency(edge).value;
}

double most_bytes_on_the_way(const Plan& plan) {
  double most = 0;
  for (const auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) {
    for (const PlanTree& tree : *trees) {
      for (std::size_t edge = 0; edge < tree.latencies.size(); ++edge) {
        most = std::max(most, bytes_on_the_way(tree, edge));
      }
    }
  }
  return most;
}

std::uint64_t send_window(std::uint64_t base, double on_the_way, Bytes slice, bool asks) {
  const double slices = std::floor((asks ? 2 : 1) * on_the_way / static_cast<double>(slice.value));
  // Compared as doubles: what is above may not fit into an integer.
  if (slices < 1) return base;
  return base + kFarSends +
         (slices < static_cast<double>(kMostOnTheWay) ? static_cast<std::uint64_t>(slices)
                                                      : kMostOnTheWay);
}

}  // namespace espalier::planner
