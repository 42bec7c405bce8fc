// Decision tables as text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::testing {

// more: further keys, each before a comma.
inline std::string decision_row(std::uint64_t ranks, std::uint64_t message,
                                std::string_view algorithm, std::uint64_t segment,
                                double seconds = 1e-3, std::string_view more = {}) {
  return fmt::format(
      R"({{{}"ranks": {}, "message_bytes": {}, "algorithm": "{}", "segment_bytes": {}, "predicted_s": {}}})",
      more, ranks, message, algorithm, segment, seconds);
}

// As written by decide, with keys that are not used here.
inline std::string decision_rows(const std::vector<std::string>& rows,
                                 std::string_view operation = "broadcast") {
  return fmt::format(R"({{"operation": "{}", "model": "loggp", "network": "x", "rows": [{}]}})",
                     operation, fmt::join(rows, ", "));
}

}  // namespace espalier::testing
