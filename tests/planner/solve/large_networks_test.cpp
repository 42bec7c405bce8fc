// Networks of a thousand hosts on which column generation takes long, and plain bounds and trees do
// not. No test measures time: they count the arborescences priced.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/counting_clock.hpp"

namespace espalier::planner::large_networks_test {
namespace {

using espalier::testing::collective_of;
using espalier::testing::CountingClock;
using espalier::testing::instance_of;
using platforms::Platform;

Platform star() {
  platforms::StarFamily family;
  family.hosts = 1024;
  return platforms::generate_star(family);
}
Platform fat_tree() {
  platforms::FatTreeFamily family;
  family.shape = platforms::k_port_fat_tree(16);
  return platforms::generate_fat_tree(family);
}
Platform dragonfly() {
  platforms::DragonflyFamily family;
  family.shape = {.groups = 33, .routers = 8, .hosts = 4, .global_ports = 4};
  return platforms::generate_dragonfly(family);
}

struct LargeNetwork {
  std::string name;
  Platform (*make)();
};

class LargeEqualNetwork : public ::testing::TestWithParam<LargeNetwork> {
 protected:
  void expect_proven_at_once(const Outcome& proof) const {
    EXPECT_EQ(proof.iterations, 0U);
    EXPECT_EQ(proof.ends.worst(), Termination::kDone);
    EXPECT_DOUBLE_EQ(throughput_of(proof).value, link());
    EXPECT_DOUBLE_EQ(proof.bound->value, link());
  }
  [[nodiscard]] double link() const { return platform_.arcs().front().bandwidth.value; }
  Platform platform_ = GetParam().make();
};

TEST_P(LargeEqualNetwork, IsProvenWithoutPricing) {
  for (const char* const model : {"one-port", "multi-port", "bounded-multi-port"}) {
    for (const Operation operation : {Operation::kBroadcast, Operation::kReduce}) {
      SCOPED_TRACE(model);
      expect_proven_at_once(prove_optimum(collective_of(platform_, "h0", operation, model), {}));
    }
  }
}

TEST_P(LargeEqualNetwork, HasACertificateLikeAnyOther) {
  const Collective collective = collective_of(platform_, "h0");
  const Outcome proof = prove_optimum(collective, {});
  const std::vector<double> prices =
      prices_by_row(proof.prices, collective.occupation().resources.size());
  const CollectiveProblem problem(collective);
  EXPECT_NEAR(lp::bound_from_prices(problem.problem(), prices) / link(), 1, 1e-9);
}

// A plan that is checked may be a poor one; the proof is as short.
TEST_P(LargeEqualNetwork, IsProvenBesideAPoorPlan) {
  const Collective collective = collective_of(platform_, "h0");
  StartingTrees start;
  for (WeightedTree& tree : find_algorithm("flat").run(*collective.broadcast(), {}).trees) {
    ASSERT_LT(tree.rate.value, link() / 100);
    start.down.push_back(std::move(tree.tree));
  }
  expect_proven_at_once(prove_optimum(collective, {}, start));
}

// The limit leaves no time to price a tree between a million pairs of hosts.
TEST_P(LargeEqualNetwork, IsPlannedOptimallyWithinAnyLimit) {
  CountingClock clock;
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{1}, &clock);
  const Outcome plan = run(find_algorithm("optimal"), collective_of(platform_, "h0"), options);
  EXPECT_DOUBLE_EQ(throughput_of(plan).value, link());
  EXPECT_EQ(plan.ends.packing, Termination::kDone);
}

// No root but the first is tried, and no nearer trees.
TEST_P(LargeEqualNetwork, AllreducesFromAnyRootArePlannedWithoutPricing) {
  const AllRoots problem(Operation::kAllreduce, platform_, platforms::Model::kOnePort);
  const Outcome plan = run(find_algorithm("optimal"), problem, {});
  EXPECT_EQ(plan.iterations, 0U);
  EXPECT_EQ(plan.ends.worst(), Termination::kDone);
  EXPECT_GE(throughput_of(plan).value, 0.998 * plan.bound->value);
}

INSTANTIATE_TEST_SUITE_P(Networks, LargeEqualNetwork,
                         ::testing::Values(LargeNetwork{"star", star},
                                           LargeNetwork{"fat_tree", fat_tree},
                                           LargeNetwork{"dragonfly", dragonfly}),
                         [](const auto& test) { return test.param.name; });

// Its 50,000 links, of which none is narrow, must not weigh in the bound.
TEST(LargeNetworks, ADenseOneIsBoundedByItsPorts) {
  const Platform platform = platforms::generate_random({.nodes = 1000, .density = 0.05, .seed = 5});
  const Instance instance = instance_of(platform, "n2", "multi-port");
  lp::PackingOptions options;
  options.seeds = heuristic_trees(instance, Deadline(), Purpose::kProof);
  options.max_iterations = 250;
  const lp::Packing packing = lp::pack_arborescences(packing_problem(instance), options);
  EXPECT_LE(packing.bound, 1.01 * packing.rate);
}

}  // namespace
}  // namespace espalier::planner::large_networks_test
