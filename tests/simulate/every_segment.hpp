// A plan in every number of segments, and every operation of one root under every model.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_grid.hpp"
#include "platforms/core/contention.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::testing {

using OperationUnderModel = std::tuple<planner::Operation, platforms::ModelEntry>;

inline auto every_operation_and_model() {
  return ::testing::Combine(
      ::testing::ValuesIn(planner::kOperations),
      ::testing::ValuesIn(platforms::models().begin(), platforms::models().end()));
}

inline std::string name_of_case(const ::testing::TestParamInfo<OperationUnderModel>& tested) {
  return case_name(std::get<0>(tested.param), std::get<1>(tested.param).name);
}

struct TimeInSegments {
  double seconds = std::numeric_limits<double>::infinity();
  Bytes segment{0};
};

// The least time in any number of equal segments, at most `most` and of at least a KiB each.
// seconds_in(segment): of the message.
template <class SecondsIn>
TimeInSegments least_in_segments(Bytes message, std::uint64_t most, SecondsIn seconds_in) {
  constexpr std::uint64_t kKiB = 1024;
  TimeInSegments best;
  std::set<std::uint64_t> tried;
  for (std::uint64_t count = 1; count <= std::min(most, message.value / kKiB); ++count) {
    const Bytes segment{planner::SegmentGrid{message.value, count}.count()};
    if (!tried.insert(segment.value).second) continue;
    const double seconds = seconds_in(segment);
    if (seconds < best.seconds) best = {seconds, segment};
  }
  return best;
}

}  // namespace espalier::testing
