#include "cli/espalier/reports/simulation_report.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "cli/common/table.hpp"

namespace espalier::cli {

std::string simulation_table(const std::vector<SimulationRow>& rows, const planner::Plan& plan,
                             const std::vector<std::string>& resources) {
  Table table({{"message"},
               {"makespan"},
               {"achieved"},
               {"of plan"},
               {"of optimum"},
               {"last node", Table::Align::kLeft},
               {"busiest", Table::Align::kLeft},
               {"utilisation"}});
  for (const SimulationRow& row : rows) {
    const bool empty = row.message.value == 0;
    table.add_row({format_size(row.message), format_duration(row.simulation.makespan),
                   empty ? "-" : format_rate(row.simulation.achieved),
                   fixed(row.share_of(plan.throughput), 4), fixed(row.share_of(plan.optimum), 4),
                   empty ? "-" : plan.nodes[row.last_node()],
                   empty ? "-" : resources[row.busiest()],
                   percent(row.utilisation(row.busiest()))});
  }
  return table.text();
}

std::string simulation_nodes_table(const std::vector<SimulationRow>& rows,
                                   const planner::Plan& plan) {
  std::vector<Table::Column> columns{{"node", Table::Align::kLeft}};
  const std::string_view done =
      planner::broadcasts(plan.operation) ? "has" : "has sent its part of";
  for (const SimulationRow& row : rows) {
    columns.push_back({fmt::format("{} {} at", done, format_size(row.message))});
  }
  Table table(columns);
  for (std::size_t node = 0; node < plan.nodes.size(); ++node) {
    std::vector<std::string> cells{plan.nodes[node]};
    for (const SimulationRow& row : rows)
      cells.push_back(format_duration(row.simulation.done[node]));
    table.add_row(cells);
  }
  return table.text();
}

namespace {

Json row_json(const SimulationRow& row, const planner::Plan& plan,
              const std::vector<std::string>& resources) {
  Json nodes = Json::array();
  for (std::size_t node = 0; node < plan.nodes.size(); ++node) {
    nodes.push_back({{"node", plan.nodes[node]}, {"done_s", row.simulation.done[node].value}});
  }
  Json busy = Json::array();
  for (std::size_t r = 0; r < resources.size(); ++r) {
    if (row.simulation.busy[r].value == 0) continue;
    busy.push_back({{"resource", resources[r]},
                    {"busy_s", row.simulation.busy[r].value},
                    {"utilisation", row.utilisation(r)}});
  }
  const double of_plan = row.share_of(plan.throughput);
  const double of_optimum = row.share_of(plan.optimum);
  return {{"message_bytes", row.message.value},
          {"segments", row.simulation.segments},
          {"slices", row.simulation.segments},
          {"sends", row.simulation.sends},
          {"makespan_s", row.simulation.makespan.value},
          {"achieved_Bps", row.simulation.achieved.value},
          {"of_plan", of_plan == of_plan ? Json(of_plan) : Json()},
          {"of_optimum", of_optimum == of_optimum ? Json(of_optimum) : Json()},
          {"nodes", std::move(nodes)},
          {"resources", std::move(busy)},
          {"seconds", row.seconds}};
}

}  // namespace

Json simulation_json(const std::vector<SimulationRow>& rows, const planner::Plan& plan,
                     const simulate::Simulator& simulator, const simulate::Options& how,
                     const std::vector<std::string>& resources) {
  Json list = Json::array();
  for (const SimulationRow& row : rows) list.push_back(row_json(row, plan, resources));
  const bool greedy = !simulator.follows_schedule();
  const bool reduces = planner::reduces(plan.operation);
  return {{"operation", planner::name_of(plan.operation)},
          {"platform", plan.platform},
          {"source", plan.source},
          {"model", plan.model},
          {"algorithm", plan.algorithm},
          {"throughput_Bps", plan.throughput.value},
          {"optimum_Bps", plan.optimum ? Json(plan.optimum->value) : Json()},
          {"segment_bytes", simulator.segment().value},
          {"slice_bytes", simulator.segment().value},
          {"scheduled", simulator.follows_schedule()},
          {"window", greedy ? Json(simulator.window()) : Json()},
          {"until_received", how.until_received},
          {"sharing", greedy ? Json(simulate::name_of(how.sharing)) : Json()},
          {"receives", reduces ? Json(how.receives) : Json()},
          {"compute_Bps", how.compute ? Json(how.compute->value) : Json()},
          {"rows", std::move(list)}};
}

}  // namespace espalier::cli
