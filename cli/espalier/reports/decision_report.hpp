// What `decide` finds, in the forms it is shown in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cost_models/decide/decision.hpp"
#include "support/cell_chart.hpp"
#include "support/json.hpp"

namespace espalier::cli {

struct DecisionReport {
  std::string operation;
  std::string model;
  std::string network;  // whose parameters
  cost_models::DecisionFunction decision;
  std::vector<cost_models::Method> methods;
  // Of every method in every cell, cell by cell; empty: only the best are asked for.
  std::vector<cost_models::Prediction> all{};
  // Of every cell; empty: nothing was measured.
  std::vector<std::optional<cost_models::Penalty>> penalties{};
};

// "pipeline/8 KiB"; "pipeline" where the message is not cut.
std::string method_name(std::string_view algorithm, Bytes segment);

// One line a number of ranks, or several with the same choices: the methods and the message sizes
// that they are best from.
std::string decision_table(const DecisionReport& report);
// One line a number of ranks, and one for all: what the decision costs, measured.
std::string penalty_table(const DecisionReport& report);
Json decision_json(const DecisionReport& report);
// One row a cell, or a method and cell.
std::string decision_csv(const DecisionReport& report);
// As CM, figure 6: a cell has the colour of its best method.
CellChart decision_chart(const DecisionReport& report);
// As CM, figure 7: a cell is as dark as the penalty is high.
CellChart penalty_chart(const DecisionReport& report);

}  // namespace espalier::cli
