// "unknown algorithm 'gorw'; did you mean 'grow'? one of: ...": the same help wherever a name is
// chosen.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace espalier {

// The choice at the smallest Damerau-Levenshtein distance from `name`, when that is near enough to
// be a slip (at most a third of the longer, at least 1); empty otherwise.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> choices);

// The reason of a refusal: "unknown KIND 'NAME'; did you mean 'X'? one of: a, b, c".
// `kind` is a noun ("algorithm", "model", "key"). More than 12 choices are not listed.
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> choices);

}  // namespace espalier
