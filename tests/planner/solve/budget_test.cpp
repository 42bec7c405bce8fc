// Plans and money: against the papers' flow LP with a row for the budget, against a hand-made
// network, and by the plan's own check.
#include "planner/solve/budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"
#include "tests/lp/plain_flow_lp.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::budget_test {
namespace {

using espalier::testing::DrawnPlatform;
using espalier::testing::small_platform;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MoneyProblem from_first_host(const platforms::Platform& platform) {
  return {Operation::kBroadcast, platform, platform.hosts()[0], platforms::Model::kOnePort};
}

platforms::Platform with_random_prices(const platforms::Platform& platform, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> prices;
  for (std::size_t e = 0; e < platform.arcs().size(); ++e) {
    prices.push_back(0.01 * static_cast<double>(random() % 20));  // some are free
  }
  return platforms::with_prices(platform, prices, "USD");
}

//      s            s -> a and s -> b carry 1 B/s each, for 4 a GB; a <-> b carry 1 B/s for 1 a GB.
//     / \           Cheapest: one of the two, then across: 5. Fastest under bounded-multi-port:
//     both
//    a===b          such trees, 2 B/s, for 5 as well. The star costs 8.
platforms::Platform triangle(double across) {
  const platforms::Platform plain =
      small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 1}, {"a", "b", 1}, {"b", "a", 1}});
  std::vector<double> prices;
  for (const platforms::Arc& arc : plain.arcs()) {
    prices.push_back(index_of(arc.from) == 0 ? 4 : across);
  }
  return platforms::with_prices(plain, prices, "EUR");
}

TEST(Budget, HandMade) {
  // Links between a and b at 6 a GB: a chain costs 10 and carries 1 B/s, the star costs 8 and
  // carries 1/2 B/s, for it leaves s twice. With rates x of the star and y of the chains, at c a
  // GB: 2 x + y = 1 and 8 x + 10 y = c (x + y), so that x + y = 1 / (6 - c / 2).
  const platforms::Platform platform = triangle(6);
  const MoneyProblem problem = from_first_host(platform);
  const PlanWithinBudget found = within_budget(problem, 9);
  EXPECT_NEAR(throughput_of(found.outcome).value, 2.0 / 3, 1e-5);
  EXPECT_NEAR(found.outcome.bound->value, 2.0 / 3, 1e-5);
  EXPECT_GE(found.outcome.bound->value, throughput_of(found.outcome).value);
  EXPECT_NEAR(cost_of(found.outcome, platform)->per_GB, 9, 1e-5);
  EXPECT_LE(cost_of(found.outcome, platform)->per_GB, 9 * (1 + 1e-9));
  // A budget 1 % higher gains c / 2 / (6 - c / 2) %.
  double price = 0;  // of money: the last row is its own
  std::uint32_t last = 0;
  for (const PricedResource& priced : found.outcome.prices) {
    if (priced.row < last) continue;
    last = priced.row;
    price = priced.price;
  }
  EXPECT_NEAR(price, 3.0, 1e-3);
}

TEST(Budget, DoesNotBindWhereTheFastestPlanCostsLess) {
  const platforms::Platform platform = triangle(1);
  const MoneyProblem problem = from_first_host(platform);
  const PlanWithinBudget found = within_budget(problem, 5.5);
  EXPECT_FALSE(found.money_per_s.has_value());
  EXPECT_NEAR(throughput_of(found.outcome).value, 1, 1e-5);
}

TEST(Budget, BelowTheCheapestPlanIsRefusedWithItsPrice) {
  const platforms::Platform platform = triangle(1);
  const MoneyProblem problem = from_first_host(platform);
  try {
    within_budget(problem, 4.9);
    FAIL() << "accepted";
  } catch (const InfeasibleError& error) {
    EXPECT_STREQ(error.what(),
                 "small: no plan costs so little; the cheapest costs 5.0000 EUR per GB");
  }
}

TEST(Budget, AtTheCheapestPriceTheFastestOfTheCheapestPlansIsFound) {
  const platforms::Platform platform = triangle(6);
  const MoneyProblem problem = from_first_host(platform);
  const PlanWithinBudget found = within_budget(problem, 8);
  EXPECT_NEAR(throughput_of(found.outcome).value, 0.5, 1e-4);
  EXPECT_LE(cost_of(found.outcome, platform)->per_GB, 8 * (1 + 2e-6));
}

TEST(Budget, NeedsPrices) {
  const platforms::Platform platform = small_platform({"s", "a"}, {{"s", "a", 1}});
  const MoneyProblem problem = from_first_host(platform);
  EXPECT_THROW(within_budget(problem, 4), InputError);
}

TEST(CheapestAt, HandMade) {
  const platforms::Platform platform = triangle(6);
  const MoneyProblem problem = from_first_host(platform);
  const CheapestPlan found = cheapest_at(problem, BytesPerSecond{2.0 / 3});
  EXPECT_GE(throughput_of(found.outcome).value, 2.0 / 3);
  EXPECT_NEAR(cost_of(found.outcome, platform)->per_GB, 9, 1e-4);
  EXPECT_NEAR(found.least_per_GB, 9, 1e-4);
  EXPECT_LE(found.least_per_GB, cost_of(found.outcome, platform)->per_GB * (1 + 1e-12));
  EXPECT_NEAR(cheapest_at(problem, {0.1}).least_per_GB, 8, 1e-4);
  EXPECT_THROW(cheapest_at(problem, {1.1}), InfeasibleError);
}

