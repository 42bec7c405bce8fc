// Plans made by hand, for the tests of plans and their file.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

//   tree 0, 60 MB/s      tree 1, 31 MB/s
//        a                    a
//        |                    |
//        c                    b
//        |                    |
//        b                    c  (through the switch sw)
inline Plan two_chains() {
  Plan plan;
  plan.segment = {1U << 20U};
  plan.platform = "two racks";
  plan.source = "a";
  plan.model = "one-port";
  plan.algorithm = "optimal";
  plan.nodes = {"a", "b", "c"};
  plan.throughput = {9.1e7};
  plan.optimum = BytesPerSecond{9.1e7};
  plan.broadcast_trees = {{{6.0e7}, {{0, 2}, {2, 1}}, {}},
                          {{3.1e7}, {{0, 1}, {1, 2}}, {{{1, 2}, {"sw"}}}}};
  return plan;
}

// A period carries 2 MiB of tree 0 and 1 MiB of tree 1, a tenth of a second per MiB on each edge.
// There is no platform to check the figures against.
inline Plan scheduled_chains() {
  Plan plan = two_chains();
  constexpr double kMiB = 1 << 20;
  plan.schedule = {{0.5},
                   {3 * kMiB / 0.5},
                   {2, 1},
                   {{0, 0, 2, {0}, {0.2}, 2 * kMiB},
                    {0, 2, 1, {0}, {0.125}, 1.25 * kMiB},
                    {1, 0, 1, {0.2}, {0.1}, kMiB},
                    {1, 1, 2, {0.25}, {0.1}, kMiB},
                    {0, 2, 1, {0.375}, {0.125}, 0.75 * kMiB}}};
  return plan;
}

// The same, and the hosts' data is combined at a along the same trees.
inline Plan allreduce_chains() {
  Plan plan = two_chains();
  plan.operation = Operation::kAllreduce;
  plan.reduce_trees = plan.broadcast_trees;
  return plan;
}

inline Plan reduce_chains() {
  Plan plan = allreduce_chains();
  plan.operation = Operation::kReduce;
  plan.broadcast_trees.clear();
  return plan;
}

inline void expect_same(const std::vector<PlanTree>& got, const std::vector<PlanTree>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].rate, want[i].rate);
    EXPECT_EQ(got[i].edges, want[i].edges);
    EXPECT_EQ(got[i].via, want[i].via);
    EXPECT_EQ(got[i].colors, want[i].colors);
    EXPECT_EQ(got[i].exchange, want[i].exchange);
    EXPECT_EQ(got[i].latencies, want[i].latencies);
  }
}

inline void expect_same(const Plan& got, const Plan& want) {
  EXPECT_EQ(got.operation, want.operation);
  EXPECT_EQ(got.platform, want.platform);
  EXPECT_EQ(got.source, want.source);
  EXPECT_EQ(got.model, want.model);
  EXPECT_EQ(got.algorithm, want.algorithm);
  EXPECT_EQ(got.nodes, want.nodes);
  EXPECT_EQ(got.segment, want.segment);
  EXPECT_EQ(got.throughput, want.throughput);
  EXPECT_EQ(got.optimum, want.optimum);
  EXPECT_EQ(got.latency_occupies, want.latency_occupies);
  EXPECT_EQ(got.schedule, want.schedule);
  expect_same(got.reduce_trees, want.reduce_trees);
  expect_same(got.broadcast_trees, want.broadcast_trees);
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the test's text lacks " + from);
  return text.replace(at, from.size(), to);
}

}  // namespace espalier::planner
