#include "support/deadline.hpp"

#include <gtest/gtest.h>

#include "tests/support/counting_clock.hpp"

namespace espalier::deadline_test {
namespace {

using namespace espalier::testing;

TEST(Deadline, PassesAtItsLimit) {
  CountingClock clock;  // the start is look 0
  const Deadline deadline(Seconds{3}, &clock);
  EXPECT_FALSE(deadline.passed());
  EXPECT_EQ(deadline.left(), Seconds{1});
  EXPECT_TRUE(deadline.passed());
  EXPECT_EQ(deadline.left(), Seconds{0});
}

TEST(Deadline, WithoutALimitLooksAtTheClockAllTheSame) {
  CountingClock clock;
  const Deadline deadline(std::nullopt, &clock);
  EXPECT_FALSE(deadline.passed());
  EXPECT_FALSE(deadline.left().has_value());
  EXPECT_EQ(clock.looks(), 2);
}

TEST(Deadline, ASharePassesEarlier) {
  CountingClock clock;
  const Deadline deadline(Seconds{11}, &clock);
  const Deadline half = deadline.share(0.5);  // look 1: 10 are left, 5 of them are its own
  EXPECT_DOUBLE_EQ(half.limit()->value, 6);
  EXPECT_EQ(deadline.limit(), Seconds{11});
  EXPECT_DOUBLE_EQ(half.left()->value, 4);  // look 2
}

TEST(Deadline, RestartedHasTheWholeLimitAgain) {
  CountingClock clock;
  const Deadline deadline(Seconds{2}, &clock);
  EXPECT_FALSE(deadline.passed());
  EXPECT_TRUE(deadline.passed());
  EXPECT_FALSE(deadline.restarted().passed());
}

TEST(DeadlineWatch, LooksOncePerSoMuchWork) {
  CountingClock clock;
  DeadlineWatch watch(Deadline(Seconds{1}, &clock));
  for (int step = 0; step < 1000; ++step) EXPECT_FALSE(watch.passed(1));
  EXPECT_EQ(clock.looks(), 1);
  EXPECT_TRUE(watch.passed(1'000'000));
  EXPECT_TRUE(watch.passed(0)) << "it stays passed";
  EXPECT_THROW(watch.require(0), LimitReached);
}

}  // namespace
}  // namespace espalier::deadline_test
