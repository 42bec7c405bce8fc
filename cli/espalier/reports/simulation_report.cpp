#include "cli/espalier/reports/simulation_report.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "cli/common/table.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/run.hpp"

namespace espalier::cli {

std::string simulation_nodes_table(const std::vector<SimulationRow>& rows,
                                   const planner::Plan& plan) {
  const bool sends = plan.operation == planner::Operation::kReduce ||
                     plan.operation == planner::Operation::kGather;
  const bool has_own = planner::has_parts(plan.operation);
  const std::string_view done = sends     ? "has sent its part of"
                                : has_own ? "has its part of"
                                          : "has";
  std::vector<DoneAt> messages;
  for (const SimulationRow& row : rows) messages.push_back({row.message, row.simulation.done});
  return done_table(plan.nodes, messages, done);
}

std::string done_table(std::span<const std::string> nodes, std::span<const DoneAt> messages,
                       std::string_view has) {
  std::vector<Table::Column> columns{{"node", Table::Align::kLeft}};
  for (const DoneAt& one : messages) {
    columns.push_back({fmt::format("{} {} at", has, format_size(one.message))});
  }
  Table table(columns);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    std::vector<std::string> cells{nodes[node]};
    for (const DoneAt& one : messages) cells.push_back(format_duration(one.done[node]));
    table.add_row(cells);
  }
  return table.text();
}

Json done_json(std::span<const std::string> nodes, std::span<const Seconds> done) {
  Rows rows({left("", "node"), written("done_s")});
  for (std::size_t node = 0; node < nodes.size(); ++node) rows.add({nodes[node], done[node]});
  return rows.json();
}

namespace {

// Resources that are busy at some time.
Json busy_json(const SimulationRow& row, const std::vector<std::string>& resources) {
  Rows busy({left("", "resource"), written("busy_s"), written("utilisation")});
  for (std::size_t r = 0; r < resources.size(); ++r) {
    if (row.simulation.busy[r].value == 0) continue;
    busy.add({resources[r], row.simulation.busy[r], share(row.utilisation(r))});
  }
  return busy.json();
}

Cell money_cell(const planner::PlanCost& cost, const SimulationRow& row) {
  const double amount = cost_of(cost, row.message, row.simulation.makespan);
  return {money_text(amount, cost.currency), amount};
}

}  // namespace

Report simulations_report(std::vector<SimulatedPlan>& plans) {
  Rows table({{"message", ""},
              left("plan", ""),
              left("algorithm", ""),
              {"makespan", ""},
              {"relative", ""},
              {"achieved", ""},
              {"of optimum", ""}});
  for (std::size_t i = 0; i < plans.front().rows.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const SimulatedPlan& plan : plans) {
      if (i < plan.rows.size()) least = std::min(least, plan.rows[i].simulation.makespan.value);
    }
    for (const SimulatedPlan& plan : plans) {
      if (i >= plan.rows.size()) continue;  // the time limit came first
      const SimulationRow& row = plan.rows[i];
      const Cell achieved = row.simulation.achieved;
      table.add({row.message, plan.file, printable(plan.algorithm), row.simulation.makespan,
                 row.is_empty() ? Cell("-") : decimal(row.simulation.makespan.value / least),
                 row.is_empty() ? achieved.as("-") : achieved,
                 decimal(row.share_of(plan.optimum))});
    }
  }
  Report report;
  report.add("", table);
  Json all = Json::array();
  for (SimulatedPlan& plan : plans) {
    Json one = Json::object();
    one["plan"] = plan.file;
    one.update(plan.report.json());
    all.push_back(std::move(one));
  }
  report.write("plans", std::move(all));
  return report;
}

Report simulation_report(const std::vector<SimulationRow>& rows, const planner::Plan& plan,
                         const simulate::Simulator& simulator, const simulate::Options& how,
                         const std::vector<std::string>& resources) {
  const bool greedy = !simulator.follows_schedule();
  const auto where = [](bool applies, auto value) { return applies ? Json(value) : Json(); };
  Report report = report_on(plan);
  report.write("throughput_Bps", plan.throughput.value);
  report.write("optimum_Bps", *Cell(plan.optimum).json);
  report.write("segment_bytes", simulator.segment().value);
  report.write("slice_bytes", simulator.segment().value);
  report.write("scheduled", !greedy);
  report.write("window", where(greedy, simulator.window()));
  report.write("until_received", how.until_received);
  report.write("sharing", where(greedy, simulate::name_of(how.sharing)));
  report.write(
      "receives",
      where(planner::combines(plan.operation) || planner::routes(plan.operation), how.receives));
  report.write("compute_Bps", *Cell(how.compute).json);
  Rows table({{"message", "message_bytes"},
              written("segments"),
              written("slices"),
              written("sends"),
              {"makespan", "makespan_s"},
              {"achieved", "achieved_Bps"},
              {"of plan", "of_plan"},
              {"of optimum", "of_optimum"},
              left("last node", "nodes"),
              left("busiest", "resources"),
              {"utilisation", ""},
              {.title = "costs", .key = "cost", .in_text = plan.cost.has_value()},
              written("seconds")});
  for (const SimulationRow& row : rows) {
    const bool empty = row.is_empty();
    const Cell achieved = row.simulation.achieved;
    table.add({row.message, row.simulation.segments, row.simulation.segments, row.simulation.sends,
               row.simulation.makespan, empty ? achieved.as("-") : achieved,
               decimal(row.share_of(plan.throughput)), decimal(row.share_of(plan.optimum)),
               Cell(empty ? "-" : plan.nodes[row.last_node()],
                    done_json(plan.nodes, row.simulation.done)),
               Cell(empty ? "-" : resources[row.busiest()], busy_json(row, resources)),
               share(row.utilisation(row.busiest())),
               plan.cost ? money_cell(*plan.cost, row) : shown_only(""),
               written_only(row.seconds)});
  }
  report.add("rows", table);
  return report;
}

}  // namespace espalier::cli
