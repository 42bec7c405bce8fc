#include "runtime/pull/kept_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/refusal.hpp"

namespace espalier::testing::kept_network_test {
namespace {

using runtime::KeptNetwork;
using runtime::LearntNetwork;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kNames{"b", "a", "c"};

KeptNetwork example() {
  return {
      kNames,
      {{10e6, 0, 1.5e6}, {3e6, 4e6, 0}, {0, 1e6, 2e6, 0, 0, 0, 0, 3e6, 0}, {{{0, 2}, true, 5e6}}},
      planner::Operation::kAllgather,
      1 << 26,
      9e6,
      1.8e9,
      1};
}

TEST(KeptNetwork, ComesBackFromItsFile) {
  const std::string text = to_json(example());
  EXPECT_EQ(to_json(runtime::parse_kept_network(text, "f", kNames)), text);
}

// Of version 0.1.
TEST(KeptNetwork, WithoutAnOperationItIsOfABroadcast) {
  std::string text = to_json(example());
  const std::string operation = R"("operation": "allgather",)";
  ASSERT_NE(text.find(operation), std::string::npos);
  text.erase(text.find(operation), operation.size());
  EXPECT_EQ(runtime::parse_kept_network(text, "f", kNames).operation,
            planner::Operation::kBroadcast);
}

// The hosts meet in another order.
TEST(KeptNetwork, FollowsTheNamesOfTheRanks) {
  const std::vector<std::string> names{"a", "b", "c"};
  const KeptNetwork kept = runtime::parse_kept_network(to_json(example()), "f", names);
  EXPECT_THAT(kept.network.send_Bps, ElementsAre(0, 10e6, 1.5e6));
  EXPECT_THAT(kept.network.receive_Bps, ElementsAre(4e6, 3e6, 0));
  EXPECT_THAT(kept.network.link_Bps, ElementsAre(0, 0, 0, 1e6, 0, 2e6, 3e6, 0, 0));
  ASSERT_EQ(kept.network.cuts.size(), 1U);
  EXPECT_THAT(kept.network.cuts[0].ranks, ElementsAre(1, 2));
  EXPECT_EQ(runtime::kept_file_name(names), runtime::kept_file_name(kNames));
  EXPECT_NE(runtime::kept_file_name({"a", "b"}), runtime::kept_file_name({"ab"}));
}

TEST(KeptNetwork, RefusesWhatIsNotOne) {
  const std::string good = to_json(example());
  const auto refused = [](const std::string& text) {
    return refusal([&] { return runtime::parse_kept_network(text, "f", kNames); });
  };
  const auto with = [&](const std::string& old, const std::string& changed) {
    std::string text = good;
    text.replace(text.find(old), old.size(), changed);
    return text;
  };
  EXPECT_THAT(refused(good.substr(0, good.size() / 2)), HasSubstr("f: "));
  EXPECT_THAT(refused(with("espalier-learnt", "espalier-plan")), HasSubstr("f: /format: "));
  EXPECT_THAT(refused(with("\"version\": 1", "\"version\": 2")), HasSubstr("f: /version: "));
  EXPECT_THAT(refused(with("\"a\"", "\"d\"")), HasSubstr("f: /nodes/1: is for other ranks"));
  EXPECT_THAT(refused(with("\"a\"", "\"b\"")), HasSubstr("f: /nodes/1: "));
  EXPECT_THAT(refused(with("[0, 1, ", "[0, 3, ")), HasSubstr("f: /links/0/1: there are 3 nodes"));
  EXPECT_THAT(refused(with("[0, 1, ", "[0, 0, ")), HasSubstr("f: /links/0: leads to"));
  EXPECT_THAT(refused(with("[0, 1, ", "[0, 1, -")), HasSubstr("f: /links/0/2: a rate is"));
  EXPECT_THAT(refused(with("\"nodes\": [0, 2]", "\"nodes\": [0, 1, 2]")),
              HasSubstr("f: /cuts/0: "));
  EXPECT_THAT(refused(with("\"inward\"", "\"outward\"")), HasSubstr("f: /cuts/0"));
  const std::vector<std::string> more{"a", "b", "c", "d"};
  EXPECT_THAT(refusal([&] { return runtime::parse_kept_network(good, "f", more); }),
              HasSubstr("f: /nodes: is for fewer ranks"));
}

TEST(KeptNetwork, RanksOfAHostAreNumbered) {
  const std::vector<std::string> hosts{"x", "y", "x", "x"};
  EXPECT_THAT(runtime::names_on_hosts(hosts), ElementsAre("x", "y", "x:2", "x:3"));
}

TEST(KeptNetwork, EarlierMeasurementsFade) {
  const LearntNetwork earlier{{8e6, 8e6}, {0, 6e6}, {0, 4e6, 2e6, 0}, {{{1}, true, 1e6}}};
  const LearntNetwork newest{{4e6, 10e6}, {0, 6e6}, {0, 5e6, 0, 0}, {}};
  const LearntNetwork at_once = runtime::combined(earlier, newest, Seconds{0});
  EXPECT_THAT(at_once.send_Bps, ElementsAre(6e6, 10e6));       // half the excess stays
  EXPECT_THAT(at_once.link_Bps, ElementsAre(0, 5e6, 2e6, 0));  // the unused link keeps its rate
  EXPECT_TRUE(at_once.cuts.empty());
  const LearntNetwork next_day = runtime::combined(earlier, newest, Seconds{86400});
  EXPECT_DOUBLE_EQ(next_day.send_Bps[0], 5e6);
  EXPECT_NEAR(runtime::combined(earlier, newest, Seconds{1e9}).send_Bps[0], 4e6, 1);
}

}  // namespace
}  // namespace espalier::testing::kept_network_test
