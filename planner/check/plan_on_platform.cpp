#include "planner/check/plan_on_platform.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lp/graph/crowding.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/part_of.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

using platforms::NodeId;
using platforms::Platform;

Platform platform_of(const Plan& plan, Platform platform) {
  const bool may_be_part = plan.operation == Operation::kBroadcast && plan.nodes.size() >= 2 &&
                           plan.nodes.size() < platform.hosts().size();
  if (!may_be_part) return platform;
  std::vector<NodeId> hosts;
  std::vector<char> is_named(platform.nodes().size(), 0);
  for (const std::string& name : plan.nodes) {
    const auto node = platform.find_node(name);
    if (!node || platform.node(*node).relay || is_named[index_of(*node)] != 0) {
      return platform;  // which the plan does not fit
    }
    is_named[index_of(*node)] = 1;
    hosts.push_back(*node);
  }
  const platforms::Model model = platforms::parse_model(plan.model);
  const platforms::OccupationOptions options{plan.segment, plan.latency_occupies};
  return part_of(platform, model, platforms::occupation(platform, model, options), hosts);
}

std::vector<InputError> misfits(const Plan& plan, const Platform& platform) {
  std::vector<InputError> faults;
  const auto add = [&](const std::string& place, const std::string& reason) {
    faults.push_back(InputError({}, place, reason));
  };
  if (plan.platform != platform.name()) {
    add("/platform",
        fmt::format("the plan is for platform '{}', not for '{}'", plan.platform, platform.name()));
  }
  const auto hosts = platform.hosts();
  if (plan.nodes.size() != hosts.size()) {
    add("/nodes", fmt::format("the plan has {}, the platform {}",
                              counted(plan.nodes.size(), "node"), counted(hosts.size(), "host")));
    return faults;
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string& name = platform.node(hosts[i]).name;
    if (plan.nodes[i] == name) continue;
    add(fmt::format("/nodes/{}", i),
        fmt::format("the plan has '{}', the platform has '{}'", plan.nodes[i], name));
    break;
  }
  return faults;
}

std::vector<std::uint32_t> arcs_along(const Platform& platform, const PlanTree& tree,
                                      const PlanEdge& edge, bool up) {
  const auto hosts = platform.hosts();
  std::vector<NodeId> way{hosts[up ? edge.child : edge.parent]};
  const auto via = tree.via.find({edge.parent, edge.child});
  if (via != tree.via.end()) {
    for (const std::string& name : via->second) {
      const auto node = platform.find_node(name);
      if (!node) {
        throw InputError(fmt::format("via '{}', which the platform does not have", name));
      }
      way.push_back(*node);
    }
  }
  way.push_back(hosts[up ? edge.parent : edge.child]);
  std::vector<std::uint32_t> arcs;
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    const auto arc = platform.find_arc(way[i], way[i + 1]);
    if (!arc) {
      throw InputError(fmt::format("the platform has no link '{}' -> '{}'",
                                   platform.node(way[i]).name, platform.node(way[i + 1]).name));
    }
    arcs.push_back(static_cast<std::uint32_t>(*arc));
  }
  return arcs;
}

lp::RoutedTree links_of(const Platform& platform, const PlanTree& tree, bool up) {
  lp::RoutedTree links;
  for (const PlanEdge& edge : tree.edges) links.add_edge(arcs_along(platform, tree, edge, up));
  return links;
}

std::vector<ResourceLoad> loads_of(const Plan& plan, const Platform& platform,
                                   const platforms::Occupation& occupation) {
  std::vector<ResourceLoad> loads;
  for (const platforms::Resource& resource : occupation.resources) loads.push_back({resource, 0});
  for (const PlanTrees& kind : trees_by_kind(plan)) {
    for (const PlanTree& tree : *kind.trees) {
      const std::vector<double> seconds =
          lp::tree_load(occupation.seconds_per_byte, links_of(platform, tree, kind.up));
      for (std::size_t r = 0; r < loads.size(); ++r) loads[r].load += tree.rate.value * seconds[r];
    }
  }
  return loads;
}

std::vector<ResourceLoad> loads_of(const Plan& plan, const Instance& instance) {
  return loads_of(plan, instance.platform(), instance.occupation());
}

std::vector<ResourceLoad> loads_of(const Plan& plan, const platforms::Platform& platform) {
  return loads_of(plan, platform,
                  platforms::occupation(platform, platforms::parse_model(plan.model),
                                        {plan.segment, plan.latency_occupies}));
}

std::optional<PlanCost> cost_on(const Plan& plan, const Platform& platform) {
  if (!platform.has_prices() && platform.price_per_hour() == 0) return std::nullopt;
  double per_s = 0;  // times GB
  for (const PlanTrees& kind : trees_by_kind(plan)) {
    for (const PlanTree& tree : *kind.trees) {
      for (const std::uint32_t arc : links_of(platform, tree, kind.up).arcs) {
        per_s += tree.rate.value * platform.arcs()[arc].price_per_GB;
      }
    }
  }
  return PlanCost{per_s / plan.throughput.value, platform.price_per_hour(), std::nullopt,
                  platform.currency()};
}

double crowding_of(const Plan& plan, const Platform& platform) {
  const std::vector<double> latency_s = digraph_of(platform).latency_s;
  if (latency_s.empty()) return 0;
  std::vector<lp::PackedTree> trees;
  for (const PlanTrees& kind : trees_by_kind(plan)) {
    for (const PlanTree& tree : *kind.trees) {
      trees.push_back({links_of(platform, tree, kind.up), tree.rate.value});
    }
  }
  return lp::crowding_of(latency_s,
                         platforms::occupation(platform, platforms::parse_model(plan.model),
                                               {plan.segment, plan.latency_occupies})
                             .seconds_per_byte,
                         trees);
}

std::size_t full_count(std::span<const ResourceLoad> loads) {
  return static_cast<std::size_t>(
      std::ranges::count_if(loads, [](const ResourceLoad& load) { return load.load >= 1 - 1e-6; }));
}

}  // namespace espalier::planner
