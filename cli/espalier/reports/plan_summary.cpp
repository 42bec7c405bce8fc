#include "cli/espalier/reports/plan_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/common/table.hpp"
#include "cli/espalier/plan_choice.hpp"

namespace espalier::cli {

namespace {

// "bound": where no attempt's is final, the title says so, else the cells.
bool none_is_final(const std::vector<PlanAttempt>& attempts) {
  return std::ranges::none_of(attempts, [](const PlanAttempt& attempt) {
    return !attempt.run.outcome.bound || attempt.run.outcome.ends.is_bound_final();
  });
}

std::string bound_cell(const planner::Outcome& outcome, bool title_says_open) {
  if (!outcome.bound) return "not computed";
  const bool says_open = !title_says_open && !outcome.ends.is_bound_final();
  return format_rate(*outcome.bound) + (says_open ? " (not final)" : "");
}

}  // namespace

std::string plan_summary_table(const std::vector<PlanAttempt>& attempts) {
  const bool several = attempts.size() > 1;
  const bool all_open = none_is_final(attempts);
  std::vector<Table::Column> columns{
      {"trees"},    {"throughput"}, {all_open ? "bound (not final)" : "bound"},
      {"relative"}, {"gap"},        {"depth"},
      {"degree"},   {"makespan"},   {"seconds"}};
  if (attempts.front().plan.schedule) {
    columns.insert(columns.end() - 1, {{"period"}, {"steps"}, {"scheduled"}});
  }
  const bool with_depths = several && attempts.back().max_depth > 0;
  const bool with_counts = several && attempts.back().max_trees > 0;
  if (with_depths) columns.insert(columns.begin(), Table::Column{"max-depth"});
  const bool with_latencies = several && attempts.back().max_latency;
  if (with_latencies) columns.insert(columns.begin(), Table::Column{"max-latency"});
  if (with_counts) columns.insert(columns.begin(), Table::Column{"max-trees"});
  Table table(columns);
  for (const PlanAttempt& attempt : attempts) {
    const auto& bound = attempt.run.outcome.bound;
    const double gap = gap_of(attempt.run.throughput, bound);
    const TreeFigures figures = figures_of(attempt.plan);
    std::vector<std::string> cells{std::to_string(planner::tree_count(attempt.plan)),
                                   format_rate(attempt.run.throughput),
                                   bound_cell(attempt.run.outcome, all_open),
                                   fixed(1 - gap, 4),
                                   bound ? fmt::format("{:.1e}", gap) : "-",
                                   std::to_string(figures.depth),
                                   std::to_string(figures.out_degree),
                                   attempt.makespan ? format_duration(*attempt.makespan) : "-",
                                   fixed(attempt.run.seconds, 3)};
    if (const auto& schedule = attempt.plan.schedule) {
      cells.insert(cells.end() - 1, {format_duration(schedule->period),
                                     std::to_string(planner::step_count(*schedule)),
                                     format_rate(schedule->throughput)});
    }
    if (with_depths) cells.insert(cells.begin(), std::to_string(attempt.max_depth));
    if (with_latencies) cells.insert(cells.begin(), format_duration(*attempt.max_latency));
    if (with_counts) cells.insert(cells.begin(), std::to_string(attempt.max_trees));
    table.add_row(std::move(cells));
  }
  const PlanAttempt& last = attempts.back();
  return table.text() +
         (last.choice ? choice_text(*last.choice, last.message, last.compute) : std::string());
}

Json plan_summary_json(const std::vector<PlanAttempt>& attempts) {
  const planner::Plan& plan = attempts.back().plan;
  Json rows = Json::array();
  for (const PlanAttempt& attempt : attempts) {
    const auto& bound = attempt.run.outcome.bound;
    const TreeFigures figures = figures_of(attempt.plan);
    Json row{{"max_trees", attempt.max_trees},
             {"trees", planner::tree_count(attempt.plan)},
             {"throughput_Bps", attempt.run.throughput.value},
             {"bound_Bps", bound ? Json(bound->value) : Json()},
             {"bound_final", bound && attempt.run.outcome.ends.is_bound_final()},
             {"ends", ends_json(attempt.run.outcome.ends)},
             {"gap", gap_of(attempt.run.throughput, bound)},
             {"depth", figures.depth},
             {"out_degree", figures.out_degree},
             {"makespan_s", attempt.makespan ? Json(attempt.makespan->value) : Json()},
             {"seconds", attempt.run.seconds}};
    if (const auto& alone = attempt.run.outcome.single_tree_bound) {
      row["single_tree_bound_Bps"] = alone->value;
    }
    if (const auto& schedule = attempt.plan.schedule) {
      row["period_s"] = schedule->period.value;
      row["steps"] = planner::step_count(*schedule);
      row["scheduled_Bps"] = schedule->throughput.value;
    }
    if (attempt.max_trees == 0) row["max_trees"] = nullptr;
    if (attempt.max_depth > 0) row["max_depth"] = attempt.max_depth;
    if (attempt.max_latency) row["max_latency_s"] = attempt.max_latency->value;
    rows.push_back(std::move(row));
  }
  Json json{{"operation", planner::name_of(plan.operation)},
            {"platform", plan.platform},
            {"source", plan.source},
            {"model", plan.model},
            {"algorithm", plan.algorithm},
            {"rows", std::move(rows)}};
  const PlanAttempt& last = attempts.back();
  if (last.choice) json["choice"] = choice_json(*last.choice, last.message, last.compute);
  return json;
}

}  // namespace espalier::cli
