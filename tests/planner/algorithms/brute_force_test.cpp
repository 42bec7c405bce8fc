// The optimum, the bound and the heuristics against all spanning trees of small platforms, one by
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lp/packing/plain_bound.hpp"
#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "tests/planner/references/all_trees.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::brute_force_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;  // not planner::run

constexpr double kTolerance = 1e-6;

double best_single_rate(const Loads& trees) {
  double best = 0;
  for (const PlainModel::Load& load : trees) best = std::max(best, 1 / busiest(load));
  return best;
}

// Prices in the plain model's numbering of resources.
std::vector<double> plain_prices(const Instance& instance, const Outcome& proof) {
  const PlainModel model(instance);
  std::vector<double> prices(model.resources().size(), 0.0);
  for (const PricedResource& priced : proof.prices) {
    const std::string name =
        platforms::describe(instance.occupation().resources[priced.row], instance.platform());
    const auto at = std::ranges::find(model.resources(), name);
    EXPECT_NE(at, model.resources().end()) << name;
    prices[static_cast<std::size_t>(at - model.resources().begin())] = priced.price;
  }
  return prices;
}

// sum(y) / min over all trees of y * load: the bound that the prices prove.
double bound_of(const std::vector<double>& prices, const Loads& trees) {
  double cheapest = std::numeric_limits<double>::infinity();
  for (const PlainModel::Load& load : trees) {
    double cost = 0;
    for (std::size_t r = 0; r < load.size(); ++r) cost += prices[r] * load[r];
    cheapest = std::min(cheapest, cost);
  }
  double sum = 0;
  for (const double price : prices) sum += price;
  return sum / cheapest;
}

// A platform of the family that is small enough to list all its trees.
DrawnPlatform draw_small(const PlatformFamily& family, std::uint64_t seed, platforms::Model model) {
  constexpr double kMostCombinations = 3200;  // six hosts, all links: 5^5
  for (std::size_t hosts = 6; hosts > 2; --hosts) {
    DrawnPlatform drawn = family.draw(seed, hosts);
    if (AllTrees(PlainModel(drawn.under(model)), drawn.platform, drawn.source).combinations() <=
        kMostCombinations)
      return drawn;
  }
  return family.draw(seed, 2);
}

class BruteForce : public ::testing::TestWithParam<std::string> {
 protected:
  // At least a hundred platforms, fewer under sanitizers: twelve families, nine seeds each.
  template <class Check>
  static void for_each_small_platform(Check check) {
    const platforms::Model model = platforms::parse_model(GetParam());
    for (const PlatformFamily& family : platform_families()) {
      for (std::uint64_t seed = 1; seed <= draws(9); ++seed) {
        SCOPED_TRACE(trace_of(family, seed, model));
        const DrawnPlatform drawn = draw_small(family, seed, model);
        const Instance instance = drawn.under(model);
        check(instance, AllTrees(PlainModel(instance), drawn.platform, drawn.source).loads());
      }
    }
  }
};

// Of the optimum, of the bound that prices prove, of the plain bound and of the plan, in one go:
// each platform's trees are listed, and its optimum is proven, only once.
TEST_P(BruteForce, OptimumBoundsAndPlanAgreeWithTheLpOverAllTrees) {
  int exact = 0;
  for_each_small_platform([&](const Instance& instance, const Loads& trees) {
    const double optimum = packing_optimum({trees});
    const Outcome proof = prove_optimum(instance, {});
    EXPECT_NEAR(total_rate(proof.trees) / optimum, 1, kTolerance);
    EXPECT_GE(proof.bound->value / optimum, 1 - 1e-7);  // the LP's tolerance
    EXPECT_EQ(proof.ends.worst(), Termination::kDone);
    const double proven = bound_of(plain_prices(instance, proof), trees);
    EXPECT_NEAR(proof.bound->value / proven, 1, 1e-9);
    const lp::PlainBound plain = lp::plain_bound(packing_problem(instance));
    EXPECT_GE(plain.rate / optimum, 1 - 1e-7);
    exact += plain.rate / optimum < 1 + 1e-6 ? 1 : 0;
    EXPECT_NEAR(total_rate(run("optimal", instance).trees) / optimum, 1, 2 * kTolerance);
  });
  EXPECT_GT(exact, 0);
}

TEST_P(BruteForce, NoHeuristicBeatsTheBestTreeAndExactTreeIsIt) {
  for_each_small_platform([](const Instance& instance, const Loads& trees) {
    const double best = best_single_rate(trees);
    for (const AlgorithmEntry& entry : algorithms()) {
      const Outcome outcome = entry.run(instance, {});
      if (outcome.trees.size() > 1) continue;  // several trees may exceed the best single one
      EXPECT_LE(total_rate(outcome.trees), best * (1 + kTolerance)) << entry.name;
      if (entry.name != "exact-tree") continue;
      EXPECT_EQ(outcome.ends.worst(), Termination::kDone);
      // Through relays it considers only the fastest path.
      if (instance.platform().hosts().size() < instance.platform().nodes().size()) continue;
      EXPECT_NEAR(total_rate(outcome.trees) / best, 1, 2 * kTolerance);
      EXPECT_NEAR(outcome.single_tree_bound->value / best, 1, 2 * kTolerance);
    }
    EXPECT_LE(total_rate(run("optimal", instance, at_most(1)).trees), best * (1 + kTolerance));
  });
}

INSTANTIATE_TEST_SUITE_P(Models, BruteForce, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

}  // namespace
}  // namespace espalier::planner::brute_force_test
