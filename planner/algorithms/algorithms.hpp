// The functions behind the registry, one file per family. Callers use planner/registry.hpp.
#pragma once

#include "planner/algorithms/oblivious_tree.hpp"
#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "planner/registry.hpp"

namespace espalier::planner::tree_algorithms {

Outcome prune_simple(const Instance& instance, const AlgorithmOptions& options);
Outcome prune_refined(const Instance& instance, const AlgorithmOptions& options);
Outcome grow(const Instance& instance, const AlgorithmOptions& options);
// The same, with the cost update that the slides print.
Outcome grow_as_printed(const Instance& instance, const AlgorithmOptions& options);
Outcome k_chain(const Instance& instance, const AlgorithmOptions& options);
// A shape over the hosts, of which the source is the first.
template <ObliviousShape shape>
Outcome shaped(const Instance& instance, const AlgorithmOptions& options) {
  return lay_over(instance, options, shape(static_cast<std::uint32_t>(instance.host_count())));
}
inline constexpr TreeMaker flat = shaped<flat_shape>;
inline constexpr TreeMaker chain = shaped<chain_shape>;
inline constexpr TreeMaker binary = shaped<binary_shape>;
inline constexpr TreeMaker binomial = shaped<binomial_shape>;
inline constexpr TreeMaker split_binary = shaped<split_binary_shape>;
inline constexpr TreeMaker two_tree_complete = shaped<two_tree_complete_shape>;
inline constexpr TreeMaker two_tree_sanders = shaped<two_tree_sanders_shape>;
// A chain along the best ring of all hosts, the same for every root.
Outcome ring(const Instance& instance, const AlgorithmOptions& options);
Outcome ring_of_reduction(const Instance& instance, const AlgorithmOptions& options);
// The way of a root's part through the exchanges of an allgather.
Outcome bruck(const Instance& instance, const AlgorithmOptions& options);
Outcome recursive_doubling(const Instance& instance, const AlgorithmOptions& options);
Outcome neighbor_exchange(const Instance& instance, const AlgorithmOptions& options);
// two_tree_complete's trees, numbered from the middle: T3 and T4 of TTC, as printed and repaired.
Outcome two_tree_from_middle(const Instance& instance, const AlgorithmOptions& options);
Outcome two_tree_from_middle_repaired(const Instance& instance, const AlgorithmOptions& options);
Outcome lp_prune(const Instance& instance, const AlgorithmOptions& options);
Outcome lp_grow(const Instance& instance, const AlgorithmOptions& options);
Outcome best_tree(const Instance& instance, const AlgorithmOptions& options);
Outcome exact_tree(const Instance& instance, const AlgorithmOptions& options);
Outcome optimal(const Instance& instance, const AlgorithmOptions& options);
Outcome fnf(const Instance& instance, const AlgorithmOptions& options);
Outcome ecef(const Instance& instance, const AlgorithmOptions& options);
Outcome ecef_lookahead(const Instance& instance, const AlgorithmOptions& options);

// With an inner algorithm of one tree.
Outcome hierarchical(const Instance& instance, const AlgorithmOptions& options, TreeMaker inner);
Outcome hierarchical_node(const Instance& instance, const AlgorithmOptions& options,
                          TreeMaker inner);
Outcome hierarchical_group(const Instance& instance, const AlgorithmOptions& options,
                           TreeMaker inner);
Outcome reorder(const Instance& instance, const AlgorithmOptions& options, TreeMaker inner);

// One tree at the rate that it sustains alone.
Outcome single_tree(const Instance& instance, lp::RoutedTree tree);

}  // namespace espalier::planner::tree_algorithms
