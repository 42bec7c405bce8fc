// What `espalier simulate` prints.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/report.hpp"
#include "planner/plan/plan.hpp"
#include "simulate/simulate.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The result for one message.
struct SimulationRow {
  Bytes message;
  simulate::Simulation simulation;
  double seconds = 0;

  // Nothing is sent: parts of very short messages have no bytes.
  [[nodiscard]] bool is_empty() const { return simulation.segments == 0; }
  [[nodiscard]] double share_of(std::optional<BytesPerSecond> rate) const {
    if (!rate || is_empty()) return std::numeric_limits<double>::quiet_NaN();
    return simulation.achieved.value / rate->value;
  }
  [[nodiscard]] double utilisation(std::size_t resource) const {
    if (is_empty()) return 0;
    return simulation.busy[resource].value / simulation.makespan.value;
  }
  [[nodiscard]] std::size_t last_node() const { return place_of_largest(simulation.done); }
  [[nodiscard]] std::size_t busiest() const { return place_of_largest(simulation.busy); }

 private:
  static std::size_t place_of_largest(const std::vector<Seconds>& values) {
    return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
  }
};

// One of several plans.
struct SimulatedPlan {
  std::string file;
  std::string algorithm;
  std::optional<BytesPerSecond> optimum;
  std::vector<SimulationRow> rows;  // one per message
  Report report;                    // of it alone
};
// A row per message and plan, with its time relative to the fastest plan's.
Report simulations_report(std::vector<SimulatedPlan>& plans);

// One row per message. resources: names, in the simulation's order.
Report simulation_report(const std::vector<SimulationRow>& rows, const planner::Plan& plan,
                         const simulate::Simulator& simulator, const simulate::Options& how,
                         const std::vector<std::string>& resources);

// When each node is done; one column per message.
std::string simulation_nodes_table(const std::vector<SimulationRow>& rows,
                                   const planner::Plan& plan);
struct DoneAt {
  Bytes message;
  std::span<const Seconds> done;  // by node
};
// The same for any simulation. has: what a node does when it is done.
std::string done_table(std::span<const std::string> nodes, std::span<const DoneAt> messages,
                       std::string_view has);
// Of one message.
Json done_json(std::span<const std::string> nodes, std::span<const Seconds> done);

}  // namespace espalier::cli
