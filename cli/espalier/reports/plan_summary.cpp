#include "cli/espalier/reports/plan_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/report.hpp"
#include "cli/espalier/money.hpp"
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

// JSON has it only where prices are known.
Cell cost_cell(const planner::Plan& plan) {
  if (!plan.cost) return shown_only("");
  return {money_text(plan.cost->per_GB, plan.cost->currency), plan.cost->per_GB};
}

// The last plan's cost in words, and what is known of it beside the cost of each row.
void say_cost(Report& report, const PlanAttempt& last) {
  const planner::PlanCost& cost = *last.plan.cost;
  std::string text = "costs " + cost_text(cost);
  if (last.least_per_GB) {
    const double message = static_cast<double>(last.message.value);
    const Seconds duration{message / last.plan.throughput.value};
    const double whole = cost_of(cost, last.message, duration);
    text += fmt::format("; proven: no plan as fast costs less than {}\n{} in {} costs {}",
                        money_text(*last.least_per_GB, cost.currency), format_size(last.message),
                        format_duration(duration), money_text(whole, cost.currency));
    report.write("least_cost_per_GB", *last.least_per_GB);
    report.write("message_bytes", last.message.value);
    report.write("message_s", duration.value);
    report.write("message_cost", whole);
  }
  report.say(text + '\n', /*joined=*/true);
  if (cost.per_hour > 0) report.write("cost_per_hour", cost.per_hour);
  if (cost.budget_per_GB) report.write("budget_per_GB", *cost.budget_per_GB);
  if (!cost.currency.empty()) report.write("currency", cost.currency);
}

}  // namespace

Report plan_summary(const std::vector<PlanAttempt>& attempts) {
  const PlanAttempt& last = attempts.back();
  const bool several = attempts.size() > 1;
  const bool all_open = none_is_final(attempts);
  const bool scheduled = attempts.front().plan.schedule.has_value();
  Rows rows({{.title = "max-trees", .key = "max_trees", .in_text = several && last.max_trees > 0},
             {.title = "max-latency", .in_text = several && last.max_latency},
             {.title = "max-depth", .in_text = several && last.max_depth > 0},
             {"trees", "trees"},
             {"throughput", "throughput_Bps"},
             {all_open ? "bound (not final)" : "bound", "bound_Bps"},
             written("bound_final"),
             written("ends"),
             {"relative", ""},
             {"gap", "gap"},
             {"depth", "depth"},
             {"degree", "out_degree"},
             {"makespan", "makespan_s"},
             {.title = "period", .in_text = scheduled},
             {.title = "steps", .in_text = scheduled},
             {.title = "scheduled", .in_text = scheduled},
             {.title = "cost per GB", .key = "cost_per_GB", .in_text = last.plan.cost.has_value()},
             {"seconds", "seconds"},
             written("single_tree_bound_Bps"),
             written("period_s"),
             written("steps"),
             written("scheduled_Bps"),
             written("max_depth"),
             written("max_latency_s")});
  // A figure that JSON has only where it was given.
  const auto given = [](auto value) { return value ? *Cell(*value).json : Json(); };
  const auto optional_cell = [](const auto& value) {
    return value ? Cell(*value) : shown_only("-");
  };
  for (const PlanAttempt& attempt : attempts) {
    const planner::Outcome& outcome = attempt.run.outcome;
    const double gap = gap_of(attempt.run.throughput, outcome.bound);
    const planner::TreeFigures figures = planner::figures_of(attempt.plan);
    std::optional<Seconds> period;
    std::optional<std::size_t> steps;
    std::optional<BytesPerSecond> rate;
    if (const auto& schedule = attempt.plan.schedule) {
      period = schedule->period;
      steps = planner::step_count(*schedule);
      rate = schedule->throughput;
    }
    const Cell max_depth = attempt.max_depth;
    const Cell max_latency = optional_cell(attempt.max_latency);
    rows.add({Cell(std::to_string(attempt.max_trees),
                   attempt.max_trees == 0 ? Json() : Json(attempt.max_trees)),
              max_latency,
              max_depth,
              planner::tree_count(attempt.plan),
              attempt.run.throughput,
              Cell(bound_cell(outcome, all_open), given(outcome.bound)),
              written_only(outcome.bound && outcome.ends.is_bound_final()),
              written_only(ends_json(outcome.ends)),
              decimal(1 - gap),
              tiny(gap),
              figures.depth,
              figures.out_degree,
              Cell(attempt.makespan),
              optional_cell(period),
              optional_cell(steps),
              optional_cell(rate),
              cost_cell(attempt.plan),
              took(attempt.run.seconds),
              optional_cell(outcome.single_tree_bound),
              optional_cell(period),
              optional_cell(steps),
              optional_cell(rate),
              attempt.max_depth > 0 ? max_depth : shown_only(""),
              max_latency});
  }
  Report report = report_on(last.plan);
  report.add("rows", rows, /*joined=*/last.choice || last.plan.cost);
  if (last.plan.cost) say_cost(report, last);
  if (last.choice) {
    report.say(choice_text(*last.choice, last.message, last.compute));
    report.write("choice", choice_json(*last.choice, last.message, last.compute));
  }
  return report;
}

}  // namespace espalier::cli
