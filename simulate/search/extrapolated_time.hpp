// Extrapolates a long message's time from shorter ones.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::simulate {

struct ExtrapolatedTime {
  double seconds = 0;
  bool extrapolated = false;
};

// The time of `segments` segments with `sends` sends each. Runs all of them if that is at most
// `most_sends` sends or 1,024 segments. Otherwise runs that many segments and half as many, and
// extrapolates: once the pipelines are full, each further segment takes the same time.
// seconds_of(count): the time of the message's first `count` segments. sends: at least 1.
template <class SecondsOf>
ExtrapolatedTime extrapolated_time(std::uint64_t segments, std::uint64_t sends,
                                   std::uint64_t most_sends, const SecondsOf& seconds_of) {
  constexpr std::uint64_t kLeastSteadySegments = 1024;
  const std::uint64_t many = std::max(most_sends / sends, kLeastSteadySegments);
  if (segments <= many) return {seconds_of(segments), false};
  const std::uint64_t half = many / 2;
  const double whole = seconds_of(many);
  const double per_segment = (whole - seconds_of(half)) / static_cast<double>(many - half);
  return {whole + per_segment * static_cast<double>(segments - many), true};
}

}  // namespace espalier::simulate
