#include "runtime/preload/tally.hpp"

#include <fmt/format.h>

#include <numeric>

#include "support/quantities.hpp"

namespace espalier::preload {

std::string summary(const Tally& tally) {
  const std::uint64_t handed_on =
      std::accumulate(tally.handed_on.begin(), tally.handed_on.end(), std::uint64_t{0});
  std::string text = fmt::format("{} MPI_Bcast taken ({}), {} handed on", tally.taken,
                                 format_size({tally.taken_bytes}), handed_on);
  std::string_view separator = ": ";
  for (std::size_t i = 0; i < kReasons; ++i) {
    if (tally.handed_on[i] == 0) continue;
    text += fmt::format("{}{} {}", separator, tally.handed_on[i], kReasonTexts[i]);
    separator = ", ";
  }
  return text;
}

}  // namespace espalier::preload
