// Measured times of collective operations, as `decide --against` reads them: docs/formats.md,
// "Measured times of collectives".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/decision.hpp"

namespace espalier::cli {

// The times of `operation`, from JSON (a document that begins with '{') or CSV; those of other
// operations are passed over. Throws InputError (file, JSON pointer or line, reason) for text that
// is neither, figures that are missing or of the wrong kind, a time that is not above zero, and
// when no time of the operation is there. `file` is for messages.
std::vector<models::Measurement> parse_measured_times(std::string_view text,
                                                      const std::string& file,
                                                      std::string_view operation);

}  // namespace espalier::cli
