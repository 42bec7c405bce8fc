// The cost model and the network's parameters: options shared by `predict` and `decide`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cost_models/formulas/formulas.hpp"

namespace espalier::cli {

// --operation, --algorithm, --model, --preset, --parameters, --compute.
struct CostOptions {
  std::string operation = "broadcast";
  std::vector<std::string> algorithms{};  // empty: all
  std::string model{};                    // empty: that of the parameters
  std::string preset{};                   // empty with --parameters
  std::string file{};
  std::optional<cost_models::SecondsPerByte> computation{};  // unset: that of the parameters

  void add_to(Arguments& app);

  // The network's parameters. read() throws InputError that names the option.
  struct Read {
    cost_models::Parameters parameters;
    cost_models::SecondsPerByte computation;  // 0: instantly
    std::string model;                        // as --model takes it
    std::string network;                      // name of the preset or of the parameters' file
    std::vector<const cost_models::FormulaEntry*> entries;  // in the registry's order, at least one
  };
  [[nodiscard]] Read read() const;
  // By each model that the parameters determine, or by --model alone.
  [[nodiscard]] std::vector<Read> read_each() const;
};

// Before the work: a chart can be written to the file. Empty: there is none. Throws InputError.
void require_chart(const std::string& file);

// --compute: the time to combine one byte.
void add_compute(Arguments& app, std::optional<cost_models::SecondsPerByte>& computation);

}  // namespace espalier::cli
