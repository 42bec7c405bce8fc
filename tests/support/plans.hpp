// Plans with known shapes, for any number of nodes and any source.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::testing {

// Nodes are numbered from the source on (cyclically); parent_of(i), for i > 0, is such a number
// below i.
template <class ParentOf>
planner::PlanTree tree_of(std::uint32_t nodes, std::uint32_t source, double rate,
                          const ParentOf& parent_of) {
  planner::PlanTree tree;
  tree.rate.value = rate;
  for (std::uint32_t i = 1; i < nodes; ++i) {
    tree.edges.push_back({(parent_of(i) + source) % nodes, (i + source) % nodes});
  }
  return tree;
}

inline planner::Plan plan_of(std::uint32_t nodes, std::uint32_t source,
                             std::vector<planner::PlanTree> trees, std::uint64_t segment) {
  planner::Plan plan;
  plan.platform = "test";
  plan.model = "one-port";
  plan.algorithm = "by hand";
  for (std::uint32_t i = 0; i < nodes; ++i) plan.nodes.push_back("n" + std::to_string(i));
  plan.source = plan.nodes[source];
  plan.segment.value = segment;
  for (const planner::PlanTree& tree : trees) plan.throughput.value += tree.rate.value;
  plan.broadcast_trees = std::move(trees);
  return plan;
}

// For stream shapes that do not depend on the message: larger than any segment.
inline constexpr std::uint64_t kAnyMessage = std::uint64_t{1} << 60;

enum class Shape { kChain, kFlat, kBinary };

inline std::string name_of(Shape shape) {
  constexpr const char* kNames[] = {"Chain", "Flat", "Binary"};
  return kNames[static_cast<std::size_t>(shape)];
}

inline planner::PlanTree tree_shaped(Shape shape, std::uint32_t nodes, std::uint32_t source,
                                     double rate = 1.0) {
  return tree_of(nodes, source, rate, [shape](std::uint32_t i) {
    switch (shape) {
      case Shape::kChain:
        return i - 1;
      case Shape::kFlat:
        return 0U;
      case Shape::kBinary:
        return (i - 1) / 2;
    }
    return 0U;
  });
}

inline planner::Plan plan_shaped(Shape shape, std::uint32_t nodes, std::uint32_t source,
                                 std::uint64_t segment) {
  return plan_of(nodes, source, {tree_shaped(shape, nodes, source)}, segment);
}

// A random recursive tree over the nodes in random order, with its edges in random order.
inline planner::PlanTree random_tree(std::uint32_t nodes, std::uint32_t source, double rate,
                                     std::mt19937_64& random) {
  std::vector<std::uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0U);
  std::swap(order[0], order[source]);
  for (std::uint32_t i = nodes; i > 2; --i) std::swap(order[i - 1], order[1 + random() % (i - 1)]);
  planner::PlanTree tree;
  tree.rate.value = rate;
  for (std::uint32_t i = 1; i < nodes; ++i) tree.edges.push_back({order[random() % i], order[i]});
  for (std::size_t i = tree.edges.size(); i > 1; --i) {
    std::swap(tree.edges[i - 1], tree.edges[random() % i]);
  }
  return tree;
}

// 1 to `most_trees` random trees whose rates differ by a factor of up to 1000.
inline planner::Plan random_plan_from(std::uint32_t source, std::uint32_t nodes,
                                      std::uint64_t segment, std::size_t most_trees,
                                      std::mt19937_64& random) {
  std::vector<planner::PlanTree> trees(1 + random() % most_trees);
  for (planner::PlanTree& tree : trees) {
    const double rate = 1.0 + static_cast<double>(random() % 1000);
    tree = random_tree(nodes, source, rate, random);
  }
  return plan_of(nodes, source, std::move(trees), segment);
}

inline planner::Plan random_plan(std::uint32_t nodes, std::uint64_t segment, std::size_t most_trees,
                                 std::mt19937_64& random) {
  const auto source = static_cast<std::uint32_t>(random() % nodes);
  return random_plan_from(source, nodes, segment, most_trees, random);
}

