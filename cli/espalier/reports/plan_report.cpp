#include "cli/espalier/reports/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/common/table.hpp"
#include "platforms/core/contention.hpp"

namespace espalier::cli {

namespace {

using planner::Plan;
using planner::PlanTree;
using planner::ResourceLoad;
using platforms::Platform;

// The shape of one tree, in edges between hosts.
struct Shape {
  std::size_t depth;
  std::size_t out_degree;         // maximum number of children of a node
  std::size_t source_out_degree;  // children of the source
  std::size_t leaves;             // nodes without children
};

Shape shape_of(const Plan& plan, const PlanTree& tree) {
  const std::uint32_t source = planner::source_index(plan);
  std::set<std::uint32_t> parents;
  for (const planner::PlanEdge& edge : tree.edges) parents.insert(edge.parent);
  const auto of_source = std::ranges::count(tree.edges, source, &planner::PlanEdge::parent);
  return {planner::depth_of(tree, source), planner::out_degree_of(tree),
          static_cast<std::size_t>(of_source), plan.nodes.size() - parents.size()};
}

// "3", "2 up, 3 down".
std::string tree_counts(const Plan& plan) {
  if (plan.operation != planner::Operation::kAllreduce) {
    return std::to_string(planner::tree_count(plan));
  }
  return fmt::format("{} up, {} down", plan.reduce_trees.size(), plan.broadcast_trees.size());
}

std::string facts(const Plan& plan, std::span<const ResourceLoad> loads) {
  Table table({{"platform", Table::Align::kLeft}, {plan.platform, Table::Align::kLeft}});
  if (planner::reduces(plan.operation)) {
    table.add_row({"operation", std::string(planner::name_of(plan.operation))});
  }
  table.add_row({"source", plan.source});
  table.add_row({"model", plan.model});
  table.add_row({"algorithm", plan.algorithm});
  table.add_row({"throughput", format_rate(plan.throughput)});
  table.add_row({"optimum", plan.optimum ? format_rate(*plan.optimum) : "not computed"});
  table.add_row({"segment", format_size(plan.segment)});
  table.add_row({"schedule", plan.schedule
                                 ? fmt::format("every {}", format_duration(plan.schedule->period))
                                 : "none"});
  table.add_row({"trees", tree_counts(plan)});
  table.add_row(
      {"full", fmt::format("{} of {} resources", planner::full_count(loads), loads.size())});
  return table.text();
}

double share_of(const PlanTree& tree, const Plan& plan) {
  return tree.rate.value / plan.throughput.value;
}

}  // namespace

std::string plan_tables(const Plan& plan, const Platform& platform,
                        std::span<const ResourceLoad> loads, std::size_t top) {
  std::string text = facts(plan, loads);
  Table trees({{"tree"}, {"rate"}, {"share"}, {"depth"}, {"degree"}, {"of source"}, {"leaves"}});
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    const std::string_view direction = plan.operation != planner::Operation::kAllreduce ? ""
                                       : kind.up                                        ? "up "
                                                                                        : "down ";
    for (std::size_t t = 0; t < kind.trees->size(); ++t) {
      const PlanTree& tree = (*kind.trees)[t];
      const Shape shape = shape_of(plan, tree);
      trees.add_row({fmt::format("{}{}", direction, t), format_rate(tree.rate),
                     percent(share_of(tree, plan)), std::to_string(shape.depth),
                     std::to_string(shape.out_degree), std::to_string(shape.source_out_degree),
                     std::to_string(shape.leaves)});
    }
  }
  text += '\n' + trees.text();
  if (loads.empty() || top == 0) return text;
  Table busiest({{"load"}, {"resource", Table::Align::kLeft}});
  for (const ResourceLoad& load : loads.first(std::min(top, loads.size()))) {
    busiest.add_row({percent(load.load), platforms::describe(load.resource, platform)});
  }
  return text + '\n' + busiest.text();
}

namespace {

Json trees_json(const Plan& plan, const std::vector<PlanTree>& trees) {
  Json list = Json::array();
  for (const PlanTree& tree : trees) {
    const Shape shape = shape_of(plan, tree);
    list.push_back({{"rate_Bps", tree.rate.value},
                    {"share", share_of(tree, plan)},
                    {"depth", shape.depth},
                    {"out_degree", shape.out_degree},
                    {"source_out_degree", shape.source_out_degree},
                    {"leaves", shape.leaves}});
  }
  return list;
}

}  // namespace

Json plan_json(const Plan& plan, const Platform& platform, std::span<const ResourceLoad> loads,
               std::size_t top) {
  Json resources = Json::array();
  for (const ResourceLoad& load : loads.first(std::min(top, loads.size()))) {
    resources.push_back(
        {{"resource", platforms::describe(load.resource, platform)}, {"load", load.load}});
  }
  return {{"operation", planner::name_of(plan.operation)},
          {"platform", plan.platform},
          {"source", plan.source},
          {"model", plan.model},
          {"algorithm", plan.algorithm},
          {"throughput_Bps", plan.throughput.value},
          {"optimum_Bps", plan.optimum ? Json(plan.optimum->value) : Json()},
          {"segment_bytes", plan.segment.value},
          {"slice_bytes", plan.segment.value},
          {"period_s", plan.schedule ? Json(plan.schedule->period.value) : Json()},
          {"reduce_trees", trees_json(plan, plan.reduce_trees)},
          {"trees", trees_json(plan, plan.broadcast_trees)},
          {"resources", loads.size()},
          {"full", planner::full_count(loads)},
          {"bottlenecks", std::move(resources)}};
}

}  // namespace espalier::cli
