// Networks in which several hosts share a switch, packed with one host a rack: feasible on the
// whole, and proven there.
#include "planner/solve/rack_packing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "lp/fabric/racks.hpp"
#include "planner/check/verify.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::rack_packing_test {
namespace {

using espalier::testing::collective_of;
using espalier::testing::draws;
using espalier::testing::instance_of;
using espalier::testing::tree_fault;
using platforms::Platform;
using ::testing::IsEmpty;

// Regions whose links to each other carry little of what their hosts could.
Platform thin_regions(std::size_t regions, std::size_t hosts, const platforms::Spread& spread) {
  platforms::MultiRegionFamily family;
  family.regions = regions;
  family.hosts = hosts;
  family.least_wan = {1.25e6};
  family.most_wan = {1.25e8};
  family.spread = spread;
  return platforms::generate_multi_region(family);
}

void expect_feasible(const Instance& instance, const std::vector<lp::PackedTree>& trees) {
  const testing::PlainModel plain(instance);
  std::vector<WeightedTree> weighted;
  for (const lp::PackedTree& packed : trees) {
    EXPECT_EQ(tree_fault(instance, packed.tree, false), "");
    weighted.push_back({packed.tree, {packed.rate}});
  }
  EXPECT_NEAR(testing::busiest(plain.load_of(weighted)), 1, 1e-6);
}

TEST(Racks, ExpandToFeasibleTreesWhoseBoundHoldsOnTheWhole) {
  for (std::uint64_t seed = 1; seed <= draws(12); ++seed) {
    const Platform platform =
        thin_regions(3 + seed % 3, 3 + seed % 4, {.heterogeneity = 0.3, .slow = {}, .seed = seed});
    for (const char* const model : {"one-port", "bounded-multi-port", "one-port-unidirectional"}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + model);
      const Instance instance = instance_of(platform, "h0", model);
      const auto racks = lp::Racks::of(packing_problem(instance));
      ASSERT_TRUE(racks);
      EXPECT_EQ(racks->problem().graph.host_count(), 3 + seed % 3);
      const lp::Packing small = lp::pack_arborescences(racks->problem());
      expect_feasible(instance, racks->expand(small.trees));
      // Fewer than 64 hosts: packed as a whole.
      const lp::Packing whole = solve_packing(instance, {});
      const std::vector<double> prices = racks->prices(small.prices);
      EXPECT_EQ(prices.size(), instance.resource_count());
      // Trees may enter a rack more than once, and so carry no less than those that do not.
      EXPECT_GE(whole.bound, small.rate * (1 - 1e-5));
    }
  }
}

TEST(Racks, AreNotMadeOfOtherNetworks) {
  platforms::StarFamily star;
  star.hosts = 70;
  const Platform one_rack = platforms::generate_star(star);
  EXPECT_FALSE(lp::Racks::of(packing_problem(instance_of(one_rack, "h0"))));
  platforms::TorusFamily torus;  // a host a router
  torus.injection = torus.bandwidth;
  const Platform one_each = platforms::generate_torus(torus);
  EXPECT_FALSE(lp::Racks::of(packing_problem(instance_of(one_each, "h0"))));
  platforms::TorusFamily direct;
  const Platform hosts = platforms::generate_torus(direct);
  EXPECT_FALSE(lp::Racks::of(packing_problem(instance_of(hosts, "h0"))));
}

// Thin links between the racks bind, so that the hosts have room, and nothing is lost.
TEST(RackPacking, IsOptimalWhereLinksBetweenRacksBind) {
  for (std::uint64_t seed = 1; seed <= draws(1); ++seed) {
    const Platform platform = thin_regions(6, 8, {.slow = {}, .seed = seed});
    for (const Operation operation : kOperations) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(name_of(operation)));
      const Collective collective = collective_of(platform, "h0", operation);
      const Outcome outcome = run(find_algorithm("optimal", operation), collective, {});
      const Plan plan = make_plan(collective, "optimal", outcome, kDefaultSegment);
      const VerifyReport report = verify(plan, platform, {.prove = false});
      EXPECT_THAT(report.faults, IsEmpty());
      const double gap = operation == Operation::kAllreduce ? 1.1e-3 : 2e-6;
      EXPECT_GE(throughput_of(outcome).value, outcome.bound->value * (1 - gap));
      const Outcome proof = prove_optimum(collective, {});
      EXPECT_NEAR(proof.bound->value / outcome.bound->value, 1, 2 * gap);
    }
  }
}

}  // namespace
}  // namespace espalier::planner::rack_packing_test
