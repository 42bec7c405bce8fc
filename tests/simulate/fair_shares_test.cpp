// The rates of lanes that come, go and change their counts are fair after each change.
#include "simulate/model/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace espalier::simulate {
namespace {

constexpr std::size_t kResources = 12;
constexpr std::size_t kLanes = 40;
constexpr double kNear = 1e-8;

// Random lanes over a few resources, and what they may have in use.
class FairSharesOf {
 public:
  explicit FairSharesOf(unsigned seed) : random_(seed), shares_(kResources) {
    std::vector<double> latencies_s;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::set<std::uint32_t> uses;
      while (uses.size() < 1 + lane % 3) uses.insert(below(kResources));
      std::vector<Holding> needs;
      for (const std::uint32_t resource : uses) needs.push_back({resource, 0.5 + below(4)});
      shares_.add(needs);
      latencies_s.push_back(below(3) == 0 ? 0 : 1e-3 * (1 + below(50)));
    }
    const double shortest = 1e-3;
    latencies_s[1] = shortest;
    shares_.weigh(latencies_s);
    for (const double latency : latencies_s) {
      weights_.push_back(latency > 0 ? shortest / latency : 1);
    }
    counts_.assign(kLanes, 1);
    rates_.assign(kLanes, 0);
  }

  // Some lanes are opened, closed or get other counts; then rates are computed.
  void change() {
    std::set<std::uint32_t> changed;
    for (std::uint32_t i = 0; i < 1 + below(3); ++i) {
      const std::uint32_t lane = below(kLanes);
      changed.insert(lane);
      if (!shares_.is_open(lane)) {
        shares_.open(lane);
      } else if (below(2) == 0) {
        shares_.close(lane);
      } else {
        counts_[lane] = 1 + below(3);
        shares_.touch(lane);
      }
    }
    for (const std::uint32_t lane : shares_.changed()) shares_.set_count(lane, counts_[lane]);
    std::set<std::uint32_t> computed;
    for (const std::uint32_t lane : shares_.compute()) {
      EXPECT_TRUE(shares_.is_open(lane));
      EXPECT_TRUE(computed.insert(lane).second);
      EXPECT_TRUE(changed.contains(lane) || shares_.rate(lane) != rates_[lane]);
      rates_[lane] = shares_.rate(lane);
    }
    for (const std::uint32_t lane : changed) {
      EXPECT_EQ(shares_.is_open(lane), computed.contains(lane));
    }
  }

  // No resource is used more than all of the time, and each lane has one that is full, on which no
  // other has more for its weight. That is so of one set of rates only.
  void expect_fair() const {
    std::vector<double> used(kResources, 0);
    std::vector<double> level(kResources, 0);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if (!shares_.is_open(lane)) continue;
      ASSERT_EQ(shares_.rate(lane), rates_[lane]);
      for (const Holding& need : shares_.needs(lane)) {
        used[need.resource] += counts_[lane] * rates_[lane] * need.seconds;
        level[need.resource] = std::max(level[need.resource], rates_[lane] / weights_[lane]);
      }
    }
    for (const double of_time : used) EXPECT_LE(of_time, 1 + kNear);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if (!shares_.is_open(lane)) continue;
      const bool has_bottleneck =
          std::ranges::any_of(shares_.needs(lane), [&](const Holding& need) {
            return used[need.resource] >= 1 - kNear &&
                   rates_[lane] / weights_[lane] >= (1 - kNear) * level[need.resource];
          });
      EXPECT_TRUE(has_bottleneck) << "lane " << lane;
    }
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  std::mt19937 random_;
  FairShares shares_;
  std::vector<double> weights_;
  std::vector<double> counts_;
  std::vector<double> rates_;  // of the last compute
};

TEST(FairShares, AreFairAfterEachChange) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    FairSharesOf lanes(seed);
    for (int change = 0; change < 100; ++change) {
      lanes.change();
      lanes.expect_fair();
      if (HasFailure()) return;
    }
  }
}

// What two lanes share does not concern a third one, which is not computed again.
TEST(FairShares, LanesThatAChangeDoesNotReachKeepTheirRates) {
  FairShares shares(3);
  const auto lane_over = [&](std::vector<Holding> needs) { return shares.add(needs); };
  const std::uint32_t slow = lane_over({{0, 4.0}, {1, 1.0}});
  const std::uint32_t beside = lane_over({{1, 1.0}, {2, 1.0}});
  const std::uint32_t third = lane_over({{2, 2.0}});
  for (const std::uint32_t lane : {slow, beside, third}) shares.open(lane);
  EXPECT_EQ(shares.compute().size(), 3U);
  EXPECT_DOUBLE_EQ(shares.rate(slow), 0.25);
  EXPECT_DOUBLE_EQ(shares.rate(beside), 1.0 / 3);
  EXPECT_DOUBLE_EQ(shares.rate(third), 1.0 / 3);

  shares.close(slow);
  EXPECT_TRUE(shares.compute().empty());
  shares.open(slow);
  EXPECT_EQ(shares.compute().size(), 1U);
}

}  // namespace
}  // namespace espalier::simulate
