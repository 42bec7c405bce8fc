// Readers of options that take several values, for each of which something is done.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/readers.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// A reader of "1,2,4": ascending. least: what a plan needs at least.
inline auto counts_reader(std::string_view least) {
  return [least](const std::string& text) {
    std::vector<std::size_t> counts;
    for (const std::string_view part : split(text, ',')) {
      counts.push_back(parse_count(part));
      if (counts.back() > UINT32_MAX) {
        throw InputError(fmt::format("'{}' is not a whole number", part));
      }
      if (counts.back() == 0) throw InputError(fmt::format("a plan needs at least {}", least));
    }
    return in_order(counts);
  };
}

// Ascending. Throws InputError (reason only).
inline std::vector<std::optional<Seconds>> read_spans(const std::string& text) {
  std::vector<std::optional<Seconds>> spans;
  for (const std::string_view part : split(text, ',')) spans.emplace_back(read_span(part));
  return in_order(spans);
}

}  // namespace espalier::cli
