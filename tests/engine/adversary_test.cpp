// All ranks' engines in one process, over a network that does its worst
// (tests/engine/adversary_world.hpp). It tries to refute the argument at the head of
// engine/engine.hpp. ESPALIER_ADVERSARY_RUNS sets the number of runs, ESPALIER_ADVERSARY_SEED the
// first seed.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/engine/adversary_world.hpp"
#include "tests/support/draws.hpp"

namespace espalier::testing::adversary_test {
namespace {

TEST(Adversary, CannotBreakTheEngine) {
  constexpr int kMostFaults = 5;
  const std::uint64_t first = from_environment("ESPALIER_ADVERSARY_SEED", 1);
  const std::uint64_t runs = from_environment("ESPALIER_ADVERSARY_RUNS", draws(20'000));
  std::uint64_t complete = 0;
  std::uint64_t stopped = 0;
  std::uint64_t refused = 0;
  std::uint64_t gave_up = 0;
  int faults = 0;
  for (std::uint64_t seed = first; seed < first + runs && faults < kMostFaults; ++seed) {
    const adversary::Course course = adversary::run(seed);
    complete += course.is_complete ? 1 : 0;
    stopped += course.is_stopped ? 1 : 0;
    refused += course.is_refused ? 1 : 0;
    gave_up += course.gave_up ? 1 : 0;
    if (course.fault.empty()) continue;
    ++faults;
    ADD_FAILURE() << course.fault << "\n"
                  << course.shape << "\nrepeat it: ESPALIER_ADVERSARY_RUNS=1 "
                  << "ESPALIER_ADVERSARY_SEED=" << seed;
  }
  if (faults != 0 || runs < 1000) return;
  // Every kind of course occurs.
  EXPECT_GT(complete, runs / 2);
  EXPECT_GT(stopped, runs / 100);
  EXPECT_GT(refused, runs / 100);
  EXPECT_GT(gave_up, runs / 200);
}

}  // namespace
}  // namespace espalier::testing::adversary_test
