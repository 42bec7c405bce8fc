// A decision table from a file, to be shown, compared and written for MPI libraries as a model's
// decision is.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "cli/espalier/costs/decision_report.hpp"
#include "planner/plan/decision_table.hpp"

namespace espalier::cli {

// The report refers to the other two, which may be moved with it.
struct DecidedTable {
  planner::Decisions table;
  // An entry for each algorithm of the table, without a formula.
  std::deque<cost_models::FormulaEntry> entries{};
  DecisionReport report;
};

// For every number of ranks and every message of the rows with this number of ranks per host;
// unset: all have the same. A case that has no row has the nearest one's choice. `name`: of the
// file. Throws InputError (reason only).
DecidedTable decided_table(planner::Decisions table, std::optional<std::uint64_t> ranks_per_host,
                           const std::string& name);

// The same decision, without the cells that `keep` refuses.
cost_models::DecisionFunction kept(const cost_models::DecisionFunction& decision,
                                   const std::function<bool(const cost_models::Prediction&)>& keep);

}  // namespace espalier::cli
