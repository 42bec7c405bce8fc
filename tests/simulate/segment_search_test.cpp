// Forecasts of long messages, extrapolated from shorter ones.
#include "simulate/search/segment_search.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "planner/problem/collective.hpp"
#include "simulate/search/candidates.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::simulate::segment_search_test {
namespace {

using platforms::Model;

constexpr std::uint64_t kKiB = 1024;

TEST(Forecast, ALongMessageIsExtrapolatedFromAShorterOne) {
  const auto check = [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    constexpr Bytes kMessage{3000 * 64 * kKiB + 1000};
    constexpr Bytes kSegment{64 * kKiB};
    const Deadline deadline(std::nullopt);
    const planner::Collective collective(planner::Operation::kBroadcast, drawn.platform,
                                         drawn.source, Model::kOnePort,
                                         {kSegment, drawn.options.latency_occupies});
    SegmentSearch search(drawn.platform, Model::kOnePort, drawn.options.latency_occupies, kMessage,
                         {.run = {.segment = kSegment}}, deadline);
    CandidateOptions how;
    how.algorithms = planner::parse_algorithms("optimal,grow");
    for (Candidate& made : make_candidates(collective, how, deadline).all) {
      search.add(std::move(made));
      const std::size_t index = search.candidates().size() - 1;
      const Forecast full = search.forecast(index, 3001, UINT64_MAX);
      const Forecast extrapolated = search.forecast(index, 3001, 0);
      EXPECT_FALSE(full.extrapolated);
      EXPECT_TRUE(extrapolated.extrapolated);
      // A run that would last longer than its limit is stopped, another one is as without a limit.
      const Seconds least{0.99 * full.makespan.value};
      const Forecast stopped = search.forecast(index, 3001, UINT64_MAX, least);
      EXPECT_TRUE(stopped.stopped);
      EXPECT_EQ(stopped.makespan, least);
      const Forecast ended = search.forecast(index, 3001, UINT64_MAX, {1.01 * full.makespan.value});
      EXPECT_FALSE(ended.stopped);
      EXPECT_EQ(ended.makespan, full.makespan);
      const double tolerance =
          search.candidates()[index].plan.broadcast_trees.size() > 1 ? 0.02 : 1e-6;
      EXPECT_NEAR(extrapolated.makespan.value, full.makespan.value,
                  tolerance * full.makespan.value);
    }
  };
  testing::for_each_platform(2, 6, Model::kOnePort, check);
}

}  // namespace
}  // namespace espalier::simulate::segment_search_test
