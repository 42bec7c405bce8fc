#include "runtime/api/tuned_segments.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "tests/support/refusal.hpp"

namespace espalier::runtime::tuned_segments_test {
namespace {

using ::testing::ElementsAre;
using testing::refusal;

planner::Plan plan() {
  planner::Plan plan;
  plan.platform = "test";
  plan.source = "a";
  plan.model = "one-port";
  plan.algorithm = "by hand";
  plan.nodes = {"a", "b"};
  plan.throughput = {1e6};
  plan.broadcast_trees.push_back({{1e6}, {{0, 1}}, {}});
  return plan;
}

const std::vector<TunedSegment> kSegments = {
    {1000, 100, 0.5}, {4000, 300, 0.25}, {1'000'000, 500, 2}};

TEST(TunedSegments, AreThoseOfTheNearestMessageWithinAFactorOfTwo) {
  EXPECT_EQ(segment_tuned_for(kSegments, 1000), 100U);
  EXPECT_EQ(segment_tuned_for(kSegments, 500), 100U);
  EXPECT_EQ(segment_tuned_for(kSegments, 499), std::nullopt);
  EXPECT_EQ(segment_tuned_for(kSegments, 2000), 100U);  // equally near to both
  EXPECT_EQ(segment_tuned_for(kSegments, 2001), 300U);
  EXPECT_EQ(segment_tuned_for(kSegments, 8000), 300U);
  EXPECT_EQ(segment_tuned_for(kSegments, 8001), std::nullopt);
  EXPECT_EQ(segment_tuned_for(kSegments, 2'000'000), 500U);
  EXPECT_EQ(segment_tuned_for(kSegments, 0), std::nullopt);
  EXPECT_EQ(segment_tuned_for({}, 1000), std::nullopt);
  EXPECT_EQ(segment_tuned_for(kSegments, 499, 3), 100U);
  EXPECT_EQ(segment_tuned_for(kSegments, 1, std::numeric_limits<double>::infinity()), 100U);
}

TEST(TunedSegments, SurviveWritingAndReading) {
  const TunedSegments tuned{identity_of(plan()), 2, 1, kSegments};
  const TunedSegments again = parse_tuned(tuned_json(tuned), "t.json");
  EXPECT_EQ(segments_of(again, identity_of(plan()), 2, 1, "t.json"), kSegments);
  EXPECT_EQ(tuned_json(again), tuned_json(tuned));
}

TEST(TunedSegments, OfAnotherPlanOrOtherRanksAreRefused) {
  const TunedSegments tuned{identity_of(plan()), 2, 1, kSegments};
  planner::Plan faster = plan();
  faster.throughput.value *= 2;
  EXPECT_NE(identity_of(faster), identity_of(plan()));
  const auto refused = [&](const planner::Plan& other, std::size_t ranks, std::size_t hosts) {
    return refusal([&] { return segments_of(tuned, identity_of(other), ranks, hosts, "t.json"); });
  };
  EXPECT_EQ(refused(faster, 2, 1),
            "t.json: /plan: was tuned for another plan or an earlier version of this one; tune "
            "this plan into a new file");
  EXPECT_EQ(refused(plan(), 3, 1), "t.json: /ranks: was tuned with 2 ranks, not 3");
  EXPECT_EQ(refused(plan(), 2, 2), "t.json: /hosts: was tuned with ranks on 1 host, not 2");
}

TEST(TunedSegments, AreMergedInOrder) {
  std::vector<TunedSegment> segments = kSegments;
  merge(segments, std::vector<TunedSegment>{{4000, 7, 1}, {1, 1, 1}, {5000, 8, 1}});
  EXPECT_THAT(segments, ElementsAre(TunedSegment{1, 1, 1}, kSegments[0], TunedSegment{4000, 7, 1},
                                    TunedSegment{5000, 8, 1}, kSegments[2]));
}

TEST(TunedSegments, RefuseInvalidFiles) {
  const auto refused = [](const std::string& segments, const std::string& plan = "0123456789abcdef",
                          const std::string& ranks = "2") {
    const std::string text = R"({"format": "espalier-tuned-slices", "version": 1, "plan": ")" +
                             plan + R"(", "ranks": )" + ranks + R"(, "hosts": 1, "slices": [)" +
                             segments + "]}";
    return refusal([&] { return parse_tuned(text, "t.json"); });
  };
  const auto segment = [](const std::string& message, const std::string& bytes,
                          const std::string& median) {
    return R"({"message_bytes": )" + message + R"(, "slice_bytes": )" + bytes +
           R"(, "median_s": )" + median + "}";
  };
  EXPECT_EQ(refused(segment("1", "1", "0")), "(not refused)");
  EXPECT_EQ(refused(segment("0", "1", "0")), "t.json: /slices/0/message_bytes: must be at least 1");
  EXPECT_EQ(refused(segment("1", "0", "0")), "t.json: /slices/0/slice_bytes: must be at least 1");
  EXPECT_EQ(refused(segment("1", "1073741825", "0")),
            "t.json: /slices/0/slice_bytes: MPI sends at most 1073741824 bytes at once");
  EXPECT_EQ(refused(segment("1", "1", "-1")),
            "t.json: /slices/0/median_s: a time must not be negative");
  EXPECT_EQ(refused(segment("2", "1", "1") + "," + segment("2", "1", "1")),
            "t.json: /slices/1/message_bytes: message sizes must ascend");
  EXPECT_EQ(refused("", "0123456789abcde"),
            "t.json: /plan: expected the 16 hexadecimal digits that identify a plan");
  EXPECT_EQ(refused("", "0123456789abcdeF"),
            "t.json: /plan: expected the 16 hexadecimal digits that identify a plan");
  EXPECT_EQ(refused("", "0123456789abcdef", "0"), "t.json: /ranks: must be at least 1");
  EXPECT_EQ(refusal([] {
              return parse_tuned(R"({"format": "espalier-plan", "version": 1, "plan": "",
                                     "ranks": 1, "hosts": 1, "slices": []})",
                                 "t.json");
            }),
            "t.json: /format: expected 'espalier-tuned-slices'");
}

}  // namespace
}  // namespace espalier::runtime::tuned_segments_test
