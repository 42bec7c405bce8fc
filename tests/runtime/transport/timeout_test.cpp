#include "runtime/transport/timeout.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace espalier::runtime::timeout_test {
namespace {

// Polls until it ends, at most `most` times.
int polls_until_over(Timeout& timeout, int most, std::chrono::milliseconds between) {
  for (int polls = 0; polls < most; ++polls) {
    if (timeout.is_over()) return polls;
    std::this_thread::sleep_for(between);
  }
  return most;
}

TEST(Timeout, WithoutATimeoutNeverEnds) {
  Timeout timeout;
  EXPECT_FALSE(timeout.is_limited());
  timeout.begin();
  EXPECT_EQ(polls_until_over(timeout, 1000, std::chrono::milliseconds(0)), 1000);
}

TEST(Timeout, EndsAfterItsTimeAndRestarts) {
  Timeout timeout(Seconds{0.02});
  timeout.begin();
  EXPECT_LT(polls_until_over(timeout, 100'000, std::chrono::milliseconds(1)), 100'000);
  timeout.begin();
  EXPECT_FALSE(timeout.is_over());
  EXPECT_EQ(timeout.complaint(), "no progress for 0.02 s");
}

// As after SIGSTOP and SIGCONT: a gap of any length counts as one second at most.
TEST(Timeout, DoesNotCountGapsBetweenPolls) {
  Timeout timeout(Seconds{1.2});
  timeout.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (int i = 0; i < 16; ++i) EXPECT_FALSE(timeout.is_over());
}

}  // namespace
}  // namespace espalier::runtime::timeout_test
