// Measured times of collective operations, as `decide --against` and `fit` read them:
// docs/formats.md, "Measured times of collectives".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cost_models/decide/decision.hpp"

namespace espalier::cli {

struct MeasuredRow {
  std::string operation;  // empty: not given in the file
  cost_models::Measurement measurement;
};

// All times, those of MPI's own function with the algorithm planner::kLibrary, from CSV or from
// JSON (text that begins with '{'), also of `espalier-mpi bench --json`.
// Throws InputError (file, JSON pointer or line, reason). `file` is for messages.
std::vector<MeasuredRow> parse_measured_rows(std::string_view text, const std::string& file);

// The times of `operation`, and those without an operation; rows of others are skipped unchecked.
std::vector<cost_models::Measurement> parse_measured_times(std::string_view text,
                                                           const std::string& file,
                                                           std::string_view operation);

// The times of `operation` in all of these files, and their names. with_library: also of MPI's own
// function. Throws InputError as parse_measured_times, and where there is none.
struct MeasuredTimes {
  std::vector<cost_models::Measurement> times;
  std::string files;  // "a.json, b.json"
};
MeasuredTimes read_measured_times(const std::vector<std::string>& files, std::string_view operation,
                                  bool with_library);

}  // namespace espalier::cli
