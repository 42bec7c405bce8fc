// Optimal reductions and allreduces against all spanning trees of small platforms, one by one: a
// plain LP over reduce trees and broadcast trees, with the rates of each kind summing to the
// throughput, without reversed platforms and doubled graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/solver/linear_program.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/collective_problem.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::planner::collective_brute_force_test {
namespace {

using espalier::testing::all_host_paths;
using espalier::testing::busiest;
using espalier::testing::case_name;
using espalier::testing::DrawnPlatform;
using espalier::testing::for_each_platform;
using espalier::testing::HostPath;
using espalier::testing::model_names;
using espalier::testing::PlainModel;

constexpr std::size_t kMostTrees = 700;
using Loads = std::vector<PlainModel::Load>;

// The loads of all trees out of the source, or of all trees into it.
class AllTrees {
 public:
  AllTrees(const Collective& collective, const PlainModel& model, bool up)
      : model_(model), up_(up), source_(static_cast<std::uint32_t>(collective.source())) {
    at_.resize(collective.platform().nodes().size());
    chosen_.assign(at_.size(), nullptr);
    paths_ = all_host_paths(collective.platform());
    for (const HostPath& path : paths_) {
      if (below(path) != source_) at_[below(path)].push_back(&path);
    }
    for (const platforms::NodeId host : collective.platform().hosts()) {
      if (host != collective.source()) hosts_.push_back(static_cast<std::uint32_t>(host));
    }
  }
  [[nodiscard]] double combinations() const {
    double product = 1;
    for (const std::uint32_t host : hosts_) product *= static_cast<double>(at_[host].size());
    return product;
  }
  Loads loads() {
    choose(0);
    return loads_;
  }

 private:
  [[nodiscard]] std::uint32_t below(const HostPath& path) const {
    return up_ ? path.from : path.to;
  }
  [[nodiscard]] std::uint32_t above(const HostPath& path) const {
    return up_ ? path.to : path.from;
  }
  void choose(std::size_t position) {
    if (position < hosts_.size()) {
      for (const HostPath* path : at_[hosts_[position]]) {
        chosen_[hosts_[position]] = path;
        choose(position + 1);
      }
      return;
    }
    PlainModel::Load load = model_.no_load();
    for (const std::uint32_t host : hosts_) {
      std::uint32_t node = host;
      for (std::size_t step = 0; node != source_; ++step) {
        if (step > hosts_.size()) return;  // a cycle
        node = above(*chosen_[node]);
      }
      model_.add(chosen_[host]->arcs, 1, load);
    }
    loads_.push_back(load);
  }

  const PlainModel& model_;
  bool up_;
  std::uint32_t source_;
  std::vector<HostPath> paths_;
  std::vector<std::vector<const HostPath*>>
      at_;                            // per node: the paths to or from the nodes above it
  std::vector<std::uint32_t> hosts_;  // without the source
  std::vector<const HostPath*> chosen_;
  Loads loads_;
};

// max t: rates of each kind sum to t, no resource above 1.
double plain_optimum(const std::vector<Loads>& kinds) {
  double unit_rate = 0;
  for (const PlainModel::Load& load : kinds[0]) unit_rate = std::max(unit_rate, 1 / busiest(load));
  lp::LinearProgram program(lp::Sense::kMaximise);
  const std::size_t resources = kinds[0][0].size();
  for (std::size_t r = 0; r < resources; ++r) program.add_row({-lp::kInfinity, 1});
  std::vector<lp::Entry> total;
  for (const Loads& kind : kinds) {
    const std::uint32_t balance = program.add_row({0, 0});
    total.push_back({balance, -1});
    for (const PlainModel::Load& load : kind) {
      std::vector<lp::Entry> entries;
      for (std::uint32_t r = 0; r < resources; ++r) {
        if (load[r] > 0) entries.push_back({r, load[r] * unit_rate});
      }
      entries.push_back({balance, 1});
      program.add_column({0, lp::kInfinity}, 0, entries);
    }
  }
  program.add_column({0, lp::kInfinity}, 1, total);
  EXPECT_EQ(program.solve(), lp::LpStatus::kOptimal);
  return program.objective() * unit_rate;
}

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
        AllTrees in(collective, plain, true);
        AllTrees out(collective, plain, false);
        if (std::max(in.combinations(), out.combinations()) > kMostTrees) continue;
        std::vector<Loads> kinds{in.loads()};
        if (broadcasts(operation)) kinds.push_back(out.loads());
        const double optimum = plain_optimum(kinds);
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
    AllTrees in(collective, plain, true);
    AllTrees out(collective, plain, false);
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
