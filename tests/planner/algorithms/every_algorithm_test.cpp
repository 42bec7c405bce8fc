// Properties of every algorithm of the registry, under every model, on every kind of platform.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "planner/check/verify.hpp"
#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::every_algorithm_test {
namespace {

using namespace espalier::testing;
using espalier::testing::total_rate;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-6;
constexpr std::size_t kMostHosts = 25;

// Topology-oblivious trees may pass through other hosts where there is no link between two ranks;
// so may trees with such an inner algorithm.
bool is_oblivious(std::string_view name) {
  constexpr std::array<std::string_view, 16> kOblivious{"binomial",
                                                        "binary",
                                                        "chain",
                                                        "flat",
                                                        "k-chain",
                                                        "ring",
                                                        "bruck",
                                                        "recursive-doubling",
                                                        "neighbor-exchange",
                                                        "split-binary",
                                                        "two-tree-complete",
                                                        "two-tree-sanders",
                                                        "hierarchical",
                                                        "hierarchical-node",
                                                        "hierarchical-group",
                                                        "reorder"};
  return std::ranges::count(kOblivious, name) > 0;
}

// Algorithms that solve the packing report its bound. `fabric` reports one where it reaches it.
bool knows_bound(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSolvers{"optimal", "exact-tree", "best-tree",
                                                     "lp-grow", "lp-prune"};
  return std::ranges::count(kSolvers, name) > 0;
}

// A search through many trees takes a thousand times as long as the other algorithms.
std::uint64_t seeds_for(std::string_view name) {
  return draws(name == "exact-tree" || name == "best-tree" ? 3 : 8);
}

class EveryAlgorithm : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static const AlgorithmEntry& entry() { return *find_algorithm(std::get<0>(GetParam())).entry; }
  static platforms::Model model() { return platforms::parse_model(std::get<1>(GetParam())); }
};

void expect_trees(const Instance& instance, const Outcome& outcome, bool hosts_between) {
  ASSERT_FALSE(outcome.trees.empty());
  for (const WeightedTree& tree : outcome.trees) {
    EXPECT_EQ(tree_fault(instance, tree.tree, hosts_between), "");
    EXPECT_GT(tree.rate.value, 0);
  }
}

// A single tree has the largest possible rate; so have the trees of an algorithm that gives all of
// them one rate.
void expect_feasible(const Instance& instance, const Outcome& outcome, bool at_one_rate) {
  const PlainModel plain(instance);
  const double load = busiest(plain.load_of(outcome.trees));
  EXPECT_LE(load, 1 + kTolerance);
  if (outcome.trees.size() == 1 || at_one_rate) {
    EXPECT_NEAR(load, 1, kTolerance);
  }
  if (!at_one_rate) return;
  for (const WeightedTree& tree : outcome.trees) EXPECT_EQ(tree.rate, outcome.trees[0].rate);
}

void expect_certificate(const Instance& instance, const Outcome& outcome) {
  ASSERT_TRUE(outcome.bound.has_value());
  double sum = 0;
  double last = 1 + kTolerance;
  for (const PricedResource& priced : outcome.prices) {
    EXPECT_LT(priced.row, instance.resource_count());
    EXPECT_GT(priced.price, 0);
    EXPECT_LE(priced.price, last);
    last = priced.price;
    sum += priced.price;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

void expect_same(const Outcome& one, const Outcome& other) {
  ASSERT_EQ(one.trees.size(), other.trees.size());
  for (std::size_t i = 0; i < one.trees.size(); ++i) {
    EXPECT_EQ(one.trees[i].tree, other.trees[i].tree);
    EXPECT_EQ(one.trees[i].rate, other.trees[i].rate);
    EXPECT_EQ(one.trees[i].colors, other.trees[i].colors);
    EXPECT_EQ(one.trees[i].exchange, other.trees[i].exchange);
  }
  EXPECT_EQ(one.bound, other.bound);
  EXPECT_EQ(one.prices.size(), other.prices.size());
}

void expect_valid_plan(const DrawnPlatform& drawn, const Instance& instance,
                       const AlgorithmEntry& entry, const Outcome& outcome) {
  const Plan made = make_plan(instance, entry.name, outcome, Bytes{1 << 20});
  const Plan read = parse_plan(to_json(made), "plan.json");
  const VerifyReport report = verify(read, drawn.platform);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_NEAR(report.throughput.value / total_rate(outcome.trees), 1, kTolerance);
  EXPECT_EQ(report.trees, outcome.trees.size());
}

TEST_P(EveryAlgorithm, GivesFeasibleTreesThatSpanAllHostsAndMakeAValidPlan) {
  const std::uint64_t seeds = seeds_for(entry().name);
  for_each_platform(seeds, kMostHosts, model(), [](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(model());
    if (!entry().is_for(instance)) return;
    const Outcome outcome = entry().run(instance, {});
    expect_trees(instance, outcome, is_oblivious(entry().name));
    if (!entry().several_trees) {
      EXPECT_EQ(outcome.trees.size(), 1U);
    }
    expect_feasible(instance, outcome, is_oblivious(entry().name));
    if (entry().name != "fabric") {
      EXPECT_EQ(outcome.bound.has_value(), knows_bound(entry().name));
    }
    if (outcome.bound) expect_certificate(instance, outcome);
    expect_valid_plan(drawn, instance, entry(), outcome);
  });
}

TEST_P(EveryAlgorithm, GivesTheSameTwice) {
  for_each_platform(1, kMostHosts, model(), [](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(model());
    const Instance again = drawn.under(model());
    if (!entry().is_for(instance)) return;
    expect_same(entry().run(instance, {}), entry().run(again, {}));
  });
}

// The optimum of a platform is proven once, for all algorithms.
class EveryModel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryModel, NoAlgorithmIsAboveTheProvenBound) {
  const platforms::Model model = platforms::parse_model(GetParam());
  for_each_platform(draws(2), kMostHosts, model,
                    [&](const DrawnPlatform& drawn, const auto& trace) {
                      SCOPED_TRACE(trace);
                      const Instance instance = drawn.under(model);
                      const Outcome proof = prove_optimum(instance, {});
                      expect_certificate(instance, proof);
                      for (const std::string& name : algorithm_names()) {
                        SCOPED_TRACE(name);
                        const Algorithm algorithm = find_algorithm(name);
                        if (!algorithm.entry->is_for(instance)) continue;
                        const Outcome outcome = algorithm.run(instance, {});
                        EXPECT_LE(total_rate(outcome.trees), proof.bound->value * (1 + kTolerance));
                      }
                    });
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryModel, ::testing::ValuesIn(model_names()),
                         [](const auto& model) { return case_name(model.param); });

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm,
                         ::testing::Combine(::testing::ValuesIn(algorithm_names()),
                                            ::testing::ValuesIn(model_names())),
                         [](const auto& instance) {
                           return case_name(std::get<0>(instance.param)) + "_" +
                                  case_name(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace espalier::planner::every_algorithm_test
