#include "planner/explain/plan_loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::plan_loss_test {
namespace {

using espalier::testing::case_name;
using espalier::testing::collective_of;
using espalier::testing::DrawnPlatform;
using espalier::testing::draws;
using espalier::testing::for_each_platform;
using espalier::testing::model_names;
using espalier::testing::small_platform;
using ::testing::SizeIs;

//      s               one-port, every link 1 s per byte. The chain s -> a -> b carries 1 B/s,
//     / \              which is the bound. The flat tree carries 1/2: s sends all data twice.
//    v   v
//    a -> b
platforms::Platform triangle() {
  return small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 1}, {"a", "b", 1}});
}

Plan flat_plan(double rate) {
  Plan plan;
  plan.platform = "small";
  plan.source = "s";
  plan.model = "one-port";
  plan.algorithm = "flat";
  plan.nodes = {"s", "a", "b"};
  plan.throughput = {rate};
  plan.broadcast_trees = {{{rate}, {{0, 1}, {0, 2}}, {}}};
  return plan;
}

std::uint32_t row_of(const Collective& instance, const std::string& name) {
  const auto& resources = instance.occupation().resources;
  for (std::uint32_t row = 0; row < resources.size(); ++row) {
    if (platforms::describe(resources[row], instance.platform()) == name) return row;
  }
  throw InputError("no such resource: " + name);
}

// The loss of the flat tree when one resource has the whole price.
PlanLoss flat_loss(const std::string& priced, double rate = 0.5) {
  const platforms::Platform platform = triangle();
  const Collective instance = collective_of(platform, "s");
  const Plan plan = flat_plan(rate);
  const VerifyReport report = verify(plan, platform, {.prove = false});
  EXPECT_THAT(report.faults, SizeIs(0));
  return loss_at_prices(plan, report.loads, instance, {{row_of(instance, priced), 1}});
}

TEST(PlanLoss, ATreeWithACostlyEdgeLosesThere) {
  const PlanLoss loss = flat_loss("out-port of s");
  EXPECT_DOUBLE_EQ(loss.throughput.value, 0.5);
  EXPECT_DOUBLE_EQ(loss.bound.value, 1);
  EXPECT_DOUBLE_EQ(loss.idle.value, 0);
  EXPECT_DOUBLE_EQ(loss.costly.value, 0.5);
  EXPECT_THAT(loss.idle_resources, SizeIs(0));
  ASSERT_THAT(loss.costly_edges, SizeIs(1));
  const CostlyEdge& edge = loss.costly_edges[0];
  EXPECT_EQ(edge.edge, "s -> b");
  EXPECT_EQ(edge.cheapest, "a -> b");
  EXPECT_DOUBLE_EQ(edge.rate.value, 0.5);
  EXPECT_DOUBLE_EQ(edge.cost, 1);
  EXPECT_DOUBLE_EQ(edge.cheapest_cost, 0);
  EXPECT_DOUBLE_EQ(edge.loss.value, 0.5);
  ASSERT_THAT(loss.full, SizeIs(1));
  EXPECT_EQ(loss.full[0].resource, "out-port of s");
  EXPECT_DOUBLE_EQ(loss.full[0].price, 1);
}

TEST(PlanLoss, APricedResourceThatIsIdleLosesThere) {
  const PlanLoss loss = flat_loss("in-port of b");
  EXPECT_DOUBLE_EQ(loss.bound.value, 1);
  EXPECT_DOUBLE_EQ(loss.idle.value, 0.5);
  EXPECT_DOUBLE_EQ(loss.costly.value, 0);
  ASSERT_THAT(loss.idle_resources, SizeIs(1));
  EXPECT_EQ(loss.idle_resources[0].resource, "in-port of b");
  EXPECT_DOUBLE_EQ(loss.idle_resources[0].load, 0.5);
  EXPECT_DOUBLE_EQ(loss.idle_resources[0].loss.value, 0.5);
  ASSERT_THAT(loss.full, SizeIs(1));
  EXPECT_DOUBLE_EQ(loss.full[0].price, 0);
}

