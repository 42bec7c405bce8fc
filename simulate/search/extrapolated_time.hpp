// A long message's time, told from shorter ones.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::simulate {

struct ExtrapolatedTime {
  double seconds = 0;
  bool extrapolated = false;
};

// The time of `segments` segments, each of which takes `sends` sends: run in full where they are no
// more than `most_sends` in all, or 1,024 segments; else told from the first half and the whole of
// so many, for what is added once the pipelines are full goes at a steady pace. seconds_of(count):
// what the message's first `count` segments take. sends: at least 1.
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
