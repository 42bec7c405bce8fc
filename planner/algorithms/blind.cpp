// Topology-blind trees, as MPI libraries build them: shapes over ranks relative to the source,
// rank' = (rank - source) mod n. A hop between two hosts that no link joins goes along the fastest
// path, through relays and other hosts alike, and loads it. Where there is no path either, links
// being one-way, the sender's own parent takes the child over, in the end the source.
#include <algorithm>
#include <bit>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/fastest_paths.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

// children(r): the ranks' that rank' r of n sends to, in order. Every rank' but 0 is the child of a
// smaller one.
template <class Children>
Outcome blind_tree(const Instance& instance, Children children) {
  const auto hosts = instance.platform().hosts();
  const std::size_t count = hosts.size();
  const auto source = static_cast<std::size_t>(
      std::find(hosts.begin(), hosts.end(), instance.source()) - hosts.begin());
  const auto host_of = [&](std::size_t rank) { return hosts[(rank + source) % count]; };
  FastestPaths paths(instance);
  lp::RoutedTree tree;
  std::vector<std::size_t> parent(count, 0);
  for (std::size_t rank = 0; rank < count; ++rank) {
    for (const std::size_t child : children(rank, count)) {
      parent[child] = rank;
      std::vector<std::uint32_t> path = paths.path(host_of(rank), host_of(child));
      while (path.empty()) {  // ends at the source, which reaches every host
        parent[child] = parent[parent[child]];
        path = paths.path(host_of(parent[child]), host_of(child));
      }
      tree.add_edge(path);
    }
  }
  return single_tree(instance, std::move(tree));
}

using Ranks = std::vector<std::size_t>;

}  // namespace

Outcome flat(const Instance& instance, const AlgorithmOptions&) {
  return blind_tree(instance, [](std::size_t rank, std::size_t count) {
    Ranks children;
    for (std::size_t child = 1; rank == 0 && child < count; ++child) children.push_back(child);
    return children;
  });
}

Outcome chain(const Instance& instance, const AlgorithmOptions&) {
  return blind_tree(instance, [](std::size_t rank, std::size_t count) {
    return rank + 1 < count ? Ranks{rank + 1} : Ranks{};
  });
}

Outcome binary(const Instance& instance, const AlgorithmOptions&) {
  return blind_tree(instance, [](std::size_t rank, std::size_t count) {
    Ranks children;
    for (std::size_t child = 2 * rank + 1; child <= 2 * rank + 2 && child < count; ++child) {
      children.push_back(child);
    }
    return children;
  });
}

// Rank' r receives from r with its lowest set bit cleared; the largest subtree is served first.
Outcome binomial(const Instance& instance, const AlgorithmOptions&) {
  return blind_tree(instance, [](std::size_t rank, std::size_t count) {
    Ranks children;
    const std::size_t below = rank == 0 ? std::bit_ceil(count) : rank & (~rank + 1);
    for (std::size_t step = below / 2; step > 0; step /= 2) {
      if (rank + step < count) children.push_back(rank + step);
    }
    return children;
  });
}

}  // namespace espalier::planner::tree_algorithms
