// The steps of a probe of many ranks.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "runtime/measure/steps/grouping.hpp"
#include "runtime/measure/steps/ports.hpp"
#include "runtime/measure/steps/step.hpp"
#include "tests/runtime/measure/calculated_network.hpp"

namespace espalier::runtime::probe::steps_test {
namespace {

using testing::unmeasured;

Experiment measured_at(std::vector<Flow> flows, double rate_Bps) {
  Experiment experiment{Purpose::kRound, std::move(flows), {}};
  experiment.rates_Bps.assign(experiment.flows.size(), {rate_Bps});
  return experiment;
}

TEST(GroupingRound, LoadsTheNetworkWithAllRanksThatHaveNoPair) {
  const auto round = next_grouping_round(unmeasured(30));
  ASSERT_TRUE(round);
  EXPECT_GT(round->pairs.size(), 4U);
  std::multiset<std::size_t> ends;
  for (const Flow& flow : round->pairs) ends.insert({flow.from, flow.from, flow.to, flow.to});
  for (const Flow& flow : round->load) ends.insert({flow.from, flow.to});
  for (std::size_t rank = 0; rank < 30; ++rank) EXPECT_EQ(ends.count(rank), 2U) << rank;
  const std::vector<Flow> together = round->together();
  EXPECT_EQ(std::ranges::count(have_own_ends(together), true), std::ssize(round->pairs));
}

TEST(GroupingRound, IsTheLastOneUntilItsPairsWereMeasuredWithoutLoad) {
  Measurements measured = unmeasured(30);
  const auto round = next_grouping_round(measured);
  ASSERT_TRUE(round);
  measured.experiments.push_back(measured_at(round->together(), 1e6));
  const auto same = next_grouping_round(measured);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->pairs, round->pairs);
  EXPECT_EQ(same->load, round->load);
  measured.experiments.push_back(measured_at(round->pairs, 1e6));
  const auto next = next_grouping_round(measured);
  ASSERT_TRUE(next);
  EXPECT_NE(next->pairs, round->pairs);
}

TEST(GroupingRound, EndsAtMostAfterTheMostRounds) {
  Measurements measured = unmeasured(24);
  std::size_t rounds = 0;
  while (const auto round = next_grouping_round(measured)) {
    // All pairs are slower under load: no two ranks are of one cluster.
    measured.experiments.push_back(measured_at(round->together(), 1e6));
    measured.experiments.push_back(measured_at(round->pairs, 2e6));
    ASSERT_LE(++rounds, most_grouping_rounds(24));
  }
  EXPECT_GT(rounds, least_grouping_rounds());
}

// Every rank has one fan in each direction, and those of a step have no rank in common.
TEST(PortSteps, OfClustersGiveEachRankOneFan) {
  Measurements measured = unmeasured(31);
  for (std::size_t from = 0; from < 31; ++from) {
    for (std::size_t to = 0; to < 31; ++to) {
      const bool is_near = (from < 20) == (to < 20);
      if (from != to)
        measured.experiments.push_back(measured_at({{from, to}}, is_near ? 4e6 : 1e6));
    }
  }
  const ArcRates rates(measured);
  const Clusters clusters(rates);
  ASSERT_EQ(clusters.count(), 2U);
  std::map<Purpose, std::multiset<std::size_t>> hubs;
  const std::vector<Step> steps = port_steps_within(rates, clusters);
  for (const Step& step : steps) {
    std::set<std::size_t> busy;
    for (const auto& flows : step.experiments) {
      std::set<std::size_t> ranks;
      for (const Flow& flow : flows) {
        EXPECT_EQ(clusters.of_rank[flow.from], clusters.of_rank[flow.to]);
        ranks.insert({flow.from, flow.to});
      }
      for (const std::size_t rank : ranks) EXPECT_TRUE(busy.insert(rank).second);
      hubs[step.purpose].insert(step.purpose == Purpose::kFanIn ? flows[0].to : flows[0].from);
    }
  }
  std::vector<std::size_t> all(31);
  std::iota(all.begin(), all.end(), std::size_t{0});
  EXPECT_THAT(hubs[Purpose::kFanOut], ::testing::ElementsAreArray(all));
  EXPECT_THAT(hubs[Purpose::kFanIn], ::testing::ElementsAreArray(all));
  EXPECT_LT(steps.size(), 31U);
}

}  // namespace
}  // namespace espalier::runtime::probe::steps_test
