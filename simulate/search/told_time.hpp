// A long message's time, told from shorter ones.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::simulate {

struct ToldTime {
  double seconds = 0;
  bool extrapolated = false;
};

// The time of `slices` slices, each of which takes `sends` sends: run in full where they are no
// more than `most_sends` in all, or 1,024 slices; else told from the first half and the whole of so
// many, for what is added once the pipelines are full goes at a steady pace. seconds_of(count):
// what the message's first `count` slices take. sends: at least 1.
template <class SecondsOf>
ToldTime told_time(std::uint64_t slices, std::uint64_t sends, std::uint64_t most_sends,
                   const SecondsOf& seconds_of) {
  constexpr std::uint64_t kLeastSteadySlices = 1024;
  const std::uint64_t many = std::max(most_sends / sends, kLeastSteadySlices);
  if (slices <= many) return {seconds_of(slices), false};
  const std::uint64_t half = many / 2;
  const double whole = seconds_of(many);
  const double per_slice = (whole - seconds_of(half)) / static_cast<double>(many - half);
  return {whole + per_slice * static_cast<double>(slices - many), true};
}

}  // namespace espalier::simulate
