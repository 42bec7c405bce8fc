#include "runtime/transport/patience.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace espalier::runtime {
namespace {

// Polls until it ends, at most so often.
int polls_until_over(Patience& patience, int most, std::chrono::milliseconds between) {
  for (int polls = 0; polls < most; ++polls) {
    if (patience.is_over()) return polls;
    std::this_thread::sleep_for(between);
  }
  return most;
}

TEST(Patience, WithoutATimeoutNeverEnds) {
  Patience patience;
  EXPECT_FALSE(patience.is_limited());
  patience.begin();
  EXPECT_EQ(polls_until_over(patience, 1000, std::chrono::milliseconds(0)), 1000);
}

TEST(Patience, EndsAfterItsTimeAndBeginsAnew) {
  Patience patience(Seconds{0.02});
  patience.begin();
  EXPECT_LT(polls_until_over(patience, 100'000, std::chrono::milliseconds(1)), 100'000);
  patience.begin();
  EXPECT_FALSE(patience.is_over());
  EXPECT_EQ(patience.complaint(), "nothing came for 0.02 s");
}

// As after SIGSTOP and SIGCONT: the gap, however long, counts as a second.
TEST(Patience, DoesNotCountTheTimeInWhichItWasNotAsked) {
  Patience patience(Seconds{1.2});
  patience.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (int i = 0; i < 16; ++i) EXPECT_FALSE(patience.is_over());
}

}  // namespace
}  // namespace espalier::runtime
