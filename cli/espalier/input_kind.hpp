// What a file is, for commands that take several kinds.
#pragma once

#include <cstdint>
#include <string>

#include "support/json.hpp"

namespace espalier::cli {

enum class InputKind : std::uint8_t { kPlatform, kPlan, kTrace };

struct Recognised {
  InputKind kind = InputKind::kPlatform;
  Json document{};  // of a plan or a trace
};

// A plan is JSON with "format": "espalier-plan", a trace JSON with "traceEvents"; all else is left
// to the readers of platforms. file: for messages. Throws InputError for damaged JSON of a plan or
// a trace.
Recognised recognised(const std::string& text, const std::string& file);

}  // namespace espalier::cli
