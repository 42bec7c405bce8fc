// A network's parameters as a JSON document: docs/formats.md, "Parameters of a cost model".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// What the document says of a network.
struct NetworkParameters {
  Parameters parameters;
  std::optional<SecondsPerByte> computation{};  // Case::computation, where it was measured or given
};

// Reads the document (docs/formats.md). Throws InputError (file, JSON pointer, reason) for any
// other document, a figure that is negative or not finite, and a gap below an overhead. `file` is
// for messages.
NetworkParameters parse_parameters(std::string_view text, const std::string& file);

// The document that parse_parameters reads as the same network, except for the values of tables
// above their last size. It has a "name" unless `name` is empty. Numbers are read back as the same
// doubles.
std::string parameters_json(const NetworkParameters& network, const std::string& name);

}  // namespace espalier::cost_models
