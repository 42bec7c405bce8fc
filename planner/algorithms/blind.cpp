// Topology-blind single trees, as MPI libraries build them.
#include <algorithm>
#include <bit>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/blind_tree.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

using Ranks = std::vector<std::uint32_t>;

std::uint32_t ranks_of(const Instance& instance) {
  return static_cast<std::uint32_t>(instance.host_count());
}

// children(rank, ranks), as blind_tree has it.
template <class Children>
Outcome one_tree(const Instance& instance, Children children) {
  const std::uint32_t ranks = ranks_of(instance);
  const BlindTree tree =
      blind_tree(ranks, [&](std::uint32_t rank) { return children(rank, ranks); });
  return lay_over(instance, {&tree, 1});
}

}  // namespace

Outcome flat(const Instance& instance, const AlgorithmOptions&) {
  return one_tree(instance, [](std::uint32_t rank, std::uint32_t ranks) {
    Ranks children;
    for (std::uint32_t child = 1; rank == 0 && child < ranks; ++child) children.push_back(child);
    return children;
  });
}

Outcome chain(const Instance& instance, const AlgorithmOptions&) {
  return one_tree(instance, [](std::uint32_t rank, std::uint32_t ranks) {
    return rank + 1 < ranks ? Ranks{rank + 1} : Ranks{};
  });
}

// The ranks' 1 to n-1 cut into k contiguous chains. Where they do not divide evenly the first
// chains are longer by one: the source serves them first, and their ends are the last to have all.
Outcome k_chain(const Instance& instance, const AlgorithmOptions& options) {
  const std::uint32_t ranks = ranks_of(instance);
  BlindTree tree;
  std::uint32_t next = 1;
  for (std::size_t left = std::clamp<std::size_t>(options.chains, 1, ranks); left > 0; --left) {
    const std::size_t length = (ranks - next + left - 1) / left;
    for (std::size_t i = 0; i < length; ++i, ++next) {
      tree.edges.push_back({i == 0 ? 0 : next - 1, next});
    }
  }
  return lay_over(instance, {&tree, 1});
}

Outcome binary(const Instance& instance, const AlgorithmOptions&) {
  return one_tree(instance, [](std::uint32_t rank, std::uint32_t ranks) {
    Ranks children;
    for (std::uint32_t child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; ++child) {
      children.push_back(child);
    }
    return children;
  });
}

// Rank' r receives from r with its lowest set bit cleared; the largest subtree is served first.
Outcome binomial(const Instance& instance, const AlgorithmOptions&) {
  return one_tree(instance, [](std::uint32_t rank, std::uint32_t ranks) {
    Ranks children;
    const std::uint32_t below = rank == 0 ? std::bit_ceil(ranks) : rank & (~rank + 1);
    for (std::uint32_t step = below / 2; step > 0; step /= 2) {
      if (rank + step < ranks) children.push_back(rank + step);
    }
    return children;
  });
}

}  // namespace espalier::planner::tree_algorithms
