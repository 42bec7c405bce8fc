// Every formula there is: what the command line, the documents and the tests iterate.
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
  bool segments;               // whether Case::segment makes a difference
  std::string_view deviation;  // what differs from the printed row; empty: nothing

  [[nodiscard]] std::string_view model() const { return kModelNames[formula.index()]; }
};

// By operation, algorithm and model, in the order of the tables.
std::span<const FormulaEntry> formulas();

// Each once, in the order of formulas().
std::vector<std::string_view> operation_names();
// Of one operation and model.
std::vector<std::string_view> algorithm_names(std::string_view operation, std::string_view model);

}  // namespace espalier::cost_models
