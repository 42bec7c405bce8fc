// Messages for unknown names: "unknown algorithm 'gorw'; did you mean 'grow'? one of: ...".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace espalier {

// The choice with the smallest Damerau-Levenshtein distance from `name`, if it is small enough for
// a typing error (at most a third of the longer name, at least 1); otherwise empty.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> choices);

// The reason of an error: "unknown KIND 'NAME'; did you mean 'X'? one of: a, b, c".
// `kind` is a noun ("algorithm", "model", "key"). More than 12 choices are not listed.
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> choices);

}  // namespace espalier
