#include "runtime/api/decisions.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "tests/support/refusal.hpp"

namespace espalier::runtime::decisions_test {
namespace {

using planner::Operation;
using testing::refusal;

std::string row(std::uint64_t ranks, std::uint64_t message, std::string_view algorithm,
                std::uint64_t segment, double seconds = 1e-3) {
  return fmt::format(
      R"({{"ranks": {}, "message_bytes": {}, "algorithm": "{}", "segment_bytes": {}, "predicted_s": {}}})",
      ranks, message, algorithm, segment, seconds);
}

// As written by decide, with keys that are not used here.
std::string table(const std::vector<std::string>& rows, std::string_view operation = "broadcast") {
  return fmt::format(R"({{"operation": "{}", "model": "loggp", "network": "x", "rows": [{}]}})",
                     operation, fmt::join(rows, ", "));
}

Decisions some() {
  return parse_decisions(table({row(32, 1024, "linear", 0), row(4, 1 << 20, "pipeline", 8192),
                                row(4, 1024, "binomial", 0), row(4, 0, "linear", 0),
                                row(4, 65536, "pipeline", 1024), row(9, 1024, "split-binary", 0)}),
                         "t.json");
}

std::string choice(std::uint32_t ranks, std::uint64_t bytes) {
  static const Decisions decisions = some();
  const Decision& decision = decision_for(decisions, ranks, bytes);
  return fmt::format("{} {} {}/{}", decision.ranks, decision.message_bytes, decision.algorithm,
                     decision.segment_bytes);
}

TEST(Decisions, UseTheNearestRanksByRatioThenTheNearestMessage) {
  EXPECT_EQ(choice(4, 1024), "4 1024 binomial/0");
  EXPECT_EQ(choice(1, 1024), "4 1024 binomial/0");
  EXPECT_EQ(choice(6, 1024), "4 1024 binomial/0");  // 4 * 1.5 = 6; 6 * 1.5 = 9: equally near
  EXPECT_EQ(choice(7, 1), "9 1024 split-binary/0");
  EXPECT_EQ(choice(5, 1024), "4 1024 binomial/0");
  EXPECT_EQ(choice(16, 7), "9 1024 split-binary/0");
  EXPECT_EQ(choice(17, 7), "32 1024 linear/0");  // 17/9 > 32/17
  EXPECT_EQ(choice(4'000'000'000, 7), "32 1024 linear/0");
  EXPECT_EQ(choice(4, 0), "4 0 linear/0");
  EXPECT_EQ(choice(4, 22), "4 0 linear/0");  // between half a byte and 1024 the midpoint is 22.6
  EXPECT_EQ(choice(4, 23), "4 1024 binomial/0");
  EXPECT_EQ(choice(4, 8192), "4 1024 binomial/0");  // equally near
  EXPECT_EQ(choice(4, 8193), "4 65536 pipeline/1024");
  EXPECT_EQ(choice(4, std::numeric_limits<std::uint64_t>::max()), "4 1048576 pipeline/8192");
}

TEST(Decisions, GivePlansWithTheirSegments) {
  const DecidedPlan pipeline = plan_for(some(), "pipeline", 5, 3);
  EXPECT_EQ(pipeline.plan.algorithm, "chain");
  EXPECT_EQ(pipeline.plan.nodes.size(), 5U);
  EXPECT_EQ(pipeline.plan.source, "rank3");
  EXPECT_NO_THROW(planner::check_structure(pipeline.plan));
  EXPECT_DOUBLE_EQ(pipeline.plan.throughput.value, (1 << 20) / 1e-3);  // the higher of two rates
  EXPECT_EQ(pipeline.segments,
            (std::vector<TunedSegment>{{65536, 1024, 1e-3}, {1 << 20, 8192, 1e-3}}));
  CollectiveOptions options;
  follow(pipeline, options);
  EXPECT_EQ(options.tuned, pipeline.segments);
  EXPECT_FALSE(options.direct_copies);
  EXPECT_EQ(segment_tuned_for(options.tuned, 1, options.tuned_within), 1024U);
}

// Unsegmented messages, halves of messages, and chunks of both trees.
TEST(Decisions, SegmentsAreThoseOfTheFormulas) {
  const Decisions decisions =
      parse_decisions(table({row(8, 1000, "split-binary", 0), row(8, 2000, "split-binary", 1000),
                             row(8, 3000, "split-binary", 1000), row(8, 4000, "two-tree", 1001),
                             row(8, 5000, "two-tree", 5000), row(8, 6000, "linear", 6000),
                             row(8, 7'000'000'000, "linear", 6'000'000'000)}),
                      "t.json");
  const auto segments = [&](std::string_view algorithm) {
    std::vector<std::uint64_t> bytes;
    for (const TunedSegment& segment : plan_for(decisions, algorithm, 8, 0).segments) {
      bytes.push_back(segment.segment_bytes);
    }
    return bytes;
  };
  EXPECT_THAT(segments("split-binary"), ::testing::ElementsAre(0, 0, 1000));
  EXPECT_THAT(segments("two-tree"), ::testing::ElementsAre(501, 0));
  EXPECT_THAT(segments("linear"), ::testing::ElementsAre(0, 0));
  EXPECT_EQ(undivided_segment(1001, 2), 501U);
  EXPECT_EQ(undivided_segment(0, 2), 1U);
  EXPECT_EQ(undivided_segment(std::uint64_t{1} << 40, 1), 1U << 30U);
}

TEST(Decisions, OfReductionsHaveReduceTrees) {
  const Decisions decisions =
      parse_decisions(table({row(8, 1000, "flat-tree", 0, 0)}, "reduce"), "t.json");
  const DecidedPlan decided = plan_for(decisions, "flat-tree", 8, 7);
  EXPECT_EQ(decided.plan.operation, Operation::kReduce);
  EXPECT_EQ(decided.plan.algorithm, "flat");
  EXPECT_NO_THROW(planner::check_structure(decided.plan));
}

// Two trees serve all three operations; half of each chunk goes along either tree.
TEST(Decisions, OfTwoTreesHaveTreesForEveryOperation) {
  for (const auto operation : {Operation::kReduce, Operation::kAllreduce}) {
    const Decisions decisions = parse_decisions(
        table({row(8, 1000, "two-tree", 100)}, planner::name_of(operation)), "t.json");
    const DecidedPlan decided = plan_for(decisions, "two-tree", 8, 0);
    EXPECT_EQ(decided.plan.operation, operation);
    EXPECT_EQ(decided.plan.reduce_trees.size(), 2U);
    EXPECT_EQ(decided.plan.broadcast_trees.size(), operation == Operation::kReduce ? 0U : 2U);
    EXPECT_EQ(decided.segments.front().segment_bytes, 50U);
    EXPECT_NO_THROW(planner::check_structure(decided.plan));
  }
}

TEST(Decisions, BadTablesAreRefused) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { return parse_decisions(text, "t.json"); });
  };
  EXPECT_EQ(refused(table({}, "alltoall")),
            "t.json: /operation: 'alltoall' has no plans; use a table for broadcast, reduce or "
            "allreduce");
  EXPECT_EQ(refused(table({})), "t.json: /rows: the table is empty");
  EXPECT_EQ(refused(table({row(4, 1, "lineer", 0)})),
            "t.json: /rows/0/algorithm: unknown algorithm 'lineer'; did you mean 'linear'? one of: "
            "linear, pipeline, binomial, binary, split-binary, two-tree");
  EXPECT_EQ(refused(table({row(4, 1, "split-binary", 0)}, "reduce")),
            "t.json: /rows/0/algorithm: unknown algorithm 'split-binary'; one of: flat-tree, "
            "pipeline, binomial, binary, two-tree");
  EXPECT_EQ(refused(table({row(0, 1, "linear", 0)})),
            "t.json: /rows/0/ranks: 0 is not in 1 to 2147483647");
  EXPECT_EQ(refused(table({row(4, 1, "linear", 0, -1)})),
            "t.json: /rows/0/predicted_s: a time must not be negative");
  EXPECT_EQ(
      refused(table({row(4, 1, "linear", 0), row(5, 1, "linear", 0), row(4, 1, "binomial", 0)})),
      "t.json: /rows/2: 1 bytes on 4 ranks appear twice; write the table with espalier decide "
      "without --every");
  EXPECT_EQ(refused(R"({"operation": "broadcast", "rows": [{"ranks": 4}]})"),
            "t.json: /rows/0: the key 'message_bytes' is missing");
}

}  // namespace
}  // namespace espalier::runtime::decisions_test