// The same trees, with a bandwidth-delay product of up to 200 kB per edge: different windows, and
// trees that end at different times.
inline planner::Plan over_long_links(planner::Plan plan, std::mt19937_64& random) {
  constexpr double kFast = 1e9;  // because segments keep the tree's pace on high-latency links
  plan.throughput.value *= kFast;
  for (planner::PlanTree& tree : plan.broadcast_trees) {
    tree.rate.value *= kFast;
    for (std::size_t edge = 0; edge < tree.edges.size(); ++edge) {
      const auto bytes = static_cast<double>(random() % 3 == 0 ? 0 : random() % 200'000);
      tree.latencies.push_back({bytes / tree.rate.value});
    }
  }
  return plan;
}

// The same trees as reduce trees.
inline planner::Plan reduce_plan(planner::Plan broadcast) {
  broadcast.operation = planner::Operation::kReduce;
  broadcast.reduce_trees = std::move(broadcast.broadcast_trees);
  broadcast.broadcast_trees.clear();
  return broadcast;
}
// An allreduce along the trees of two plans with the same nodes and source.
inline planner::Plan allreduce_plan(planner::Plan up, const planner::Plan& down) {
  up.operation = planner::Operation::kAllreduce;
  up.reduce_trees = std::move(up.broadcast_trees);
  up.broadcast_trees = down.broadcast_trees;
  for (planner::PlanTree& tree : up.broadcast_trees) {  // both kinds carry the same rate
    tree.rate.value *= up.throughput.value / down.throughput.value;
  }
  return up;
}

// A plan with several roots: each node is the root of a block of up to `most_trees` random trees of
// each kind that the operation has. In an allreduce, node r has a share proportional to r + 1.
inline planner::Plan parts_plan(planner::Operation operation, std::uint32_t nodes,
                                std::uint64_t segment, std::size_t most_trees,
                                std::mt19937_64& random) {
  using planner::BlockKind;
  planner::Plan plan = plan_of(nodes, 0, {}, segment);
  plan.operation = operation;
  plan.source.clear();
  plan.throughput.value = nodes;
  const bool is_allreduce = operation == planner::Operation::kAllreduce;
  for (std::uint32_t root = 0; root < nodes; ++root) {
    const double share = is_allreduce ? 2.0 * (root + 1) / nodes / (nodes + 1) : 1.0 / nodes;
    for (const BlockKind kind : {BlockKind::kCombine, BlockKind::kSpread}) {
      if (!planner::has_blocks_of(kind, operation)) continue;
      planner::Plan of_root = random_plan_from(root, nodes, segment, most_trees, random);
      for (planner::PlanTree& tree : of_root.broadcast_trees) {
        tree.rate.value *= share * nodes / of_root.throughput.value;
      }
      planner::PlanBlock& block = plan.blocks.emplace_back();
      block.kind = kind;
      block.root = root;
      block.share = share;
      if (is_allreduce && kind == BlockKind::kSpread) {
        block.after = static_cast<std::uint32_t>(plan.blocks.size() - 2);
      }
      block.trees = std::move(of_root.broadcast_trees);
    }
  }
  return plan;
}

// The paths of a part that is routed.
enum class Paths { kDirect, kThroughAnother, kTwo, kRandom };

inline std::string name_of(Paths paths) {
  constexpr const char* kNames[] = {"Direct", "ThroughAnother", "Two", "Random"};
  return kNames[static_cast<std::size_t>(paths)];
}

// A path over the nodes in the order given; its rate is 1.
inline planner::PlanTree path_over(const std::vector<std::uint32_t>& nodes) {
  planner::PlanTree path;
  path.rate.value = 1;
  for (std::size_t i = 1; i < nodes.size(); ++i) path.edges.push_back({nodes[i - 1], nodes[i]});
  return path;
}

// Over any of the other nodes, in any order.
inline planner::PlanTree random_path(std::uint32_t nodes, std::uint32_t from, std::uint32_t to,
                                     std::mt19937_64& random) {
  std::vector<std::uint32_t> passed;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (node != from && node != to) passed.push_back(node);
  }
  for (std::size_t i = passed.size(); i > 1; --i) std::swap(passed[i - 1], passed[random() % i]);
  passed.resize(random() % (passed.size() + 1));
  passed.insert(passed.begin(), from);
  passed.push_back(to);
  return path_over(passed);
}

inline std::vector<planner::PlanTree> paths_between(std::uint32_t nodes, std::uint32_t from,
                                                    std::uint32_t to, Paths paths,
                                                    std::mt19937_64& random) {
  std::uint32_t other = (from + to + 1) % nodes;
  while (nodes > 2 && (other == from || other == to)) other = (other + 1) % nodes;
  const auto through = nodes > 2 ? path_over({from, other, to}) : path_over({from, to});
  switch (paths) {
    case Paths::kDirect:
      return {path_over({from, to})};
    case Paths::kThroughAnother:
      return {through};
    case Paths::kTwo:
      return {path_over({from, to}), through};
    case Paths::kRandom:
      break;
  }
  std::vector<planner::PlanTree> all;
  for (std::uint64_t left = 1 + random() % 3; left > 0; --left) {
    all.push_back(random_path(nodes, from, to, random));
    all.back().rate.value = 1.0 + static_cast<double>(random() % 5);
  }
  return all;
}

// A plan of a scatter or a gather with that root, or of an alltoall, of equal parts.
inline planner::Plan routes_plan(planner::Operation operation, std::uint32_t nodes,
                                 std::uint32_t root, Paths paths, std::uint64_t segment,
                                 std::mt19937_64& random) {
  planner::Plan plan = plan_of(nodes, root, {}, segment);
  plan.operation = operation;
  if (operation == planner::Operation::kAlltoall) plan.source.clear();
  plan.throughput.value = nodes;
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (from == to || (operation == planner::Operation::kScatter && from != root) ||
          (operation == planner::Operation::kGather && to != root)) {
        continue;
      }
      planner::PlanBlock& block = plan.blocks.emplace_back();
      block.kind = planner::BlockKind::kRoute;
      block.root = from;
      block.to = to;
      block.share = 1.0 / nodes;
      block.trees = paths_between(nodes, from, to, paths, random);
      double rates = 0;
      for (const planner::PlanTree& path : block.trees) rates += path.rate.value;
      for (planner::PlanTree& path : block.trees) path.rate.value /= rates;
    }
  }
  return plan;
}

// Byte `at` of message `message`; every bit depends on both.
inline std::byte byte_of(std::uint64_t at, std::uint64_t message) {
  std::uint64_t word = (at + 1) * 0x9E3779B97F4A7C15ULL + (message + 1) * 0xD1B54A32D192ED03ULL;
  word = (word ^ (word >> 31)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::byte>(word >> 56);
}

}  // namespace espalier::testing