TEST(PlanLoss, APlanBelowItsOwnRateLosesBoth) {
  const PlanLoss loss = flat_loss("out-port of s", 0.25);
  EXPECT_DOUBLE_EQ(loss.idle.value, 0.5);  // the out-port is in use half the time
  EXPECT_DOUBLE_EQ(loss.costly.value, 0.25);
  EXPECT_THAT(loss.full, SizeIs(0));
}

TEST(PlanLoss, PricesThatProveNothingAreRefused) {
  const platforms::Platform platform = triangle();
  const Collective instance = collective_of(platform, "s");
  EXPECT_THROW(static_cast<void>(loss_at_prices(flat_plan(0.5), {1, 1, 1, 1}, instance, {})),
               InfeasibleError);
}

class PlanLossIdentity : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

void expect_identity(const PlanLoss& loss, const Outcome& proof) {
  const double bound = proof.bound->value;
  EXPECT_NEAR(loss.bound.value / bound, 1, 1e-9);
  EXPECT_NEAR((loss.throughput.value + loss.idle.value + loss.costly.value) / bound, 1, 1e-9);
  EXPECT_GE(loss.idle.value, -1e-6 * bound);
  EXPECT_GE(loss.costly.value, -1e-6 * bound);
  double idle = 0;
  for (const IdleResource& one : loss.idle_resources) idle += one.loss.value;
  EXPECT_NEAR(idle / bound, loss.idle.value / bound, 1e-9);
}

void expect_costly_edges(const PlanLoss& loss) {
  double costly = 0;
  for (const CostlyEdge& one : loss.costly_edges) costly += one.loss.value;
  EXPECT_NEAR(costly / loss.bound.value, loss.costly.value / loss.bound.value, 1e-9);
}

// A resource's load is the sum of the loads of its users.
void expect_users(const PlanLoss& loss) {
  const auto expect = [](const std::vector<ResourceUser>& users, double load) {
    double sum = 0;
    for (const ResourceUser& user : users) sum += user.load;
    EXPECT_NEAR(sum, load, 1e-9);
  };
  for (const IdleResource& one : loss.idle_resources) expect(one.users, one.load);
  for (const FullResource& one : loss.full) expect(one.users, one.load);
}

TEST_P(PlanLossIdentity, HoldsForEveryAlgorithmsPlans) {
  const Operation operation = std::get<0>(GetParam());
  const platforms::Model model = platforms::parse_model(std::get<1>(GetParam()));
  for_each_platform(
      operation, espalier::testing::draws(2), 12, model,
      [&](const DrawnPlatform& drawn, const auto& trace) {
        const Collective collective = drawn.under(model, operation);
        const Outcome proof = prove_optimum(collective, {});
        AlgorithmOptions options;
        for (const Algorithm& algorithm : parse_algorithms("all", operation)) {
          SCOPED_TRACE(trace + ", " + algorithm.name);
          if (!is_for(algorithm, collective)) continue;
          if (algorithm.entry->exponential) options.deadline = Deadline(Seconds{0.5});
          const Plan plan = make_plan(collective, algorithm.name,
                                      run(algorithm, collective, options), Bytes{1 << 20});
          options.deadline = Deadline();
          const VerifyReport report = verify(plan, drawn.platform, {.prove = false});
          ASSERT_THAT(report.loads, SizeIs(collective.occupation().resources.size()));
          const PlanLoss loss = loss_at_prices(plan, report.loads, collective, proof.prices);
          expect_identity(loss, proof);
          expect_costly_edges(loss);
          expect_users(loss);
          if (algorithm.name == "optimal") {
            EXPECT_LE(loss.idle.value + loss.costly.value, 3e-6 * proof.bound->value);
          }
        }
      });
}

// With several roots, or parts, what idles and what costs too much are not negative either.
class PlanLossOfBlocks : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

