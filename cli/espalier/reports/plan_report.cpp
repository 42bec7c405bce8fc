#include "cli/espalier/reports/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cli/common/report.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/run.hpp"
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

Shape shape_of(const PlanTree& tree, std::uint32_t source) {
  std::set<std::uint32_t> parents;
  for (const planner::PlanEdge& edge : tree.edges) parents.insert(edge.parent);
  const auto of_source = std::ranges::count(tree.edges, source, &planner::PlanEdge::parent);
  return {planner::depth_of(tree, source), planner::out_degree_of(tree),
          static_cast<std::size_t>(of_source), tree.edges.size() + 1 - parents.size()};
}

// "3", "2 up, 3 down".
std::string tree_counts(const Plan& plan) {
  if (!planner::goes_both_ways(plan.operation)) {
    return std::to_string(planner::tree_count(plan));
  }
  return fmt::format("{} up, {} down", planner::tree_count(plan, true),
                     planner::tree_count(plan, false));
}

void add_facts(Report& report, const Plan& plan) {
  report.add("platform", "", plan.platform);
  if (plan.operation != planner::Operation::kBroadcast) {
    report.add("operation", "", planner::name_of(plan.operation));
  }
  if (!plan.source.empty()) {
    report.add("source", "", plan.source);
  } else {
    std::set<std::uint32_t> roots;
    for (const planner::PlanBlock& block : plan.blocks) roots.insert(block.root);
    report.add("roots", "", roots.size());
  }
  if (plan.has_helpers()) {
    const std::size_t receivers = plan.blocks.front().members.size();
    report.add("receivers", "receivers", receivers);
    report.add("helpers", "helpers", plan.nodes.size() - 1 - receivers);
  }
  report.add("model", "", plan.model);
  report.add("algorithm", "", plan.algorithm);
  report.add("throughput", "throughput_Bps", plan.throughput);
  const Cell optimum = plan.optimum;
  report.add("optimum", "optimum_Bps", plan.optimum ? optimum : optimum.as("not computed"));
  report.add("segment", "segment_bytes", plan.segment);
  report.write("slice_bytes", plan.segment.value);
  report.add("schedule", "period_s",
             plan.schedule ? Cell(fmt::format("every {}", format_duration(plan.schedule->period)),
                                  plan.schedule->period.value)
                           : Cell("none", Json()));
  report.add("trees", "", tree_counts(plan));
  report_cost(report, plan.cost);
}

// One row per tree; `direction` is shown before its number.
void add_trees(Rows& rows, const Plan& plan, const planner::PlanTrees& kind,
               std::string_view direction) {
  for (std::size_t t = 0; t < kind.trees->size(); ++t) {
    const PlanTree& tree = (*kind.trees)[t];
    const Shape shape = shape_of(tree, kind.root);
    rows.add({shown_only(fmt::format("{}{}", direction, t)), tree.rate,
              share(tree.rate.value / plan.throughput.value), shape.depth, shape.out_degree,
              shape.source_out_degree, shape.leaves});
  }
}

// What is shown before the number of a tree: its root among several, the ends of a path, its
// direction in an allreduce.
std::string label_of(const Plan& plan, const planner::PlanTrees& kind) {
  if (kind.to) return fmt::format("{}-{} ", plan.nodes[kind.root], plan.nodes[*kind.to]);
  std::string label = plan.source.empty() ? plan.nodes[kind.root] + " " : "";
  if (planner::goes_both_ways(plan.operation)) label += kind.up ? "up " : "down ";
  return label;
}

}  // namespace

Report plan_report(const Plan& plan, const Platform& platform, std::span<const ResourceLoad> loads,
                   std::size_t top) {
  Report report = report_on(plan);
  add_facts(report, plan);
  const std::vector<Column> columns{
      {"tree", ""},        {"rate", "rate_Bps"},     {"share", "share"},
      {"depth", "depth"},  {"degree", "out_degree"}, {"of source", "source_out_degree"},
      {"leaves", "leaves"}};
  Rows all(columns);
  Json blocks = Json::array();
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    add_trees(all, plan, kind, label_of(plan, kind));
    Rows own(columns);
    add_trees(own, plan, kind, "");
    if (plan.has_one_root()) {
      report.write(kind.up ? "reduce_trees" : "trees", own.json());
    } else {
      blocks.push_back({{"kind", planner::name_of(kind.kind())},
                        {"root", plan.nodes[kind.root]},
                        {"share", kind.share},
                        {"trees", own.json()}});
      if (kind.to) blocks.back()["to"] = plan.nodes[*kind.to];
      for (const std::uint32_t member : kind.members) {
        blocks.back()["members"].push_back(plan.nodes[member]);
      }
    }
  }
  if (!plan.has_one_root()) report.write("blocks", std::move(blocks));
  report.write("resources", loads.size());
  const std::size_t full = planner::full_count(loads);
  report.add("full", "full", Cell(fmt::format("{} of {} resources", full, loads.size()), full));
  report.add("", all);
  Rows busiest({left("resource", "resource"), {"load", "load"}});
  busiest.order_text({"load", "resource"});
  for (const ResourceLoad& load : loads.first(std::min(top, loads.size()))) {
    busiest.add({platforms::describe(load.resource, platform), share(load.load)});
  }
  report.write("bottlenecks", busiest.json());
  if (!busiest.empty()) report.add("", busiest);
  return report;
}

}  // namespace espalier::cli
