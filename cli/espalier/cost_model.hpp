// The cost model and the network's parameters: options shared by `predict` and `decide`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "cost_models/formulas/formulas.hpp"

namespace espalier::cli {

// --operation, --algorithm, --model, --preset, --parameters, --compute.
class CostOptions {
 public:
  void add_to(Arguments& app);

  // The checked options. read() throws InputError that names the option.
  struct Read {
    cost_models::Parameters parameters;
    std::string model;    // as --model takes it
    std::string network;  // name of the preset or of the parameters' file
    std::vector<const cost_models::FormulaEntry*> entries;  // in the registry's order, at least one
    cost_models::SecondsPerByte computation;
  };
  [[nodiscard]] Read read() const;

  [[nodiscard]] const std::string& operation() const { return operation_; }
  // Empty with --parameters.
  [[nodiscard]] const std::string& preset() const { return preset_; }

 private:
  std::string operation_ = "broadcast";
  std::vector<std::string> algorithms_;
  std::string model_;  // empty: that of the parameters
  std::string preset_;
  std::string file_;
  std::string compute_;
};

// Time to combine one byte at the rate of --compute; zero if `rate` is empty. Throws InputError
// that names the option.
cost_models::SecondsPerByte computation_of(const std::string& rate);

// The names that --model accepts: those of the formulas, and logp.
std::vector<std::string_view> cost_model_names();

}  // namespace espalier::cli
