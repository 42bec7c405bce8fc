#include "planner/make_plan.hpp"

#include <algorithm>

#include "lp/arborescence_packing.hpp"

namespace espalier::planner {

namespace {

PlanTree plan_tree(const Instance& instance, const WeightedTree& weighted,
                   const std::vector<std::uint32_t>& host_of_node) {
  const lp::Digraph& graph = instance.digraph();
  PlanTree result;
  result.rate = weighted.rate;
  result.colors = weighted.colors;
  for (std::size_t i = 0; i < weighted.tree.edge_count(); ++i) {
    const std::span<const std::uint32_t> path = weighted.tree.path(i);
    const PlanEdge edge{host_of_node[graph.tail[path.front()]],
                        host_of_node[graph.head[path.back()]]};
    result.edges.push_back(edge);
    if (path.size() == 1) continue;
    std::vector<std::string>& via = result.via[{edge.parent, edge.child}];
    for (std::size_t hop = 0; hop + 1 < path.size(); ++hop) {
      via.push_back(instance.platform().nodes()[graph.head[path[hop]]].name);
    }
  }
  for (const std::uint32_t edge : weighted.exchange) {
    result.exchange.push_back(result.edges[edge]);
  }
  return result;
}

}  // namespace

Plan make_plan(const Instance& instance, std::string_view algorithm, const Outcome& outcome,
               Bytes slice) {
  const platforms::Platform& platform = instance.platform();
  Plan plan;
  plan.platform = platform.name();
  plan.source = platform.node(instance.source()).name;
  plan.model = platforms::name_of(instance.model());
  plan.algorithm = algorithm;
  plan.slice = instance.options().slice.value > 0 ? instance.options().slice : slice;
  plan.latency_occupies = instance.options().latency_occupies;
  std::vector<std::uint32_t> host_of_node(platform.nodes().size(), UINT32_MAX);
  for (const platforms::NodeId host : platform.hosts()) {
    host_of_node[index_of(host)] = static_cast<std::uint32_t>(plan.nodes.size());
    plan.nodes.push_back(platform.node(host).name);
  }
  for (const WeightedTree& tree : outcome.trees) {
    plan.broadcast_trees.push_back(plan_tree(instance, tree, host_of_node));
    plan.throughput.value += tree.rate.value;
  }
  if (outcome.bound) plan.optimum = std::max(*outcome.bound, plan.throughput);
  return plan;
}

}  // namespace espalier::planner
