// Limits of the number and the depth of trees where every host is a root.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "platforms/generators/generators.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::all_roots_limits_test {
namespace {

using espalier::testing::DrawnPlatform;
using espalier::testing::kOperationsOfAllRoots;
using espalier::testing::small_platform;
using platforms::Model;
using ::testing::IsEmpty;

// With one tree for each root no worse than the best ring that is tried, and never above the bound.
TEST(AllRoots, EachRootHasAtMostTheGivenNumberOfTrees) {
  std::optional<DrawnPlatform> strong;  // all hosts reach all
  for (std::uint64_t seed = 1; !strong || strong->platform.hosts().size() < 5; ++seed) {
    strong = espalier::testing::fit_for(Operation::kAllreduce,
                                        espalier::testing::platform_families()[0].draw(seed, 7));
  }
  for (const Operation operation : kOperationsOfAllRoots) {
    const AllRoots problem(operation, strong->platform, Model::kOnePort, strong->options);
    double before = 0;
    for (const std::size_t most : {1, 2, 50}) {
      AlgorithmOptions options;
      options.max_trees = most;
      const Outcome outcome = run(find_algorithm("optimal", operation), problem, options);
      for (const BlockOfTrees& block : outcome.blocks) EXPECT_LE(block.trees.size(), most);
      EXPECT_LE(outcome.blocks.size(), problem.has_free_roots() ? 2 * most : SIZE_MAX);
      const double throughput = throughput_of(outcome).value;
      EXPECT_GE(throughput, before * (1 - 1e-9));
      EXPECT_LE(throughput, outcome.bound->value * (1 + 1e-9));
      if (most == 50) {
        EXPECT_GE(throughput, outcome.bound->value * (1 - 1e-5));
      }
      before = throughput;
    }
  }
}

// Two clusters with a thin link between them: several roots carry no more than one, and with the
// same number of trees they carried less.
TEST(AllRoots, OneRootIsPreferredWhereItNeedsFewerTrees) {
  std::vector<espalier::testing::Link> links;
  std::vector<std::string> nodes;
  const auto add = [&](const std::string& one, const std::string& other, double rate) {
    links.push_back({one, other, 1 / rate, 2e-5});
    links.push_back({other, one, 1 / rate, 2e-5});
  };
  for (int i = 0; i < 8; ++i) {
    nodes.push_back(fmt::format("h{}", i));
    add(nodes.back(), i % 2 == 0 ? "sw0" : "sw1", i % 2 == 0 ? 25e6 : 12.5e6);
  }
  add("sw0", "sw1", 12.5e6);
  nodes.insert(nodes.end(), {"sw0", "sw1"});
  const platforms::Platform platform = small_platform(nodes, links);
  const AllRoots problem(Operation::kAllreduce, platform, Model::kBoundedMultiPort);
  const auto plan_within = [&](std::size_t trees) {
    AlgorithmOptions options;
    options.max_trees = trees;
    return make_plan(problem, kOptimal, run(find_algorithm(kOptimal), problem, options),
                     Bytes{1 << 20});
  };
  const Plan any = plan_within(0);
  EXPECT_LE(tree_count(any), 8U);
  EXPECT_THAT(verify(any, platform).faults, IsEmpty());
  EXPECT_NEAR(plan_within(4).throughput.value, any.throughput.value, 1e-5 * any.throughput.value);
}

// Every tree is as deep as allowed at most, also under latencies, and a deeper limit carries no
// less. The direct links between all hosts allow one edge.
TEST(AllRoots, TreesKeepTheLimitOfDepthOrLatency) {
  std::vector<espalier::testing::Link> links;
  const std::vector<std::string> hosts{"a", "b", "c", "d", "e", "f"};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t j = 0; j < hosts.size(); ++j) {
      if (i == j) continue;
      links.push_back({hosts[i], hosts[j], 1 / (10.0 + static_cast<double>((7 * i + 3 * j) % 11)),
                       1e-3 * static_cast<double>(1 + (5 * i + j) % 4)});
    }
  }
  const platforms::Platform platform = small_platform(hosts, links);
  for (const Operation operation : kOperationsOfAllRoots) {
    SCOPED_TRACE(name_of(operation));
    const AllRoots problem(operation, platform, Model::kBoundedMultiPort);
    const double bound = solve(problem, {}, Purpose::kProof).bound->value;
    double before = 0;
    for (const std::uint32_t depth : {1U, 2U, 4U}) {
      AlgorithmOptions options;
      options.max_depth = depth;
      const Plan plan =
          make_plan(problem, kOptimal, run(find_algorithm("optimal", operation), problem, options),
                    Bytes{1 << 20});
      EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
      for (const PlanBlock& block : plan.blocks) {
        for (const PlanTree& tree : block.trees) EXPECT_LE(depth_of(tree, block.root), depth);
      }
      EXPECT_GE(plan.throughput.value, before * (1 - 1e-9));
      EXPECT_LE(plan.throughput.value, bound * (1 + 1e-9));
      before = plan.throughput.value;
    }
    EXPECT_GE(before, 0.9 * bound);
    AlgorithmOptions options;
    options.max_latency = Seconds{1e-9};
    EXPECT_THROW(static_cast<void>(run(find_algorithm("optimal", operation), problem, options)),
                 InfeasibleError);
  }
}

// Few equal hosts at one switch: each is as good a root, and nothing is nearer than all others at
// once.
TEST(AllRoots, AnAllreduceAtASwitchIsOneEdgeDeep) {
  constexpr std::size_t kHosts = 8;
  platforms::StarFamily family;
  family.hosts = kHosts;
  const platforms::Platform platform = platforms::generate_star(family);
  const AllRoots problem(Operation::kAllreduce, platform, Model::kOnePort);
  const Outcome outcome = solve(problem, {}, Purpose::kPlan);
  EXPECT_NEAR(throughput_of(outcome).value, outcome.bound->value, 1e-6 * outcome.bound->value);
  const Plan plan = make_plan(problem, "optimal", outcome, kDefaultSegment);
  EXPECT_EQ(plan.blocks.size(), 2 * kHosts);
  for (const PlanBlock& block : plan.blocks) {
    ASSERT_EQ(block.trees.size(), 1U);
    EXPECT_EQ(depth_of(block.trees.front(), block.root), 1U);
  }
}

}  // namespace
}  // namespace espalier::planner::all_roots_limits_test
