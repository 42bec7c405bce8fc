#include "runtime/api/decisions.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/planner/plan/decision_rows.hpp"

namespace espalier::runtime::decisions_test {
namespace {

using planner::Decisions;
using planner::Operation;
using planner::parse_decisions;
using testing::decision_row;
using testing::decision_rows;

// A host for each rank.
Placement ranks(std::size_t number) {
  Placement placement{std::vector<int>(number)};
  std::iota(placement.host_of_rank.begin(), placement.host_of_rank.end(), 0);
  return placement;
}

TEST(Decisions, GivePlansWithTheirSegments) {
  const Decisions decisions =
      parse_decisions(decision_rows({decision_row(4, 1 << 20, "pipeline", 8192),
                                     decision_row(4, 1024, "binomial", 0),
                                     decision_row(4, 65536, "pipeline", 1024)}),
                      "t.json");
  const DecidedPlan pipeline = plan_for(decisions, "pipeline", ranks(5), 3);
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
  const Decisions decisions = parse_decisions(
      decision_rows(
          {decision_row(8, 1000, "split-binary", 0), decision_row(8, 2000, "split-binary", 1000),
           decision_row(8, 3000, "split-binary", 1000), decision_row(8, 4000, "two-tree", 1001),
           decision_row(8, 5000, "two-tree", 5000), decision_row(8, 6000, "linear", 6000),
           decision_row(8, 7'000'000'000, "linear", 6'000'000'000)}),
      "t.json");
  const auto segments = [&](std::string_view algorithm) {
    std::vector<std::uint64_t> bytes;
    for (const TunedSegment& segment : plan_for(decisions, algorithm, ranks(8), 0).segments) {
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
  const Decisions decisions = parse_decisions(
      decision_rows({decision_row(8, 1000, "flat-tree", 0, 0)}, "reduce"), "t.json");
  const DecidedPlan decided = plan_for(decisions, "flat-tree", ranks(8), 7);
  EXPECT_EQ(decided.plan.operation, Operation::kReduce);
  EXPECT_EQ(decided.plan.algorithm, "flat");
  EXPECT_NO_THROW(planner::check_structure(decided.plan));
}

// Two trees serve all three operations; half of each chunk goes along either tree.
TEST(Decisions, OfTwoTreesHaveTreesForEveryOperation) {
  for (const auto operation : {Operation::kReduce, Operation::kAllreduce}) {
    const Decisions decisions = parse_decisions(
        decision_rows({decision_row(8, 1000, "two-tree", 100)}, planner::name_of(operation)),
        "t.json");
    const DecidedPlan decided = plan_for(decisions, "two-tree", ranks(8), 0);
    EXPECT_EQ(decided.plan.operation, operation);
    EXPECT_EQ(decided.plan.reduce_trees.size(), 2U);
    EXPECT_EQ(decided.plan.broadcast_trees.size(), operation == Operation::kReduce ? 0U : 2U);
    EXPECT_EQ(decided.segments.front().segment_bytes, 50U);
    EXPECT_NO_THROW(planner::check_structure(decided.plan));
  }
}

// Hosts 0, 1 and 2 have ranks 0 2 4, 1 5 and 3; rank 5 is the root and leads host 1.
TEST(Decisions, HierarchiesFollowTheHosts) {
  const Placement placement{{0, 1, 0, 2, 0, 1}};
  EXPECT_EQ(placement.among().ranks, 6U);
  EXPECT_EQ(placement.among().ranks_per_host, 2U);
  for (const char* const shape : {"hierarchical-pipeline", "hierarchical-two-tree"}) {
    const Decisions decisions =
        parse_decisions(decision_rows({decision_row(6, 1000, shape, 100)}), "t.json");
    const DecidedPlan decided = plan_for(decisions, shape, placement, 5);
    EXPECT_NO_THROW(planner::check_structure(decided.plan));
    for (const planner::PlanTree& tree : decided.plan.broadcast_trees) {
      std::size_t between_hosts = 0;
      for (const planner::PlanEdge& edge : tree.edges) {
        if (placement.host_of_rank[edge.parent] != placement.host_of_rank[edge.child]) {
          ++between_hosts;
        }
      }
      EXPECT_EQ(between_hosts, 2U);
    }
  }
  const Decisions chain = parse_decisions(
      decision_rows({decision_row(6, 1000, "hierarchical-pipeline", 100)}), "t.json");
  const planner::Plan plan = plan_for(chain, "hierarchical-pipeline", placement, 5).plan;
  EXPECT_EQ(plan.algorithm, "hierarchical-chain");
  EXPECT_EQ(plan.broadcast_trees.at(0).edges,
            (std::vector<planner::PlanEdge>{{5, 0}, {0, 3}, {5, 1}, {0, 2}, {2, 4}}));
}

}  // namespace
}  // namespace espalier::runtime::decisions_test
