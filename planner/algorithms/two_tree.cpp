// Two complete spanning trees that each carry half of the message, numbered from the middle.
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/oblivious_tree.hpp"
#include "planner/plan/shapes/two_tree_complete.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

// TTC, section "TwoTreeC+C": both are complete trees below the source. Level by level the first has
// the false ranks upwards from ceil(P / 2), the second downwards from `second`, both cyclically
// within 1 to P - 1. TTC prints floor(P / 2) for `second`: where P is even, both begin with the
// same host, which then has children in both. With ceil(P / 2) - 1 no host has: docs/methods.md,
// "Two complete trees from the middle".
Outcome from_middle(const Instance& instance, const AlgorithmOptions& options,
                    std::uint32_t second) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  const std::uint32_t circle = ranks - 1;
  const auto upwards = [&](std::uint32_t place) {
    return place == 0 ? 0 : 1 + (place - 1 + (ranks + 1) / 2 - 1) % circle;
  };
  const auto downwards = [&](std::uint32_t place) {
    return place == 0 ? 0 : 1 + (2 * circle + second - 1 - (place - 1)) % circle;
  };
  std::vector<ObliviousTree> trees(2);
  for (std::uint32_t place = 0; place < ranks; ++place) {
    const TreeRelatives relatives = two_tree_relatives(place, ranks).left;
    for (const std::uint32_t child : relatives.children()) {
      trees[0].edges.push_back({upwards(place), upwards(child)});
      trees[1].edges.push_back({downwards(place), downwards(child)});
    }
  }
  return lay_over(instance, options, trees);
}

}  // namespace

Outcome two_tree_from_middle(const Instance& instance, const AlgorithmOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  return from_middle(instance, options, ranks / 2);
}

Outcome two_tree_from_middle_repaired(const Instance& instance, const AlgorithmOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  return from_middle(instance, options, (ranks + 1) / 2 - 1);
}

}  // namespace espalier::planner::tree_algorithms
