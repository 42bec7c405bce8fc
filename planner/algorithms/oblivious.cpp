// Topology-oblivious single trees, as MPI libraries build them.
#include <algorithm>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/oblivious_tree.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

std::uint32_t ranks_of(const Instance& instance) {
  return static_cast<std::uint32_t>(instance.host_count());
}

}  // namespace

Outcome flat(const Instance& instance, const AlgorithmOptions& options) {
  return lay_over(instance, options, flat_shape(ranks_of(instance)));
}

Outcome chain(const Instance& instance, const AlgorithmOptions& options) {
  return lay_over(instance, options, chain_shape(ranks_of(instance)));
}

// The ranks' 1 to n-1 divided into k contiguous chains. Where they do not divide evenly the first
// chains are longer by one, because the source serves them first.
Outcome k_chain(const Instance& instance, const AlgorithmOptions& options) {
  const std::uint32_t ranks = ranks_of(instance);
  ObliviousTree tree;
  std::uint32_t next = 1;
  for (std::size_t left = std::clamp<std::size_t>(options.chains, 1, ranks); left > 0; --left) {
    const std::size_t length = (ranks - next + left - 1) / left;
    for (std::size_t i = 0; i < length; ++i, ++next) {
      tree.edges.push_back({i == 0 ? 0 : next - 1, next});
    }
  }
  return lay_over(instance, options, {&tree, 1});
}

Outcome binary(const Instance& instance, const AlgorithmOptions& options) {
  return lay_over(instance, options, binary_shape(ranks_of(instance)));
}

Outcome binomial(const Instance& instance, const AlgorithmOptions& options) {
  return lay_over(instance, options, binomial_shape(ranks_of(instance)));
}

}  // namespace espalier::planner::tree_algorithms
