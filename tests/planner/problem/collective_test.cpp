// Properties of every algorithm of the registry that serves a reduction, under every model, on
// every kind of platform; and cases with known answers.
#include "planner/problem/collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/solve/make_plan.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/collectives.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::collective_test {
namespace {

using namespace espalier::testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kTolerance = 1e-6;
constexpr std::size_t kMostHosts = 12;

template <class Check>
void for_each_collective(Operation operation, std::uint64_t seeds, platforms::Model model,
                         Check check) {
  int checked = 0;
  for_each_platform(operation, draws(seeds), kMostHosts, model,
                    [&](const DrawnPlatform& drawn, const auto& trace) {
                      SCOPED_TRACE(trace);
                      ++checked;
                      check(drawn.under(model, operation));
                    });
  EXPECT_GE(checked, 5);
}

// Follows the plan's trees by names alone: each edge along existing links, in the direction of the
// data. Adds up their loads.
void follow(const Plan& plan, const std::vector<PlanTree>& trees, bool up,
            const platforms::Platform& platform, const PlainModel& plain, PlainModel::Load& load) {
  for (const PlanTree& tree : trees) {
    ASSERT_EQ(tree.edges.size(), plan.nodes.size() - 1);
    for (const auto [parent, child] : tree.edges) {
      std::vector<std::string> path{plan.nodes[up ? child : parent]};
      if (const auto via = tree.via.find({parent, child}); via != tree.via.end()) {
        path.insert(path.end(), via->second.begin(), via->second.end());
      }
      path.push_back(plan.nodes[up ? parent : child]);
      for (std::size_t i = 1; i < path.size(); ++i) {
        const auto arc =
            platform.find_arc(*platform.find_node(path[i - 1]), *platform.find_node(path[i]));
        ASSERT_TRUE(arc) << path[i - 1] << " -> " << path[i];
        plain.add(std::vector{static_cast<std::uint32_t>(*arc)}, tree.rate.value, load);
      }
    }
  }
}

void expect_plan_holds(const Collective& collective, const Outcome& outcome,
                       std::string_view algorithm) {
  const Plan made = make_plan(collective, algorithm, outcome, Bytes{1 << 20});
  const Plan plan = parse_plan(to_json(made), "plan.json");
  EXPECT_EQ(plan.operation, collective.operation());
  ASSERT_NO_THROW(check_structure(plan));
  const PlainModel plain(collective.platform(), collective.model(), collective.options());
  PlainModel::Load load = plain.no_load();
  follow(plan, plan.reduce_trees, true, collective.platform(), plain, load);
  follow(plan, plan.broadcast_trees, false, collective.platform(), plain, load);
  EXPECT_LE(busiest(load), 1 + kTolerance);
  EXPECT_GE(busiest(load), 1 - 1e-5);  // nothing could be scaled up
  EXPECT_NEAR(throughput_of(outcome).value / plan.throughput.value, 1, kTolerance);
  const VerifyReport report = verify(plan, collective.platform());
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_NEAR(report.busiest_load, busiest(load), 1e-9);
  EXPECT_EQ(report.trees, outcome.trees.size() + outcome.reduce_trees.size());
}

class EveryReduction
    : public ::testing::TestWithParam<std::tuple<Operation, std::string, std::string>> {
 protected:
  static Operation operation() { return std::get<0>(GetParam()); }
  static Algorithm algorithm() { return find_algorithm(std::get<1>(GetParam()), operation()); }
  static platforms::Model model() { return platforms::parse_model(std::get<2>(GetParam())); }
};

TEST_P(EveryReduction, MakesValidPlansThatStayUnderTheBound) {
  for_each_collective(operation(), 2, model(), [](const Collective& collective) {
    if (!is_for(algorithm(), collective)) return;
    AlgorithmOptions options;
    if (algorithm().entry->exponential) options.deadline = Deadline(Seconds{0.2});
    const Outcome outcome = run(algorithm(), collective, options);
    EXPECT_EQ(outcome.trees.empty(), operation() == Operation::kReduce);
    EXPECT_FALSE(outcome.reduce_trees.empty());
    expect_plan_holds(collective, outcome, algorithm().name);
    const Outcome proof = prove_optimum(collective, {});
    EXPECT_LE(throughput_of(outcome).value, proof.bound->value * (1 + kTolerance));
    if (outcome.bound) {
      EXPECT_LE(throughput_of(outcome).value, outcome.bound->value * (1 + kTolerance));
    }
    if (outcome.single_tree_bound) {
      EXPECT_LE(throughput_of(outcome).value, outcome.single_tree_bound->value * (1 + kTolerance));
    }
  });
}

std::vector<std::tuple<Operation, std::string, std::string>> all_reductions() {
  std::vector<std::tuple<Operation, std::string, std::string>> all;
  for (const Operation operation : {Operation::kReduce, Operation::kAllreduce}) {
    for (const std::string& algorithm : algorithm_names(operation)) {
      for (const std::string& model : model_names()) all.emplace_back(operation, algorithm, model);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryReduction, ::testing::ValuesIn(all_reductions()),
                         [](const auto& instance) {
                           return std::string(name_of(std::get<0>(instance.param))) + "_" +
                                  case_name(std::get<1>(instance.param)) + "_" +
                                  case_name(std::get<2>(instance.param));
                         });

class ReductionModel : public ::testing::TestWithParam<std::string> {
 protected:
  static platforms::Model model() { return platforms::parse_model(GetParam()); }
};

double proven(const Collective& collective) {
  const Outcome proof = prove_optimum(collective, {});
  EXPECT_EQ(proof.ends.worst(), Termination::kDone);
  EXPECT_LE(proof.bound->value, throughput_of(proof).value * (1 + kTolerance));
  return throughput_of(proof).value;
}

// Multi-port occupies senders and not receivers; reversing the arcs alone would swap the two.
TEST_P(ReductionModel, OptimumIsTheBroadcastsOnTheReversedPlatform) {
  if (model() == platforms::Model::kMultiPort) GTEST_SKIP() << "only senders are occupied";
  for_each_collective(Operation::kReduce, 3, model(), [](const Collective& collective) {
    const platforms::Platform reversed = platforms::reversed(collective.platform()).platform;
    const Collective broadcast(Operation::kBroadcast, reversed, collective.source(), model(),
                               collective.options());
    EXPECT_NEAR(proven(collective) / proven(broadcast), 1, 2 * kTolerance);
  });
}

TEST_P(ReductionModel, AllreduceLiesBetweenHalfTheHarmonicMeanAndTheSlowerHalf) {
  for_each_collective(Operation::kAllreduce, 3, model(), [](const Collective& both) {
    const auto alone = [&](Operation operation) {
      return proven({operation, both.platform(), both.source(), model(), both.options()});
    };
    const double reduce = alone(Operation::kReduce);
    const double broadcast = alone(Operation::kBroadcast);
    const double allreduce = proven(both);
    EXPECT_LE(allreduce, std::min(reduce, broadcast) * (1 + 2 * kTolerance));
    // The two halves alternate.
    EXPECT_GE(allreduce, 1 / (1 / reduce + 1 / broadcast) * (1 - 2 * kTolerance));
  });
}

// Any prices y prove sum(y) / mincost(y), and these are of the platform's own rows.
TEST_P(ReductionModel, PricesAreSharesOfThePlatformsResources) {
  for (const Operation operation : {Operation::kReduce, Operation::kAllreduce}) {
    for_each_collective(operation, 1, model(), [](const Collective& collective) {
      const Outcome proof = prove_optimum(collective, {});
      const Plan plan = make_plan(collective, "optimal", proof, Bytes{1 << 20});
      const VerifyReport report = verify(plan, collective.platform(), {.prove = false});
      double sum = 0;
      double used = 0;  // only resources that the optimum fills have prices
      for (const PricedResource& priced : proof.prices) {
        ASSERT_LT(priced.row, report.loads.size());
        sum += priced.price;
        used += priced.price * report.loads[priced.row];
      }
      EXPECT_NEAR(sum, 1, 1e-9);
      EXPECT_NEAR(used, 1, 1e-5);
    });
  }
}

TEST_P(ReductionModel, GivesTheSameResultTwice) {
  for_each_collective(Operation::kAllreduce, 1, model(), [](const Collective& collective) {
    const Algorithm optimal = find_algorithm("optimal", Operation::kAllreduce);
    const Outcome one = run(optimal, collective, {});
    const Outcome two = run(optimal, collective, {});
    EXPECT_EQ(to_json(make_plan(collective, "optimal", one, Bytes{1})),
              to_json(make_plan(collective, "optimal", two, Bytes{1})));
  });
}

INSTANTIATE_TEST_SUITE_P(Models, ReductionModel, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

std::string infeasibility(Operation operation, const platforms::Platform& platform) {
  try {
    static_cast<void>(over(platform, operation));
  } catch (const InfeasibleError& fault) {
    return fault.what();
  }
  return "(feasible)";
}

// s <- a <- b only, at 4 B/s and 2 B/s: a reduction is possible, a broadcast is not.
platforms::Platform one_way() {
  return small_platform({"s", "a", "b"}, {{"a", "s", 0.25}, {"b", "a", 0.5}});
}

TEST(OneWayLinks, AReduceIsPossibleWhereABroadcastIsNot) {
  const platforms::Platform platform = one_way();
  EXPECT_NEAR(rate_of(over(platform, Operation::kReduce), "optimal"), 2, 1e-6);
  const Outcome outcome =
      run(find_algorithm("chain", Operation::kReduce), over(platform, Operation::kReduce), {});
  ASSERT_EQ(outcome.reduce_trees.size(), 1U);
  EXPECT_EQ(espalier::testing::text_of(outcome.reduce_trees[0].tree, platform), "a>s b>a");
  EXPECT_EQ(infeasibility(Operation::kBroadcast, platform),
            "small: 'a' cannot be reached from 's' (and 1 more)");
  EXPECT_EQ(infeasibility(Operation::kAllreduce, platform),
            "small: 'a' cannot be reached from 's' (and 1 more)");
  const platforms::Platform other = platforms::reversed(platform).platform;
  EXPECT_EQ(infeasibility(Operation::kReduce, other), "small: 'a' cannot reach 's' (and 1 more)");
  EXPECT_EQ(infeasibility(Operation::kAllreduce, other),
            "small: 'a' cannot reach 's' (and 1 more)");
}

TEST(OneHost, CannotReduce) {
  const platforms::Platform platform = small_platform({"s"}, {});
  EXPECT_THAT(refusal([&] { over(platform, Operation::kReduce); }),
              HasSubstr("a single host; a reduction needs at least two"));
}

// Relays are listed in the order in which the data passes them upwards.
TEST(Relays, AreNamedInTheOrderOfTheData) {
  const platforms::Platform platform = small_platform(
      {"s", "a", "swx", "swy"}, {{"a", "swx", 1}, {"swx", "swy", 2}, {"swy", "s", 1}});
  const Collective collective = over(platform, Operation::kReduce);
  const Outcome outcome = run(find_algorithm("optimal", Operation::kReduce), collective, {});
  const Plan plan = make_plan(collective, "optimal", outcome, Bytes{1});
  EXPECT_THAT(plan.reduce_trees.at(0).via.at({0, 1}), ::testing::ElementsAre("swx", "swy"));
  EXPECT_NEAR(plan.throughput.value, 0.5, 1e-6);
}

TEST(Limits, TreesAndDepthApplyToBothHalves) {
  const platforms::Platform platform = complete_platform(6, 10);
  const Collective collective = over(platform, Operation::kAllreduce);
  AlgorithmOptions options;
  options.max_trees = 1;
  const Algorithm optimal = find_algorithm("optimal", Operation::kAllreduce);
  const Outcome one = run(optimal, collective, options);
  EXPECT_EQ(one.trees.size(), 1U);
  EXPECT_EQ(one.reduce_trees.size(), 1U);
  EXPECT_EQ(one.ends.worst(), Termination::kTreeLimit);
  options = {};
  options.max_depth = 2;
  const Plan plan = make_plan(collective, "optimal", run(optimal, collective, options), Bytes{1});
  for (const PlanTrees& kind : trees_by_kind(plan)) {
    for (const PlanTree& tree : *kind.trees) EXPECT_LE(depth_of(tree, 0), 2U) << kind.key;
  }
}

// For several plans the packings are solved once.
TEST(SharedPackings, GiveTheSamePlansAsSeparatePackings) {
  const platforms::Platform platform =
      espalier::testing::sample_platform("two-clusters-thin-link.json");
  for (const Operation operation : kOperations) {
    const Collective collective = over(platform, operation);
    const Packings packings = solve_packings(collective, {});
    for (const char* name : {"optimal", "exact-tree", "best-tree", "lp-grow", "lp-prune"}) {
      const Algorithm algorithm = find_algorithm(name, operation);
      const Outcome own = run(algorithm, collective, {});
      const Outcome given = run(algorithm, collective, {}, &packings);
      EXPECT_EQ(to_json(make_plan(collective, name, own, Bytes{1})),
                to_json(make_plan(collective, name, given, Bytes{1})))
          << name_of(operation) << ", " << name;
    }
  }
}

// Three equal hosts, each with one port for both directions. A chain s - a - b keeps a busy for 2 s
// per byte in each direction, and any other tree does so with some host: the same tree up and down
// reaches 1/4 B/s. Two trees with different hosts in the middle need 4 sends, so 8 s on 3 ports: 3,
// 3 and 2.
TEST(Pairs, AreChosenJointly) {
  const platforms::Platform platform = complete_platform(3, 1);
  const auto model = platforms::Model::kOnePortUnidirectional;
  const Collective both = over(platform, Operation::kAllreduce, model);
  EXPECT_NEAR(rate_of(both, "exact-tree"), 1. / 3, 1e-6);
  EXPECT_NEAR(rate_of(both, "best-tree"), 1. / 3, 1e-6);
}

class AllreduceFaults : public ::testing::Test {
 protected:
  AllreduceFaults() : platform_(complete_platform(4, 10)) {
    const Collective collective = over(platform_, Operation::kAllreduce);
    const Outcome outcome = run(find_algorithm("optimal", Operation::kAllreduce), collective, {});
    plan_ = make_plan(collective, "optimal", outcome, Bytes{1 << 20});
  }
  [[nodiscard]] std::vector<std::string> faults() const { return verify(plan_, platform_).faults; }
  platforms::Platform platform_;
  Plan plan_;
};

TEST_F(AllreduceFaults, NoneInAGoodPlan) {
  EXPECT_THAT(faults(), IsEmpty());
}

// Each half alone would be valid.
TEST_F(AllreduceFaults, HalvesThatOverloadASharedResource) {
  for (auto* trees : {&plan_.reduce_trees, &plan_.broadcast_trees}) {
    for (PlanTree& tree : *trees) tree.rate.value *= 1.2;
  }
  plan_.throughput.value *= 1.2;
  plan_.optimum->value *= 1.2;
  EXPECT_THAT(faults(), ::testing::Contains(HasSubstr("/broadcast_trees: the rates load ")));
}

TEST_F(AllreduceFaults, AnAlgorithmThatDoesNotServeAllreduce) {
  plan_.algorithm = "fnf";
  EXPECT_THAT(faults(), ::testing::ElementsAre(HasSubstr("/algorithm: algorithm 'fnf' makes no")));
}

TEST_F(AllreduceFaults, AnOptimumBelowTheThroughput) {
  for (auto* trees : {&plan_.reduce_trees, &plan_.broadcast_trees}) {
    for (PlanTree& tree : *trees) tree.rate.value *= 0.5;
  }
  plan_.throughput.value *= 0.5;
  plan_.optimum->value *= 0.6;
  EXPECT_THAT(faults(), ::testing::ElementsAre(HasSubstr("/optimum_Bps: ")));
}

TEST(ReduceFaults, AnEdgeWithoutALinkUpwards) {
  const platforms::Platform platform = one_way();
  const Collective collective = over(platform, Operation::kReduce);
  Plan plan =
      make_plan(collective, "chain",
                run(find_algorithm("chain", Operation::kReduce), collective, {}), Bytes{1 << 20});
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
  const platforms::Platform other = platforms::reversed(platform).platform;
  EXPECT_THAT(verify(plan, other).faults, Not(IsEmpty()));
  plan.reduce_trees[0].edges = {{0, 1}, {0, 2}};
  EXPECT_THAT(
      verify(plan, platform).faults,
      ::testing::ElementsAre("/reduce_trees/0/edges/1: the platform has no link 'b' -> 's'"));
}

}  // namespace
}  // namespace espalier::planner::collective_test
