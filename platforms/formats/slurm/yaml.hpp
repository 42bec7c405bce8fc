// Reads YAML into a JSON document, so that errors give places in the same form. Not installed.
#pragma once

#include <string>
#include <string_view>

#include "support/json.hpp"

namespace espalier::platforms {

// The single document of `text`: maps as objects, sequences as arrays, every scalar as its literal
// string, an empty value as null. Throws InputError on malformed text (with line and column), keys
// that are not scalars, duplicate keys, nesting over kMaxJsonDepth levels, or a second document.
// `file` is only for messages.
Json parse_yaml(std::string_view text, const std::string& file);

}  // namespace espalier::platforms
