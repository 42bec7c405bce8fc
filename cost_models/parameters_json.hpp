// A network's parameters as a JSON document: docs/formats.md, "Parameters of a cost model".
#pragma once

#include <string>
#include <string_view>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// {"model": "loggp", "latency_s", "overhead_s", "gap_s", "gap_per_byte_s"}: numbers.
// {"model": "hockney", "alpha_s", "beta_s_per_byte"} and {"model": "plogp", "latency_s",
// "send_overhead_s", "receive_overhead_s", "gap_s"}: numbers or, except for latency_s, tables
// [[bytes, value], ...] with ascending sizes. Above the last size, a PLogP table continues with its
// last slope if that is not negative; otherwise, and in Hockney's tables, the value stays constant.
// A string "name" is allowed. Throws InputError (file, JSON pointer, reason) for any other
// document, a figure that is negative or not finite, and a gap below an overhead. `file` is for
// messages.
Parameters parse_parameters(std::string_view text, const std::string& file);

// The document that parse_parameters reads as the same network, except for the values of tables
// above their last size. It has a "name" unless `name` is empty. Numbers are read back as the same
// doubles.
std::string parameters_json(const Parameters& parameters, const std::string& name);

}  // namespace espalier::cost_models
