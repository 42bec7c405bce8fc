#include "runtime/measure/arrivals.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace espalier::runtime::probe::arrivals_test {
namespace {

using namespace ::testing;

// A message of 1000 bytes each millisecond: 1e6 bytes/s.
std::vector<Arrival> steady(double seconds) {
  std::vector<Arrival> arrivals;
  for (int i = 1; i * 1e-3 <= seconds; ++i) arrivals.push_back({i * 1e-3, 1000});
  return arrivals;
}

TEST(RateOf, IsTheRateOfASteadyStream) {
  EXPECT_THAT(rate_of(steady(0.1), 0.1), DoubleNear(1e6, 1));
  EXPECT_THAT(rate_of(steady(0.2), 0.1), DoubleNear(1e6, 1));
}

TEST(RateOf, ToleratesADescheduledReceiver) {
  for (const double from : {0.02, 0.03, 0.05, 0.07}) {
    std::vector<Arrival> arrivals = steady(0.1);
    double late = from + 0.02;
    for (Arrival& one : arrivals) {
      // Messages that arrived while it was descheduled are delivered all at once afterwards.
      if (one.at_s > from && one.at_s < from + 0.02) one.at_s = late += 1e-6;
    }
    std::ranges::stable_sort(arrivals, {}, &Arrival::at_s);
    EXPECT_THAT(rate_of(arrivals, 0.1), DoubleNear(1e6, 2e4)) << from;
  }
}

TEST(RateOf, IgnoresAFullTokenBucket) {
  std::vector<Arrival> arrivals = steady(0.1);
  for (int i = 0; i < 30; ++i) arrivals.insert(arrivals.begin(), {0.0005, 1000});
  EXPECT_THAT(rate_of(arrivals, 0.1), DoubleNear(1e6, 1));
}

TEST(RateOf, IgnoresSlowStart) {
  std::vector<Arrival> arrivals = steady(0.1);
  std::erase_if(arrivals, [](const Arrival& one) { return one.at_s < 0.02; });
  EXPECT_THAT(rate_of(arrivals, 0.1), DoubleNear(1e6, 1));
}

TEST(RateOf, FewMessagesCountFromTheBeginning) {
  EXPECT_THAT(rate_of({{0.05, 1000}, {0.1, 1000}, {0.15, 1000}}, 0.1), DoubleNear(2e4, 1));
  EXPECT_THAT(rate_of({{0.5, 1000}}, 0.1), DoubleNear(2e3, 1));
  EXPECT_EQ(rate_of({}, 0.1), 0);
  const Arrival one{0.05, 1000};
  EXPECT_THAT(rate_of({one, one, one, one, one}, 0.1), DoubleNear(1e5, 1));
}

// Three rates, none for half of the time: the overall rate.
TEST(RateOf, AveragesChangingRates) {
  std::vector<Arrival> arrivals = steady(0.4);
  for (Arrival& one : arrivals) {
    if (one.at_s > 0.2) one.bytes = one.at_s > 0.3 ? 400 : 700;
  }
  EXPECT_THAT(rate_of(arrivals, 0.4), DoubleNear(0.7e6, 0.01e6));
}

}  // namespace
}  // namespace espalier::runtime::probe::arrivals_test
