// Optimal reductions and allreduces against all spanning trees of small platforms, one by one: a
// plain LP over reduce trees and broadcast trees, with the rates of each kind summing to the
// throughput, without reversed platforms and doubled graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lp/packing/plain_bound.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/collective_problem.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/all_trees.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::planner::collective_brute_force_test {
namespace {

using namespace espalier::testing;

constexpr std::size_t kMostTrees = 700;

// The best throughput of one reduce tree with one broadcast tree.
double best_pair(const Loads& in, const Loads& out) {
  double best = 0;
  for (const PlainModel::Load& one : in) {
    for (const PlainModel::Load& other : out) {
      double busiest_s = 0;
      for (std::size_t r = 0; r < one.size(); ++r) {
        busiest_s = std::max(busiest_s, one[r] + other[r]);
      }
      best = std::max(best, 1 / busiest_s);
    }
  }
  return best;
}

class AllPairs : public ::testing::TestWithParam<std::string> {};

TEST_P(AllPairs, OptimumIsThatOfTheLpOverAllTreesInAndOut) {
  const platforms::Model model = platforms::parse_model(GetParam());
  int allreduces = 0;
  for_each_platform(6, 5, model, [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const PlainModel plain(drawn.platform, model, drawn.options);
    for (const Operation operation : {Operation::kReduce, Operation::kAllreduce}) {
      try {
        const Collective collective(operation, drawn.platform, drawn.source, model, drawn.options);
        AllTrees in(plain, drawn.platform, drawn.source, /*up=*/true);
        AllTrees out(plain, drawn.platform, drawn.source);
        if (std::max(in.combinations(), out.combinations()) > kMostTrees) continue;
        std::vector<Loads> kinds{in.loads()};
        if (broadcasts(operation)) kinds.push_back(out.loads());
        const double optimum = packing_optimum(kinds);
        const Outcome proof = prove_optimum(collective, {});
        EXPECT_NEAR(throughput_of(proof).value / optimum, 1, 1e-6) << name_of(operation);
        EXPECT_GE(proof.bound->value / optimum, 1 - 1e-7);
        const CollectiveProblem problem(collective);
        EXPECT_GE(lp::plain_bound(problem.problem()).rate / optimum, 1 - 1e-7);
        const Outcome plan = run(find_algorithm("optimal", operation), collective, {});
        EXPECT_NEAR(throughput_of(plan).value / optimum, 1, 2e-6) << name_of(operation);
        if (operation == Operation::kAllreduce) ++allreduces;
      } catch (const InfeasibleError&) {
        continue;  // some host cannot reach the source
      }
    }
  });
  EXPECT_GE(allreduces, 20);
}

TEST_P(AllPairs, ExactTreeIsTheBestPair) {
  const platforms::Model model = platforms::parse_model(GetParam());
  constexpr double kMostPairs = 40'000;
  int exact_ones = 0;
  int best_ones = 0;
  const auto check = [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const PlainModel plain(drawn.platform, model, drawn.options);
    const Collective collective = drawn.under(model, Operation::kAllreduce);
    AllTrees in(plain, drawn.platform, drawn.source, /*up=*/true);
    AllTrees out(plain, drawn.platform, drawn.source);
    if (in.combinations() * out.combinations() > kMostPairs) return;
    const double best = best_pair(in.loads(), out.loads());
    const auto rate_of = [&](std::string_view name) {
      const Outcome pair = run(find_algorithm(name, Operation::kAllreduce), collective, {});
      EXPECT_EQ(pair.trees.size(), 1U);
      EXPECT_EQ(pair.reduce_trees.size(), 1U);
      EXPECT_LE(throughput_of(pair).value, best * (1 + 2e-6)) << name;
      if (pair.single_tree_bound) {
        EXPECT_GE(pair.single_tree_bound->value, throughput_of(pair).value * (1 - 1e-9));
      }
      return throughput_of(pair).value;
    };
    const double exact = rate_of("exact-tree");
    const double found = rate_of("best-tree");
    EXPECT_LE(found, exact * (1 + 2e-6));
    best_ones += found > best * (1 - 1e-5) ? 1 : 0;
    ++exact_ones;
    // Through relays it considers only the fastest path.
    if (drawn.platform.hosts().size() == drawn.platform.nodes().size()) {
      EXPECT_NEAR(exact / best, 1, 2e-6);
    }
  };
  for_each_platform(Operation::kAllreduce, 6, 4, model, check);
  EXPECT_GE(exact_ones, 20);
  EXPECT_GE(best_ones, exact_ones * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Models, AllPairs, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

}  // namespace
}  // namespace espalier::planner::collective_brute_force_test
