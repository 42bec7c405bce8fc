// Measured times of collective operations, as `decide --against` reads them: docs/formats.md,
// "Measured times of collectives".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cost_models/decide/decision.hpp"

namespace espalier::cli {

struct MeasuredRow {
  std::string operation;  // empty: the file does not say
  cost_models::Measurement measurement;
};

// All times, from JSON (a document that begins with '{'; what `espalier-mpi bench --json` writes is
// told by its "ranks") or CSV. Throws InputError (file, JSON
// pointer or line, reason) for text that is neither, figures that are missing or of the wrong kind,
// and a time that is not above zero. `file` is for messages.
std::vector<MeasuredRow> parse_measured_rows(std::string_view text, const std::string& file);

// The times of `operation`, and those that do not say theirs; rows of others are not looked at.
std::vector<cost_models::Measurement> parse_measured_times(std::string_view text,
                                                           const std::string& file,
                                                           std::string_view operation);

}  // namespace espalier::cli