class BudgetByModel : public ::testing::TestWithParam<std::string> {};

// Between the cheapest plan and the unlimited optimum, the papers' LP with a row for the budget has
// the same optimum, and no plan exceeds its budget.
TEST_P(BudgetByModel, TheFlowLpAgrees) {
  const platforms::Model model = platforms::parse_model(GetParam());
  std::uint64_t seed = 0;
  espalier::testing::for_each_platform(
      2, 5, model, [&](const DrawnPlatform& drawn, const std::string& trace) {
        SCOPED_TRACE(trace);
        const platforms::Platform platform = with_random_prices(drawn.platform, ++seed);
        if (platform.hosts().size() < 2) return;
        const Instance instance(platform, drawn.source, model, drawn.options);
        const MoneyProblem problem{Operation::kBroadcast, platform, drawn.source, model,
                                   drawn.options};
        const Outcome fastest = problem.plan(std::nullopt, {});
        const double most = cost_of(fastest, platform)->per_GB;
        const double least =
            cheapest_at(problem, {1e-3 * throughput_of(fastest).value}).least_per_GB;
        if (!(most > least * 1.001)) return;
        for (const double share : {0.2, 0.7}) {
          const double budget = least + share * (most - least);
          lp::FlowBudget row{{}, budget};
          for (const platforms::Arc& arc : platform.arcs()) row.price.push_back(arc.price_per_GB);
          const lp::FlowSolution flow =
              lp::solve_flow_lp(packing_problem(instance), std::nullopt, row);
          ASSERT_EQ(flow.status, lp::LpStatus::kOptimal);
          const PlanWithinBudget found = within_budget(problem, budget);
          const double rate = throughput_of(found.outcome).value;
          // GLPK's tolerances, where rates are decades apart.
          EXPECT_NEAR(rate, flow.throughput, 1e-4 * flow.throughput);
          EXPECT_GE(found.outcome.bound->value, flow.throughput * (1 - 1e-7));
          EXPECT_LE(cost_of(found.outcome, platform)->per_GB, budget * (1 + 2e-6));
          // The other way round: the cheapest plan of this throughput costs the budget, or less
          // where the fastest plans of all do.
          const double least_cost = cheapest_at(problem, {rate * (1 - 1e-6)}).least_per_GB;
          EXPECT_LE(least_cost, budget * (1 + 1e-5));
          if (rate < throughput_of(fastest).value * (1 - 1e-3)) {
            EXPECT_NEAR(least_cost, budget, 1e-4 * budget);
          }
        }
      });
  EXPECT_GE(seed, 5U);
}

INSTANTIATE_TEST_SUITE_P(Models, BudgetByModel,
                         ::testing::ValuesIn(espalier::testing::model_names()),
                         [](const auto& one) { return espalier::testing::case_name(one.param); });

class BudgetByOperation : public ::testing::TestWithParam<Operation> {};

// The check recomputes the cost from the links and proves the optimum within the budget again.
TEST_P(BudgetByOperation, ThePlanIsValidAndTheCheckSeesWhatIsWrong) {
  const Operation operation = GetParam();
  const platforms::Platform platform =
      with_random_prices(espalier::testing::sample_platform("heterogeneous-star.json"), 7);
  const auto root = may_have_root(operation) ? std::optional(platform.hosts()[0]) : std::nullopt;
  const MoneyProblem problem{operation, platform, root, platforms::Model::kOnePort};
  const Outcome fastest = problem.plan(std::nullopt, {});
  const double most = cost_of(fastest, platform)->per_GB;
  const double least = cheapest_at(problem, {1e-3 * throughput_of(fastest).value}).least_per_GB;
  ASSERT_GT(most, least * 1.01);
  const double budget = (most + least) / 2;
  const PlanWithinBudget found = within_budget(problem, budget);
  EXPECT_LE(throughput_of(found.outcome).value, throughput_of(fastest).value * (1 + 1e-6));
  Plan plan = on_problem(
      operation, platform, root, platforms::Model::kOnePort, {}, {},
      [&](const auto& one) { return make_plan(one, kOptimal, found.outcome, kDefaultSegment); });
  ASSERT_TRUE(plan.cost.has_value());
  plan.cost->budget_per_GB = budget;
  plan = parse_plan(to_json(plan), "plan", Roots::kAny);
  EXPECT_EQ(plan.cost->budget_per_GB, budget);
  EXPECT_EQ(plan.cost->currency, "USD");
  const VerifyReport report = verify(plan, platform);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_NEAR(report.bound->value, plan.optimum->value, 1e-5 * plan.optimum->value);
  EXPECT_DOUBLE_EQ(report.cost->per_GB, plan.cost->per_GB);

  Plan cheaper = plan;
  cheaper.cost->per_GB *= 0.99;
  EXPECT_THAT(verify(cheaper, platform, {.prove = false}).faults,
              ::testing::ElementsAre(HasSubstr("/cost_per_GB: the plan states")));
  Plan exceeding = plan;
  exceeding.cost->budget_per_GB = plan.cost->per_GB * 0.99;
  EXPECT_THAT(verify(exceeding, platform, {.prove = false}).faults,
              ::testing::ElementsAre(HasSubstr("more than its budget")));
}

INSTANTIATE_TEST_SUITE_P(Operations, BudgetByOperation, ::testing::ValuesIn(kEveryOperation),
                         [](const auto& one) {
                           return espalier::testing::case_name(name_of(one.param));
                         });

}  // namespace
}  // namespace espalier::planner::budget_test
