// The registry of all formulas. The command line, the documents and the tests iterate over it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "cost_models/formulas/formulas.hpp"

namespace espalier::cost_models {

template <typename Model>
using FormulaOf = Seconds (*)(const Model&, const Case&);
// In the order of kModelNames.
using Formula = std::variant<FormulaOf<Hockney>, FormulaOf<LogGP>, FormulaOf<PLogP>>;

struct FormulaEntry {
  std::string_view operation;  // "barrier", "broadcast", "reduce", "alltoall"
  std::string_view algorithm;
  Formula formula;
  std::string_view source;     // table and row
  bool segments;               // whether the formula uses Case::segment
  std::string_view deviation;  // from the printed row; empty: none

  [[nodiscard]] std::string_view model() const { return kModelNames[formula.index()]; }
};

// Ordered by operation, algorithm and model, as in the tables.
std::span<const FormulaEntry> formulas();

// Each once, in the order of formulas().
std::vector<std::string_view> operation_names();
// Of one operation and model.
std::vector<std::string_view> algorithm_names(std::string_view operation, std::string_view model);

}  // namespace espalier::cost_models
