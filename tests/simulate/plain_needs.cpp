#include "tests/simulate/plain_needs.hpp"

#include <cmath>
#include <string>

#include "platforms/core/contention.hpp"
#include "tests/planner/references/plain_model.hpp"

namespace espalier::testing {
namespace {

std::vector<std::uint32_t> path_of(const planner::Plan& plan, const platforms::Platform& platform,
                                   const PlainTree& of, const planner::PlanEdge& edge) {
  const auto& [tree, up, number] = of;
  std::vector<std::string> names{plan.nodes[up ? edge.child : edge.parent]};
  const auto via = tree->via.find({edge.parent, edge.child});
  if (via != tree->via.end()) names.insert(names.end(), via->second.begin(), via->second.end());
  names.push_back(plan.nodes[up ? edge.parent : edge.child]);
  std::vector<std::uint32_t> arcs;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const auto arc = platform.find_arc(platform.find_node(names[i]).value(),
                                       platform.find_node(names[i + 1]).value());
    arcs.push_back(static_cast<std::uint32_t>(arc.value()));
  }
  return arcs;
}

// Under one-port models an arc occupies its resources at once; otherwise a segment passes from
// one resource to the next.
std::vector<Stretch> stretches(const PlainModel& model, bool at_once,
                               const std::vector<std::uint32_t>& arcs, double bytes,
                               double tick_s) {
  std::vector<Stretch> result;
  for (const std::uint32_t arc : arcs) {
    const PlainModel::Load load = model.load_of({&arc, 1});
    Stretch all;
    for (const std::string kind : {"out-port", "port", "link", "shared", "in-port"}) {
      for (std::size_t r = 0; r < load.size(); ++r) {
        if (load[r] == 0 || !model.resources()[r].starts_with(kind + " ")) continue;
        all.push_back({r, std::llround(load[r] * bytes / tick_s)});
      }
    }
    if (at_once) {
      result.push_back(all);
    } else {
      for (const Need& need : all) result.push_back({need});
    }
  }
  return result;
}

}  // namespace

PlainNeeds plain_needs(const planner::Plan& plan, const platforms::Platform& platform,
                       const std::vector<PlainTree>& trees, std::uint64_t bytes, double tick_s) {
  const PlainModel model(platform, platforms::parse_model(plan.model),
                         {{bytes}, plan.latency_occupies});
  const bool at_once = plan.model.starts_with("one-port") || plan.model == "multi-port-processor";
  PlainNeeds needs;
  needs.resources = model.resources().size();
  for (const PlainTree& tree : trees) {
    auto& paths = needs.paths.emplace_back();
    auto& latencies = needs.latency.emplace_back();
    auto& in_seconds = needs.latency_s.emplace_back();
    for (const planner::PlanEdge& edge : tree.tree->edges) {
      const std::vector<std::uint32_t> arcs = path_of(plan, platform, tree, edge);
      double latency = 0;
      for (const std::uint32_t arc : arcs) latency += platform.arcs()[arc].latency.value;
      if (plan.latency_occupies) latency = 0;
      in_seconds.push_back(latency);
      latencies.push_back(std::llround(latency / tick_s));
      paths.push_back(stretches(model, at_once, arcs, static_cast<double>(bytes), tick_s));
    }
  }
  return needs;
}

}  // namespace espalier::testing