TEST_P(PlanLossOfBlocks, IsIdleTimeAndTreesThatCostMore) {
  const Operation operation = std::get<0>(GetParam());
  const platforms::Model model = platforms::parse_model(std::get<1>(GetParam()));
  // Where all hosts reach each other.
  constexpr Operation kBothWays = Operation::kAllreduce;
  for_each_platform(
      kBothWays, draws(2), 5, model, [&](const DrawnPlatform& drawn, const auto& trace) {
        std::optional<platforms::NodeId> root;
        if (needs_root(operation)) root = drawn.source;
        const auto check = [&](const auto& problem) {
          const Outcome proof = prove_optimum(problem, {});
          for (const Algorithm& algorithm : parse_algorithms("all", operation)) {
            SCOPED_TRACE(trace + ", " + algorithm.name);
            if (!is_for(algorithm, problem) || algorithm.entry->exponential) continue;
            const Plan plan =
                make_plan(problem, algorithm.name, run(algorithm, problem, {}), Bytes{1 << 20});
            const VerifyReport report = verify(plan, problem.platform(), {.prove = false});
            ASSERT_THAT(report.faults, SizeIs(0));
            const PlanLoss loss = loss_of(plan, report.loads, problem, proof);
            expect_identity(loss, proof);
            expect_users(loss);
            if (algorithm.name != "optimal") continue;
            EXPECT_LE(loss.idle.value + loss.costly.value, 3e-6 * proof.bound->value);
          }
        };
        on_problem(operation, drawn.platform, root, model, drawn.options, {}, check);
      });
}

INSTANTIATE_TEST_SUITE_P(
    Models, PlanLossOfBlocks,
    ::testing::Combine(::testing::Values(Operation::kAllgather, Operation::kReduceScatter,
                                         Operation::kAllreduce, Operation::kScatter,
                                         Operation::kAlltoall),
                       ::testing::ValuesIn(model_names())),
    [](const auto& instance) {
      return case_name(std::get<0>(instance.param), std::get<1>(instance.param));
    });

INSTANTIATE_TEST_SUITE_P(Models, PlanLossIdentity,
                         ::testing::Combine(::testing::ValuesIn(kOperations),
                                            ::testing::ValuesIn(model_names())),
                         [](const auto& instance) {
                           return case_name(std::get<0>(instance.param),
                                            std::get<1>(instance.param));
                         });

// An allreduce of a and b at s, one-port, every link 1 s per byte. With flat trees up and down, s
// receives two bytes and sends two: 1/2 B/s. In a chain neither port of s is full.
//
//     a <---> s <---> b
//      \_____________/
TEST(PlanLoss, DistinguishesTheHalvesOfAnAllreduce) {
  const platforms::Platform platform = testing::complete_platform(3, 1);
  const Collective collective = collective_of(platform, "n0", Operation::kAllreduce);
  const Plan plan =
      make_plan(collective, "flat",
                run(find_algorithm("flat", Operation::kAllreduce), collective, {}), Bytes{1 << 20});
  const VerifyReport report = verify(plan, platform, {.prove = false});
  const PlanLoss loss =
      loss_at_prices(plan, report.loads, collective, {{row_of(collective, "out-port of n0"), 1}});
  EXPECT_DOUBLE_EQ(loss.throughput.value, 0.5);
  EXPECT_DOUBLE_EQ(loss.bound.value, 1);  // n0 has to send a byte once
  ASSERT_THAT(loss.full, SizeIs(2));
  EXPECT_EQ(loss.full[0].resource, "out-port of n0");
  ASSERT_THAT(loss.full[0].users, SizeIs(1));
  EXPECT_FALSE(loss.full[0].users[0].up);
  EXPECT_EQ(loss.full[1].resource, "in-port of n0");
  ASSERT_THAT(loss.full[1].users, SizeIs(1));
  EXPECT_TRUE(loss.full[1].users[0].up);
  ASSERT_THAT(loss.costly_edges, SizeIs(1));
  EXPECT_FALSE(loss.costly_edges[0].up);
  EXPECT_DOUBLE_EQ(loss.costly_edges[0].loss.value, 0.5);
}

}  // namespace
}  // namespace espalier::planner::plan_loss_test
