// The results of `decide`, as tables, JSON, CSV and charts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost_models/decide/decision.hpp"
#include "render/charts/cell_chart.hpp"
#include "support/json.hpp"

namespace espalier::cli {

struct DecisionReport {
  std::string operation;
  std::string model;
  std::string network;  // the preset or file of the parameters
  cost_models::DecisionFunction decision;
  std::vector<cost_models::Method> methods;
  // Every method in every cell, cell by cell; empty if only the best are wanted.
  std::vector<cost_models::Prediction> all{};
  // One per cell; empty without measurements.
  std::vector<std::optional<cost_models::Penalty>> penalties{};
};

// One line per number of ranks, or per range with the same choices: the best methods and the
// message size from which each is best.
std::string decision_table(const DecisionReport& report);
// One line per number of ranks, and one for all: the measured penalty of the decision.
std::string penalty_table(const DecisionReport& report);
Json decision_json(const DecisionReport& report);
// One row per cell, or per method and cell.
std::string decision_csv(const DecisionReport& report);
// As in CM, figure 6: the colour of a cell is its best method.
render::CellChart decision_chart(const DecisionReport& report);
// As in CM, figure 7: the darker a cell, the higher the penalty.
render::CellChart penalty_chart(const DecisionReport& report);

}  // namespace espalier::cli
