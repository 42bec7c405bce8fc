#include "simulate/search/candidates.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <string_view>

#include "planner/problem/collective.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::simulate::candidates_test {
namespace {

using platforms::Model;

TEST(Candidates, AreTheSameOnAnyNumberOfThreads) {
  for (const auto operation : {planner::Operation::kBroadcast, planner::Operation::kAllreduce}) {
    testing::for_each_platform(
        operation, 1, 6, Model::kMultiPort,
        [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
          SCOPED_TRACE(trace);
          const planner::Collective collective(operation, drawn.platform, drawn.source,
                                               Model::kMultiPort, drawn.options);
          std::mutex counting;
          std::size_t begun = 0;
          CandidateOptions how;
          how.on_progress = [&](std::string_view) {
            const std::scoped_lock lock(counting);
            ++begun;
          };
          const Candidates alone = make_candidates(collective, how, Deadline());
          const std::size_t begun_alone = begun;
          how.jobs = 3;
          const Candidates together = make_candidates(collective, how, Deadline());
          EXPECT_EQ(begun, 2 * begun_alone);
          EXPECT_EQ(together.bound->value, alone.bound->value);
          ASSERT_EQ(together.all.size(), alone.all.size());
          for (std::size_t i = 0; i < alone.all.size(); ++i) {
            EXPECT_EQ(together.all[i].label, alone.all[i].label);
            EXPECT_EQ(planner::to_json(together.all[i].plan), planner::to_json(alone.all[i].plan));
          }
        });
  }
}

}  // namespace
}  // namespace espalier::simulate::candidates_test
