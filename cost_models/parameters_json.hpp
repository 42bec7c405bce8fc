// A network's parameters as a JSON document: docs/formats.md, "Parameters of a cost model".
#pragma once

#include <string>
#include <string_view>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// {"model": "loggp", "latency_s", "overhead_s", "gap_s", "gap_per_byte_s"}: numbers;
// {"model": "hockney", "alpha_s", "beta_s_per_byte"} and {"model": "plogp", "latency_s",
// "send_overhead_s", "receive_overhead_s", "gap_s"}: numbers or, but for latency_s, tables
// [[bytes, value], ...] by ascending sizes. Above its last size a table of PLogP rises as before,
// or stays where it falls; one of Hockney's stays. A text "name" is allowed. Throws InputError
// (file, JSON pointer, reason) for what is none of these, a figure that is negative or not finite,
// and a gap below an overhead. `file` is for messages.
Parameters parse_parameters(std::string_view text, const std::string& file);

// What parse_parameters reads as the same network, up to what a table does above its last size;
// with a name unless it is empty. Numbers are written so that reading gives back the same doubles.
std::string parameters_json(const Parameters& parameters, const std::string& name);

}  // namespace espalier::cost_models
