#include "planner/solve/make_plan.hpp"

#include <algorithm>
#include <utility>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/multicast.hpp"
#include "planner/problem/routing.hpp"
#include "planner/solve/budget.hpp"

namespace espalier::planner {

namespace {

// The problem that an outcome solves, for any operation.
struct SolvedProblem {
  const platforms::Platform& platform;
  platforms::NodeId source;
  platforms::Model model;
  const platforms::OccupationOptions& options;
};

PlanTree plan_tree(const platforms::Platform& platform, const WeightedTree& weighted, bool up,
                   const std::vector<std::uint32_t>& host_of_node) {
  const auto arcs = platform.arcs();
  PlanTree result;
  result.rate = weighted.rate;
  bool any_latency = false;
  result.colors = weighted.colors;
  for (std::size_t i = 0; i < weighted.tree.edge_count(); ++i) {
    const std::span<const std::uint32_t> path = weighted.tree.path(i);
    PlanEdge edge{host_of_node[index_of(arcs[path.front()].from)],
                  host_of_node[index_of(arcs[path.back()].to)]};
    if (up) std::swap(edge.parent, edge.child);
    result.edges.push_back(edge);
    result.latencies.push_back(latency_along(platform, path));
    any_latency = any_latency || result.latencies.back().value > 0;
    if (path.size() == 1) continue;
    std::vector<std::string>& via = result.via[{edge.parent, edge.child}];
    for (std::size_t hop = 0; hop + 1 < path.size(); ++hop) {
      via.push_back(platform.node(arcs[path[hop]].to).name);
    }
  }
  if (!any_latency) result.latencies.clear();
  for (const std::uint32_t edge : weighted.exchange) {
    result.exchange.push_back(result.edges[edge]);
  }
  return result;
}

Plan plan_of(const SolvedProblem& problem, std::string_view algorithm, const Outcome& outcome,
             Bytes segment) {
  const platforms::Platform& platform = problem.platform;
  Plan plan;
  plan.platform = platform.name();
  plan.source = platform.node(problem.source).name;
  plan.model = platforms::name_of(problem.model);
  plan.algorithm = algorithm;
  plan.segment = problem.options.segment.value > 0 ? problem.options.segment : segment;
  plan.latency_occupies = problem.options.latency_occupies;
  const std::vector<std::uint32_t> host_of_node = host_numbers(platform);
  plan.nodes = platforms::names_of_hosts(platform);
  for (const WeightedTree& tree : outcome.reduce_trees) {
    plan.reduce_trees.push_back(plan_tree(platform, tree, true, host_of_node));
  }
  for (const WeightedTree& tree : outcome.trees) {
    plan.broadcast_trees.push_back(plan_tree(platform, tree, false, host_of_node));
  }
  plan.throughput = throughput_of(outcome);
  if (outcome.bound) plan.optimum = std::max(*outcome.bound, plan.throughput);
  plan.cost = cost_of(outcome, platform);
  return plan;
}

// Drops nodes that are in no tree. is_kept: per node, whether it stays in any case. The new number
// of each node.
std::vector<std::uint32_t> keep_participants(Plan& plan, std::vector<char> is_kept) {
  is_kept[source_index(plan)] = 1;
  for (const PlanTree& tree : plan.broadcast_trees) {
    for (const PlanEdge edge : tree.edges) is_kept[edge.child] = 1;
  }
  std::vector<std::uint32_t> number(plan.nodes.size(), UINT32_MAX);
  std::vector<std::string> nodes;
  for (std::size_t node = 0; node < number.size(); ++node) {
    if (is_kept[node] == 0) continue;
    number[node] = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(plan.nodes[node]);
  }
  plan.nodes = std::move(nodes);
  const auto renumber = [&](std::vector<PlanEdge>& edges) {
    for (PlanEdge& edge : edges) edge = {number[edge.parent], number[edge.child]};
  };
  for (PlanTree& tree : plan.broadcast_trees) {
    renumber(tree.edges);
    renumber(tree.exchange);
    decltype(tree.via) via;
    for (auto& [edge, names] : tree.via) {
      via[{number[edge.first], number[edge.second]}] = std::move(names);
    }
    tree.via = std::move(via);
  }
  return number;
}

}  // namespace

Plan make_plan(const AllRoots& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment) {
  const platforms::Platform& platform = problem.platform();
  const auto hosts = platform.hosts();
  Plan plan = plan_of({platform, hosts.front(), problem.model(), problem.options()}, algorithm,
                      outcome, segment);
  plan.operation = problem.operation();
  plan.source.clear();
  const std::vector<std::uint32_t> host_of_node = host_numbers(platform);
  for (const BlockOfTrees& of : outcome.blocks) {
    const auto number = static_cast<std::uint32_t>(plan.blocks.size());
    PlanBlock block{of.kind, of.root, problem.shares()[of.root]};
    if (problem.has_free_roots()) {
      block.share = sum_of_rates(of.trees).value / plan.throughput.value;
      if (of.kind == BlockKind::kSpread) block.after = number - 1;
    }
    for (const WeightedTree& tree : of.trees) {
      block.trees.push_back(
          plan_tree(platform, tree, of.kind == BlockKind::kCombine, host_of_node));
    }
    plan.blocks.push_back(std::move(block));
  }
  if (problem.has_free_roots() && plan.blocks.size() == 2) take_blocks_of_one_root(plan);
  return plan;
}

Plan make_plan(const Routing& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment) {
  const platforms::Platform& platform = problem.platform();
  Plan plan = plan_of({platform, problem.root().value_or(platform.hosts().front()), problem.model(),
                       problem.options()},
                      algorithm, outcome, segment);
  plan.operation = problem.operation();
  if (!problem.root()) plan.source.clear();
  for (const BlockOfTrees& of : outcome.blocks) {
    PlanBlock block{of.kind, of.root, problem.share(of.root, of.to), std::nullopt, {}, of.to};
    for (const WeightedTree& path : of.trees) {
      block.trees.push_back(plan_tree(platform, path, false, problem.host_numbers()));
    }
    plan.blocks.push_back(std::move(block));
  }
  return plan;
}

Plan make_plan(const Multicast& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment) {
  const platforms::Platform& platform = problem.platform();
  Plan plan = plan_of({platform, problem.source(), problem.model(), problem.options()}, algorithm,
                      outcome, segment);
  std::vector<char> is_receiver(plan.nodes.size(), 0);
  const std::vector<std::uint32_t> host_of_node = host_numbers(platform);
  for (const platforms::NodeId node : problem.receivers()) {
    is_receiver[host_of_node[index_of(node)]] = 1;
  }
  const std::vector<std::uint32_t> number = keep_participants(plan, is_receiver);
  PlanBlock block{BlockKind::kSpread, number[host_of_node[index_of(problem.source())]]};
  for (std::uint32_t node = 0; node < is_receiver.size(); ++node) {
    if (is_receiver[node] != 0) block.members.push_back(number[node]);
  }
  if (block.members.size() + 1 == plan.nodes.size()) return plan;
  block.trees = std::exchange(plan.broadcast_trees, {});
  plan.blocks.push_back(std::move(block));
  return plan;
}

Plan make_plan(const Instance& instance, std::string_view algorithm, const Outcome& outcome,
               Bytes segment) {
  return plan_of({instance.platform(), instance.source(), instance.model(), instance.options()},
                 algorithm, outcome, segment);
}

Plan make_plan(const Collective& collective, std::string_view algorithm, const Outcome& outcome,
               Bytes segment) {
  Plan plan = plan_of(
      {collective.platform(), collective.source(), collective.model(), collective.options()},
      algorithm, outcome, segment);
  plan.operation = collective.operation();
  return plan;
}

}  // namespace espalier::planner
