// Networks and formulas for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/formulas/formulas.hpp"
#include "cost_models/presets.hpp"

namespace espalier::cost_models {

// The preset frodo, converted to the model of that name.
inline Parameters frodo(std::string_view model) {
  const LogGP& loggp = find_preset("frodo").loggp;
  if (model == "hockney") return hockney_from(loggp);
  if (model == "plogp") return plogp_from(loggp);
  return loggp;
}

// The entry of the registry; throws std::out_of_range if there is none.
inline const FormulaEntry& entry_of(std::string_view operation, std::string_view algorithm,
                                    std::string_view model) {
  for (const FormulaEntry& entry : formulas()) {
    if (entry.operation == operation && entry.algorithm == algorithm && entry.model() == model)
      return entry;
  }
  throw std::out_of_range("no such formula");
}

inline std::string name_of(const FormulaEntry& entry) {
  return std::string(entry.operation) + ' ' + std::string(entry.algorithm) + ' ' +
         std::string(entry.model());
}

}  // namespace espalier::cost_models
