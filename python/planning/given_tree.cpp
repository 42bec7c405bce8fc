#include "python/planning/given_tree.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "planner/problem/fastest_paths.hpp"
#include "support/errors.hpp"

namespace espalier::python {

namespace {

// Throws InputError, which names the place, unless the edges are a spanning tree from the root.
void require_tree(const planner::Collective& collective, const std::string& algorithm,
                  const std::vector<planner::PlanEdge>& edges) {
  planner::Plan plan = planner::make_plan(collective, algorithm, {}, planner::kDefaultSegment);
  plan.throughput = {1};
  const planner::PlanTree tree{.rate = {1}, .edges = edges, .via = {}};
  if (planner::broadcasts(plan.operation)) plan.broadcast_trees.push_back(tree);
  if (planner::reduces(plan.operation)) plan.reduce_trees.push_back(tree);
  planner::check_structure(plan, algorithm);
}

// Puts the tree's edges in an order in which every host has received before it sends, and where a
// host's children keep theirs. Precondition: a spanning tree from the root.
std::vector<planner::PlanEdge> from_root(const std::vector<planner::PlanEdge>& edges,
                                         std::uint32_t root, std::size_t hosts) {
  std::vector<std::vector<planner::PlanEdge>> out_of(hosts);
  for (const planner::PlanEdge edge : edges) out_of[edge.parent].push_back(edge);
  std::vector<planner::PlanEdge> ordered = out_of[root];
  for (std::size_t next = 0; next < ordered.size(); ++next) {
    const auto& more = out_of[ordered[next].child];
    ordered.insert(ordered.end(), more.begin(), more.end());
  }
  return ordered;
}

// half: the problem's instance of one direction.
lp::RoutedTree laid_over(const planner::Instance& half, std::string_view algorithm,
                         const std::vector<planner::PlanEdge>& edges) {
  const std::span<const platforms::NodeId> hosts = half.platform().hosts();
  planner::FastestPaths paths(half);
  lp::RoutedTree tree;
  for (const planner::PlanEdge edge : edges) {
    const std::vector<std::uint32_t> path = paths.path(hosts[edge.parent], hosts[edge.child]);
    if (path.empty()) {
      const auto name = [&](std::uint32_t host) { return half.platform().node(hosts[host]).name; };
      throw InputError(fmt::format("{}: there is no path between {} and {}", algorithm,
                                   in_quotes(name(edge.parent)), in_quotes(name(edge.child))));
    }
    tree.add_edge(path);
  }
  return tree;
}

}  // namespace

planner::Outcome outcome_along(const planner::Collective& collective, const std::string& algorithm,
                               const std::vector<planner::PlanEdge>& edges) {
  require_tree(collective, algorithm, edges);
  const platforms::Platform& platform = collective.platform();
  const std::vector<planner::PlanEdge> ordered =
      from_root(edges, planner::host_numbers(platform)[index_of(collective.source())],
                platform.hosts().size());
  planner::Outcome outcome;
  if (const planner::Instance* half = collective.broadcast()) {
    outcome.trees.push_back({laid_over(*half, algorithm, ordered), {1}});
  }
  if (const planner::Instance* half = collective.reduction()) {
    outcome.reduce_trees.push_back(
        {collective.gathering(laid_over(*half, algorithm, ordered)), {1}});
  }
  planner::fill_first_resource(outcome, collective.occupation());
  return outcome;
}

}  // namespace espalier::python
