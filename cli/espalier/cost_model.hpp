// Which cost model, of which network: what `predict` and `decide` share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "cost_models/formulas/registry.hpp"

namespace espalier::cli {

// --operation, --algorithm, --model, --preset, --parameters, --compute.
class CostOptions {
 public:
  void add_to(Arguments& app);

  // What was asked for, checked: throws InputError that names the option.
  struct Read {
    cost_models::Parameters parameters;
    std::string model;                                      // as --model takes it
    std::string network;                                    // the preset, or the file of parameters
    std::vector<const cost_models::FormulaEntry*> entries;  // in the registry's order, at least one
    cost_models::SecondsPerByte computation;
  };
  [[nodiscard]] Read read() const;

  [[nodiscard]] const std::string& operation() const { return operation_; }
  // Empty where a file has the parameters.
  [[nodiscard]] const std::string& preset() const { return preset_; }

 private:
  std::string operation_ = "broadcast";
  std::vector<std::string> algorithms_;
  std::string model_;  // empty: that of the parameters
  std::string preset_;
  std::string file_;
  std::string compute_;
};

// What a byte takes to combine at the rate that --compute gives; nothing where that is empty.
// Throws InputError that names the option.
cost_models::SecondsPerByte computation_of(const std::string& rate);

// The names that --model takes: those of the formulas, and logp.
std::vector<std::string_view> cost_model_names();

}  // namespace espalier::cli
