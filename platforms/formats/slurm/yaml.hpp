// Reading YAML into what JSON is read into, so that refusals tell places alike. Not installed.
#pragma once

#include <string>
#include <string_view>

#include "support/json.hpp"

namespace espalier::platforms {

// The one document of `text`: maps as objects, sequences as arrays, every scalar as the string that
// stands there, nothing as null. Refuses (InputError): malformed text (with line and column),
// aliases, maps whose keys are no scalars or come twice, nesting over kMaxJsonDepth levels, texts
// over 1 MiB, a second document. `file` is only for messages.
Json parse_yaml(std::string_view text, const std::string& file);

}  // namespace espalier::platforms
