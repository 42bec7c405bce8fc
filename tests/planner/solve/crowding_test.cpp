// Plans between two clusters far from each other: at either end of the long link a host with many
// children would starve it (docs/decisions/0028-nearer-sends-crowd-out-long-ones.md).
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/figures.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/generators/generators.hpp"

namespace espalier::planner::crowding_test {
namespace {

using platforms::Model;
using platforms::Platform;

Platform clusters_of(std::size_t hosts) {
  platforms::TwoClustersFamily family;
  family.hosts = {hosts, hosts};
  family.spread.heterogeneity = 0.3;
  return platforms::generate_two_clusters(family);
}

template <class Problem>
Plan optimal_plan(const Problem& problem) {
  return make_plan(problem, kOptimal,
                   run(find_algorithm(kOptimal, Operation::kAllreduce), problem, {}),
                   kDefaultSegment);
}

// By column generation, of racks or built directly.
TEST(Crowding, AllreducesOfOneRootLeaveTheLongLinkItsTime) {
  for (const std::size_t hosts : {8, 16, 32}) {
    SCOPED_TRACE(std::to_string(hosts));
    const Platform platform = clusters_of(hosts);
    const Plan plan = optimal_plan(
        Collective(Operation::kAllreduce, platform, platform.hosts().front(), Model::kOnePort));
    EXPECT_LE(crowding_of(plan, platform), 1.2);
    EXPECT_NEAR(plan.throughput.value, plan.optimum->value, 2e-3 * plan.optimum->value);
  }
}

// Without nearer trees it would be a chain through all hosts.
TEST(Crowding, AllreducesOfAnyRootAreShallowAndLeaveTheLongLinkItsTime) {
  const Platform platform = clusters_of(8);
  const Plan plan = optimal_plan(AllRoots(Operation::kAllreduce, platform, Model::kOnePort));
  EXPECT_LE(crowding_of(plan, platform), 1.2);
  EXPECT_LE(figures_of(plan).depth, 6U);
}

// The first host sends to its seven neighbours and over the long link: their sends take 7 times
// what the long link carries of the port's time.
TEST(Crowding, OfAPlanCountsAllItsTrees) {
  platforms::TwoClustersFamily family;
  family.hosts = {8, 1};
  const Platform platform = platforms::generate_two_clusters(family);
  const Collective problem(Operation::kAllreduce, platform, platform.hosts().front(),
                           Model::kOnePort);
  const Algorithm flat = find_algorithm("flat", Operation::kAllreduce);
  const Plan plan = make_plan(problem, "flat", run(flat, problem, {}), kDefaultSegment);
  EXPECT_NEAR(crowding_of(plan, platform), 1 + 7 * 12.5e6 / 125e6, 1e-9);
}

}  // namespace
}  // namespace espalier::planner::crowding_test
