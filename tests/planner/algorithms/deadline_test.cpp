// Every algorithm of the registry ends soon after its deadline and says what it cut short. No test
// measures time: each look at the clock takes a second of it, so a limit is a number of looks.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

#include "planner/explain/rank_sources.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/counting_clock.hpp"

namespace espalier::planner::deadline_test {
namespace {

using espalier::testing::algorithm_names;
using espalier::testing::case_name;
using espalier::testing::complete_platform;
using espalier::testing::CountingClock;
using espalier::testing::tree_fault;

constexpr auto kModel = platforms::Model::kOnePort;
constexpr std::size_t kHosts = 1000;
// After the limit: each stage that is left looks once or twice, and so do a few of the tries in it.
constexpr std::size_t kLastLooks = 100;

platforms::Platform star_of(std::size_t hosts) {
  platforms::StarFamily family;
  family.hosts = hosts;
  return platforms::generate_star(family);
}

AlgorithmOptions at_most(std::size_t trees, std::uint32_t depth = 0) {
  AlgorithmOptions options;
  options.max_trees = trees;
  options.max_depth = depth;
  return options;
}

const platforms::Platform& star() {  // through its switch there are a million arcs between hosts
  static const auto platform = star_of(kHosts);
  return platform;
}

const platforms::Platform& sparse() {
  static const auto platform =
      platforms::generate_random({.nodes = kHosts, .density = 0.008, .seed = 1});
  return platform;
}

struct Cut {
  std::size_t looks;
  bool said;  // that the limit was reached
};

Cut run_with(std::size_t limit, const Algorithm& algorithm, const Collective& collective) {
  CountingClock clock;
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{static_cast<double>(limit)}, &clock);
  bool said = false;
  try {
    const Outcome outcome = run(algorithm, collective, options);
    said = outcome.ends.worst() == Termination::kTimeLimit;
    EXPECT_FALSE(outcome.trees.empty() && outcome.reduce_trees.empty());
    for (const WeightedTree& tree : outcome.trees) {
      EXPECT_EQ(tree_fault(*collective.broadcast(), tree.tree, true), "") << algorithm.name;
    }
  } catch (const LimitReached&) {
    said = true;
  }
  return {clock.looks(), said};
}

void expect_limits_hold(const Algorithm& algorithm, const Collective& collective) {
  if (!is_for(algorithm, collective)) return;
  for (const std::size_t limit : {1, 30, 1000}) {
    SCOPED_TRACE(std::to_string(limit) + " looks");
    const Cut cut = run_with(limit, algorithm, collective);
    EXPECT_LE(cut.looks, limit + kLastLooks);
    if (cut.said) {
      EXPECT_GE(cut.looks, limit / 3);  // a stage with a share of the time is cut earlier
    } else {                            // it was about to end
      EXPECT_LE(cut.looks, limit + 10);
    }
    if (cut.looks < limit) return;  // it needs no more
  }
}

class InTime : public ::testing::TestWithParam<std::string> {};

TEST_P(InTime, ALimitHoldsOnAStar) {
  const Collective collective(Operation::kBroadcast, star(), star().hosts().front(), kModel);
  expect_limits_hold(find_algorithm(GetParam()), collective);
  // It looks at all, unless it takes no longer than reading the platform.
  if (GetParam() == "flat") return;
  EXPECT_TRUE(run_with(1, find_algorithm(GetParam()), collective).said);
}

TEST_P(InTime, ALimitHoldsOnASparseNetwork) {
  const Collective collective(Operation::kBroadcast, sparse(), sparse().hosts().front(), kModel);
  expect_limits_hold(find_algorithm(GetParam()), collective);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, InTime, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& of) { return case_name(of.param); });

TEST(Deadlines, HoldForAnAllreduce) {
  const auto platform = star_of(300);
  const Collective collective(Operation::kAllreduce, platform, platform.hosts().front(), kModel);
  for (const Algorithm& algorithm : parse_algorithms("all", Operation::kAllreduce)) {
    SCOPED_TRACE(algorithm.name);
    expect_limits_hold(algorithm, collective);
  }
}

