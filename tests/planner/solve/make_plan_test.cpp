#include "planner/solve/make_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::make_plan_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;  // not planner::run
using namespace ::testing;

//    sw0, s ==1== sw1 ==1== a       nodes 0 and 2 of the platform are relays: the plan numbers
//                  |                only the hosts
//                  +==2== b
class Star : public ::testing::Test {
 protected:
  const platforms::Platform platform_ =
      small_platform({"sw0", "s", "sw1", "a", "b"}, {{"s", "sw1", 1},
                                                     {"sw1", "a", 1},
                                                     {"a", "sw1", 1},
                                                     {"sw1", "b", 2},
                                                     {"sw0", "sw1", 1},
                                                     {"sw1", "sw0", 1}});
  const Instance instance_ = instance_of(platform_, "s");
};

TEST_F(Star, PlanNamesHostsAndTheRelaysBetween) {
  const Plan plan = make_plan(instance_, "chain", run("chain", instance_), Bytes{4096});
  EXPECT_EQ(plan.operation, Operation::kBroadcast);
  EXPECT_EQ(plan.platform, "small");
  EXPECT_EQ(plan.source, "s");
  EXPECT_EQ(plan.model, "one-port");
  EXPECT_EQ(plan.algorithm, "chain");
  EXPECT_THAT(plan.nodes, ElementsAre("s", "a", "b"));
  ASSERT_EQ(plan.broadcast_trees.size(), 1);
  const PlanTree& tree = plan.broadcast_trees[0];
  EXPECT_THAT(tree.edges, ElementsAre(PlanEdge{0, 1}, PlanEdge{1, 2}));
  EXPECT_THAT(tree.via, ElementsAre(Pair(Pair(0, 1), ElementsAre("sw1")),
                                    Pair(Pair(1, 2), ElementsAre("sw1"))));
  EXPECT_DOUBLE_EQ(tree.rate.value, 0.5);
  EXPECT_EQ(plan.throughput, tree.rate);
}

TEST_F(Star, LatenciesAreThoseOfThePath) {
  EXPECT_THAT(
      make_plan(instance_, "chain", run("chain", instance_), Bytes{1}).broadcast_trees[0].latencies,
      ElementsAre());
  std::vector<platforms::Arc> arcs(platform_.arcs().begin(), platform_.arcs().end());
  for (platforms::Arc& arc : arcs) {
    const std::string& to = platform_.node(arc.to).name;
    if (to == "sw1" && platform_.node(arc.from).name == "s") arc.latency = {0.5};
    if (to == "b") arc.latency = {0.25};
  }
  const platforms::Platform far =
      with_figures(platform_, {platform_.nodes().begin(), platform_.nodes().end()}, arcs, {});
  const Instance instance = instance_of(far, "s");
  EXPECT_THAT(
      make_plan(instance, "chain", run("chain", instance), Bytes{1}).broadcast_trees[0].latencies,
      ElementsAre(Seconds{0.5}, Seconds{0.25}));
}

TEST_F(Star, OptimumIsTheBoundWhereOneWasProven) {
  EXPECT_FALSE(make_plan(instance_, "chain", run("chain", instance_), Bytes{1}).optimum);
  const Outcome outcome = run("optimal", instance_);
  const Plan plan = make_plan(instance_, "optimal", outcome, Bytes{1});
  ASSERT_TRUE(plan.optimum.has_value());
  EXPECT_GE(*plan.optimum, plan.throughput);
  EXPECT_NEAR(plan.optimum->value, outcome.bound->value, 1e-6);
}

// A bound slightly below the rates (rounding) must not make the plan contradict itself.
TEST_F(Star, OptimumIsNeverBelowTheThroughput) {
  Outcome outcome = run("chain", instance_);
  outcome.bound = BytesPerSecond{outcome.trees[0].rate.value * (1 - 1e-12)};
  const Plan plan = make_plan(instance_, "optimal", outcome, Bytes{1});
  EXPECT_EQ(*plan.optimum, plan.throughput);
}

TEST_F(Star, SegmentIsThatOfTheInstanceIfSet) {
  EXPECT_EQ(make_plan(instance_, "chain", run("chain", instance_), Bytes{4096}).segment,
            Bytes{4096});
  const Instance segmentd(platform_, instance_.source(), platforms::Model::kOnePort,
                          {Bytes{512}, true});
  const Plan plan = make_plan(segmentd, "chain", run("chain", segmentd), Bytes{4096});
  EXPECT_EQ(plan.segment, Bytes{512});
  EXPECT_TRUE(plan.latency_occupies);
}

TEST(ProveOptimum, IsTheBoundOfTheOptimalPlan) {
  constexpr auto kModel = platforms::Model::kOnePort;
  for_each_platform(3, 20, kModel, [](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(kModel);
    const Outcome proof = prove_optimum(instance, {});
    const Outcome plan = run("optimal", instance);
    EXPECT_NEAR(proof.bound->value / plan.bound->value, 1, 2e-6);
    EXPECT_NEAR(total_rate(proof.trees) / proof.bound->value, 1, 2e-6);
    EXPECT_EQ(proof.ends.worst(), Termination::kDone);
  });
}

TEST(ProveOptimum, ReportsProgressThatBoundsTheOptimum) {
  const auto platform = espalier::testing::sample_platform("cloud-71-regions.json");
  const Instance instance = instance_of(platform, "azure:westeurope");
  std::vector<Progress> seen;
  AlgorithmOptions options;
  options.on_progress = [&](const Progress& progress) { seen.push_back(progress); };
  const Outcome proof = prove_optimum(instance, options);
  for (const Progress& progress : seen) {
    EXPECT_LE(progress.throughput.value, proof.bound->value * (1 + 1e-6));
    EXPECT_GE(progress.bound.value, proof.bound->value * (1 - 1e-6));
    EXPECT_GT(progress.iterations, 0);
  }
}

}  // namespace
}  // namespace espalier::planner::make_plan_test
