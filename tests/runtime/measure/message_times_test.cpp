#include "runtime/measure/message_times.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/runtime/measure/calculated_network.hpp"

namespace espalier::runtime::probe::message_times_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

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
  const std::vector<PairTimes> timed = time_pairs(network, pairs, options);
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
  time_pairs(network, std::vector<Flow>{{0, 1}}, {});
  EXPECT_LT(network.seconds, 25);
}

}  // namespace
}  // namespace espalier::runtime::probe::message_times_test