// n looks of 65,536 steps each: the cubic version took one per host and arc.
TEST(Deadlines, PruneRefinedIsAboutLinearInTheArcs) {
  for (const std::size_t hosts : {200, 400}) {
    const auto platform = star_of(hosts);
    const Instance instance(platform, platform.hosts().front(), kModel);
    const lp::HostArcs arcs = instance.fastest_host_arcs();
    CountingClock clock;
    AlgorithmOptions options;
    options.arcs = &arcs;
    options.deadline = Deadline(std::nullopt, &clock);
    static_cast<void>(find_algorithm("prune-refined").run(instance, options));
    EXPECT_LE(clock.looks() * 65'536, 150 * arcs.size()) << hosts;
  }
}

// A packing that is given is complete, so only later stages can be cut short.
class Stages : public ::testing::Test {
 protected:
  Outcome cut(std::string_view algorithm, AlgorithmOptions options) {
    options.packing = &packing_;
    options.deadline = Deadline(Seconds{0});
    return find_algorithm(algorithm).run(instance_, options);
  }
  platforms::Platform platform_ =
      platforms::generate_random({.nodes = 40, .density = 0.2, .seed = 3});
  Instance instance_{platform_, platform_.hosts().front(), platforms::Model::kMultiPort};
  lp::Packing packing_ = solve_packing(instance_, {});
};

TEST_F(Stages, ACutSearchForFewTreesSaysSo) {
  ASSERT_GT(packing_.trees.size(), 1U);
  const Ends ends = cut("optimal", at_most(2)).ends;
  EXPECT_EQ(ends.packing, Termination::kDone);
  EXPECT_EQ(ends.few, Termination::kTimeLimit);
  EXPECT_EQ(ends.worst(), Termination::kTimeLimit);
  EXPECT_TRUE(ends.is_bound_final());
}

TEST_F(Stages, ACutSearchForShallowTreesSaysSo) {
  const Ends depth = cut("optimal", at_most(0, 4)).ends;
  EXPECT_EQ(depth.packing, Termination::kDone);
  EXPECT_EQ(depth.shallow, Termination::kTimeLimit);
  AlgorithmOptions far;
  far.max_latency = Seconds{1};
  const Ends latency = cut("optimal", far).ends;
  EXPECT_EQ(latency.worst(), Termination::kTimeLimit);
}

TEST_F(Stages, ACutSearchForATreeSaysSo) {
  EXPECT_EQ(cut("best-tree", {}).ends.search, Termination::kTimeLimit);
  EXPECT_EQ(cut("exact-tree", {}).ends.proof, Termination::kTimeLimit);
}

TEST_F(Stages, AnUnfinishedBoundIsNotFinal) {
  for (const std::string_view algorithm : {"optimal", "lp-grow", "lp-prune", "best-tree"}) {
    AlgorithmOptions options;
    options.deadline = Deadline(Seconds{0});
    const Outcome outcome = find_algorithm(algorithm).run(instance_, options);
    EXPECT_TRUE(outcome.bound.has_value()) << algorithm;
    EXPECT_FALSE(outcome.ends.is_bound_final()) << algorithm;
    EXPECT_EQ(outcome.ends.worst(), Termination::kTimeLimit) << algorithm;
  }
}

TEST_F(Stages, APartOfAHierarchyThatIsCutSaysSo) {
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{0});
  const Outcome outcome = find_algorithm("hierarchical:lp-grow").run(instance_, options);
  EXPECT_EQ(outcome.ends.worst(), Termination::kTimeLimit);
}

TEST(Deadlines, ATreeLimitIsNotMistakenForATimeLimit) {
  const auto platform = platforms::generate_random({.nodes = 20, .density = 0.3, .seed = 3});
  const Instance instance(platform, platform.hosts().front(), platforms::Model::kMultiPort);
  const Outcome outcome = find_algorithm("optimal").run(instance, at_most(1));
  EXPECT_EQ(outcome.ends.packing, Termination::kDone);
  EXPECT_EQ(outcome.ends.worst(), Termination::kTreeLimit);
}

TEST(Deadlines, SourcesWhoseTurnDoesNotComeAreNamed) {
  const auto platform = complete_platform(5, 1);
  CountingClock clock;
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{1}, &clock);
  const auto ranking =
      rank_sources(Operation::kBroadcast, platform, platform.hosts(), kModel, {}, options);
  ASSERT_EQ(ranking.size(), 5U);
  EXPECT_GT(ranking[0].optimum.value, 0);
  EXPECT_EQ(ranking[0].error, "");
  EXPECT_EQ(ranking[1].error, "5 equal hosts: the time limit was reached before the turn of 'n1'");
  EXPECT_EQ(ranking[1].termination, Termination::kTimeLimit);
}

}  // namespace
}  // namespace espalier::planner::deadline_test
