#include "runtime/measure/message_times.hpp"

#include <gmock/gmock.h>

#include <set>

#include "runtime/measure/messages/beyond_pairs.hpp"
#include "tests/runtime/measure/calculated_network.hpp"

namespace espalier::runtime::probe::message_times_test {
namespace {

using testing::CalculatedNetwork;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Truth;

TEST(SamplePairs, BelongToTheClassAndAreSpreadOverAllPairs) {
  const std::vector<std::string> hosts = {"a", "b", "a"};
  const PairSample within = sample_pairs(hosts, PairClass::kWithinHost, 8);
  EXPECT_THAT(within.pairs, ElementsAre(Flow{0, 2}, Flow{2, 0}));
  EXPECT_EQ(within.of, 2U);
  const PairSample between = sample_pairs(hosts, PairClass::kBetweenHosts, 2);
  EXPECT_THAT(between.pairs, ElementsAre(Flow{0, 1}, Flow{1, 2}));
  EXPECT_EQ(between.of, 4U);
  EXPECT_THAT(sample_pairs(std::vector<std::string>{"a", "a"}, PairClass::kBetweenHosts, 2).pairs,
              IsEmpty());
  const std::vector<std::string> many(100, "host");
  const PairSample some = sample_pairs(many, PairClass::kWithinHost, 8);
  std::set<std::size_t> senders;
  for (const Flow& pair : some.pairs) senders.insert(pair.from);
  EXPECT_EQ(senders.size(), 8U);
  EXPECT_EQ(some.of, 9900U);
}

TEST(SizesToTime, AscendFromOneToTheLargest) {
  EXPECT_THAT(sizes_to_time(4096), ElementsAre(1, 64, 256, 1024, 2048, 4096));
  EXPECT_THAT(sizes_to_time(3000), ElementsAre(1, 64, 256, 1024, 2048, 3000));
  EXPECT_THAT(sizes_to_time(64), ElementsAre(1, 64));
  EXPECT_THAT(sizes_to_time(2), ElementsAre(1, 2));
}

// Two pairs at 1 MB/s, one at 4 MB/s: the median is the network's value.
TEST(TimePairs, MeasureTheNetwork) {
  CalculatedNetwork network(Truth{{{0, 1e6, 1e6}, {4e6, 0, 1e6}, {1e6, 1e6, 0}}, {}, {}, {}, {}}, 0,
                            1);
  std::vector<std::size_t> told;
  MessageOptions options;
  options.largest_bytes = 4096;
  options.on_progress = [&](const Progress& now) {
    told.push_back(now.done);
    EXPECT_EQ(now.planned, 3U);
  };
  const std::vector<Flow> pairs = {{0, 1}, {1, 0}, {1, 2}};
  Repeats repeats;
  const std::vector<PairTimes> timed = time_pairs(network, pairs, options, repeats);
  EXPECT_THAT(repeats.deviations(), IsEmpty());
  EXPECT_THAT(told, ElementsAre(0, 1, 2));
  ASSERT_EQ(timed.size(), 3U);
  EXPECT_EQ(timed[1].flow, pairs[1]);
  EXPECT_DOUBLE_EQ(timed[1].sizes.back().times.round_trip_s, 200e-6 + 4095 / 4e6);
  const PairTimes middle = typical(timed);
  EXPECT_DOUBLE_EQ(middle.gap_s, CalculatedNetwork::kGap_s);
  ASSERT_EQ(middle.sizes.size(), 6U);
  EXPECT_EQ(middle.sizes[0].bytes, 1U);
  EXPECT_DOUBLE_EQ(middle.sizes[0].times.round_trip_s, 200e-6);
  EXPECT_DOUBLE_EQ(middle.sizes[3].times.round_trip_s, 200e-6 + 1023e-6);
  EXPECT_DOUBLE_EQ(middle.sizes[3].times.send_s, 1.5e-6 + 1023e-6 / 4);
  EXPECT_DOUBLE_EQ(middle.sizes[3].times.receive_s, 0.75e-6 + 1023e-6 / 8);
}

// A megabyte at 1 MB/s takes a second: three messages per turn, three turns, and the smaller sizes.
TEST(TimePairs, SendFewLongMessagesOnSlowNetworks) {
  CalculatedNetwork network(Truth{{{0, 1e6}, {1e6, 0}}, {}, {}, {}, {}}, 0.1, 7);
  Repeats repeats;
  time_pairs(network, std::vector<Flow>{{0, 1}}, {}, repeats);
  EXPECT_LT(network.seconds, 25);
}

// Without noise ten runs agree; with up to 60 % none of the three attempts of 20 does.
TEST(TimePairs, AreSteadyIfTheNetworkIs) {
  MessageOptions options;
  options.largest_bytes = 64;
  for (const double noise : {0.0, 0.6}) {
    CalculatedNetwork network(Truth{{{0, 1e6}, {1e6, 0}}, {}, {}, {}, {}}, noise, 3);
    Repeats repeats(Statistics::kSteady);
    time_pairs(network, std::vector<Flow>{{0, 1}}, options, repeats);
    ASSERT_EQ(repeats.deviations().size(), 7U);  // the gap, and three of each of two sizes
    EXPECT_EQ(repeats.deviations()[0].name, "gap from rank 0 to rank 1");
    EXPECT_EQ(repeats.deviations()[5].name, "sending of 64 B from rank 0 to rank 1");
    for (const Repeats::Deviation& one : repeats.deviations()) {
      EXPECT_EQ(one.is_steady, noise == 0) << one.name << ' ' << one.relative;
      EXPECT_EQ(one.relative < 1e-12, noise == 0) << one.name;
    }
  }
}

TEST(TimeCombining, IsTheMedianOverTheRanks) {
  CalculatedNetwork network(Truth::star({1e6, 1e6, 1e6, 1e6}), 0, 1);
  Repeats repeats;
  const std::vector<Flow> pairs = {{3, 0}, {0, 1}};
  const std::vector<std::size_t> ranks = ranks_of(pairs);
  EXPECT_THAT(ranks, ElementsAre(0, 1, 3));
  const std::vector<Combining> seen = time_combining(network, ranks, repeats, {});
  ASSERT_EQ(seen.size(), 2U);
  for (const Combining& size : seen) {
    EXPECT_DOUBLE_EQ(size.s_per_byte, 2 * CalculatedNetwork::kCombining_s_per_byte);
  }
  EXPECT_EQ(seen[0].bytes, 65536U);
}

TEST(Destinations, AreOnAsManyHostsAsPossible) {
  const std::vector<std::string> hosts = {"a", "a", "b", "b", "c", "a"};
  EXPECT_THAT(destinations_of(hosts, 1, false), ElementsAre(2, 4, 3));
  EXPECT_THAT(destinations_of(hosts, 1, true), ElementsAre(0, 5));
  EXPECT_EQ(destinations_of(std::vector<std::string>(1000, "a"), 999, true).size(), 256U);
}

TEST(GapsInTurn, DependOnTheNumberOfDestinations) {
  CalculatedNetwork network(Truth::star({1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}), 0, 1);
  Repeats repeats;
  const std::vector<std::size_t> to = {1, 2, 3, 4, 5, 6};
  const std::vector<GapInTurn> gaps =
      time_gaps_in_turn(network, 0, to, std::vector<std::uint64_t>{1, 1001}, repeats, {});
  ASSERT_EQ(gaps.size(), 8U);
  const std::size_t destinations[] = {1, 2, 4, 6};
  const double times[] = {1, 2, 4, 4};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(gaps[i].destinations, destinations[i / 2]);
    EXPECT_EQ(gaps[i].bytes, i % 2 == 0 ? 1U : 1001U);
    EXPECT_DOUBLE_EQ(gaps[i].gap_s,
                     times[i / 2] * CalculatedNetwork::kGap_s + (i % 2 == 0 ? 0 : 1e-3));
  }
  EXPECT_THAT(time_gaps_in_turn(network, 0, {}, std::vector<std::uint64_t>{1}, repeats, {}),
              IsEmpty());
}

}  // namespace
}  // namespace espalier::runtime::probe::message_times_test
