// The optimum, the bound and the heuristics against all spanning trees of small platforms, one by
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/solver/linear_program.hpp"
#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::brute_force_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;
using espalier::testing::total_rate;

constexpr double kTolerance = 1e-6;

// The loads of all spanning trees of an instance: a path into every host but the source, in all
// combinations without a cycle.
class AllTrees {
 public:
  explicit AllTrees(const Instance& instance)
      : model_(instance), source_(static_cast<std::uint32_t>(instance.source())) {
    into_.resize(instance.platform().nodes().size());
    for (const HostPath& path : all_host_paths(instance.platform())) {
      if (path.to != source_) into_[path.to].push_back(path);
    }
    for (const platforms::NodeId host : instance.platform().hosts()) {
      if (host != instance.source()) hosts_.push_back(static_cast<std::uint32_t>(host));
    }
  }

  // The number of combinations, including those with cycles.
  [[nodiscard]] double combinations() const {
    double product = 1;
    for (const std::uint32_t host : hosts_) product *= static_cast<double>(into_[host].size());
    return product;
  }
  const std::vector<PlainModel::Load>& loads() {
    chosen_.assign(into_.size(), nullptr);
    choose(0);
    return loads_;
  }

 private:
  void choose(std::size_t position) {
    if (position == hosts_.size()) {
      if (leads_up_everywhere()) loads_.push_back(load());
      return;
    }
    const std::uint32_t host = hosts_[position];
    for (const HostPath& path : into_[host]) {
      chosen_[host] = &path;
      choose(position + 1);
    }
  }
  [[nodiscard]] bool leads_up_everywhere() const {
    return std::ranges::all_of(hosts_, [this](std::uint32_t node) {
      for (std::size_t steps = 0; node != source_ && steps <= hosts_.size(); ++steps) {
        node = chosen_[node]->from;
      }
      return node == source_;
    });
  }
  [[nodiscard]] PlainModel::Load load() const {
    PlainModel::Load load = model_.no_load();
    for (const std::uint32_t host : hosts_) model_.add(chosen_[host]->arcs, 1, load);
    return load;
  }

  PlainModel model_;
  std::uint32_t source_;
  std::vector<std::vector<HostPath>> into_;  // per node
  std::vector<std::uint32_t> hosts_;         // without the source
  std::vector<const HostPath*> chosen_;      // per node
  std::vector<PlainModel::Load> loads_;
};

double best_single_rate(const std::vector<PlainModel::Load>& trees) {
  double best = 0;
  for (const PlainModel::Load& load : trees) best = std::max(best, 1 / busiest(load));
  return best;
}

// max sum of rates such that no resource is loaded above 1, over all trees at once.
double packing_optimum(const std::vector<PlainModel::Load>& trees) {
  const double unit_rate = best_single_rate(trees);
  lp::LinearProgram program(lp::Sense::kMaximise);
  for (std::size_t r = 0; r < trees[0].size(); ++r) program.add_row({-lp::kInfinity, 1});
  for (const PlainModel::Load& load : trees) {
    std::vector<lp::Entry> entries;
    for (std::uint32_t r = 0; r < load.size(); ++r) {
      if (load[r] > 0) entries.push_back({r, load[r] * unit_rate});
    }
    program.add_column({0, lp::kInfinity}, 1, entries);
  }
  EXPECT_EQ(program.solve(), lp::LpStatus::kOptimal);
  return program.objective() * unit_rate;
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
double bound_of(const std::vector<double>& prices, const std::vector<PlainModel::Load>& trees) {
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
    if (AllTrees(drawn.under(model)).combinations() <= kMostCombinations) return drawn;
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
        check(instance, AllTrees(instance).loads());
      }
    }
  }
};

using Loads = std::vector<PlainModel::Load>;

TEST_P(BruteForce, ProvenOptimumIsThatOfTheLpOverAllTrees) {
  for_each_small_platform([](const Instance& instance, const Loads& trees) {
    const double optimum = packing_optimum(trees);
    const Outcome proof = prove_optimum(instance, {});
    EXPECT_NEAR(total_rate(proof.trees) / optimum, 1, kTolerance);
    EXPECT_GE(proof.bound->value / optimum, 1 - 1e-7);  // the LP's tolerance
    EXPECT_EQ(proof.ends.worst(), Termination::kDone);
  });
}

TEST_P(BruteForce, NoPlainBoundIsBelowTheLpOverAllTrees) {
  int exact = 0;
  for_each_small_platform([&](const Instance& instance, const Loads& trees) {
    const double optimum = packing_optimum(trees);
    const lp::PlainBound plain = lp::plain_bound(packing_problem(instance));
    EXPECT_GE(plain.rate / optimum, 1 - 1e-7);
    exact += plain.rate / optimum < 1 + 1e-6 ? 1 : 0;
  });
  EXPECT_GT(exact, 0);
}

TEST_P(BruteForce, PlanReachesTheLpOverAllTrees) {
  for_each_small_platform([](const Instance& instance, const Loads& trees) {
    const Outcome plan = run("optimal", instance);
    EXPECT_NEAR(total_rate(plan.trees) / packing_optimum(trees), 1, 2 * kTolerance);
  });
}

TEST_P(BruteForce, PricesProveTheBound) {
  for_each_small_platform([](const Instance& instance, const Loads& trees) {
    const Outcome proof = prove_optimum(instance, {});
    const double proven = bound_of(plain_prices(instance, proof), trees);
    EXPECT_NEAR(proof.bound->value / proven, 1, 1e-9);
  });
}

TEST_P(BruteForce, NoHeuristicBeatsTheBestTree) {
  for_each_small_platform([](const Instance& instance, const Loads& trees) {
    const double best = best_single_rate(trees);
    for (const AlgorithmEntry& entry : algorithms()) {
      if (!entry.is_for(instance)) continue;
      const Outcome outcome = entry.run(instance, {});
      if (outcome.trees.size() > 1) continue;  // several trees may exceed the best single one
      EXPECT_LE(total_rate(outcome.trees), best * (1 + kTolerance)) << entry.name;
    }
    EXPECT_LE(total_rate(run("optimal", instance, at_most(1)).trees), best * (1 + kTolerance));
  });
}

TEST_P(BruteForce, ExactTreeIsTheBestTree) {
  for_each_small_platform([](const Instance& instance, const Loads& trees) {
    const double best = best_single_rate(trees);
    const Outcome exact = run("exact-tree", instance);
    EXPECT_EQ(exact.ends.worst(), Termination::kDone);
    // Through relays it considers only the fastest path.
    if (instance.platform().hosts().size() < instance.platform().nodes().size()) {
      EXPECT_LE(total_rate(exact.trees), best * (1 + kTolerance));
      return;
    }
    EXPECT_NEAR(total_rate(exact.trees) / best, 1, 2 * kTolerance);
    EXPECT_NEAR(exact.single_tree_bound->value / best, 1, 2 * kTolerance);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, BruteForce, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

}  // namespace
}  // namespace espalier::planner::brute_force_test
