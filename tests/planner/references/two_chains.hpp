// The smallest plan that shares its ports between trees: for the tests of schedules.
#pragma once

#include "planner/plan/plan.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::testing {

//     s            s       Two trees, half the data each, 1 s per byte: a segment of 4 bytes of
//     |            |       each keeps the out-port of s and both in-ports busy for all the 8 s
//     a            b       of the period.
//     |            |
//     b            a
inline planner::Plan two_chains() {
  planner::Plan plan;
  plan.platform = "small";
  plan.source = "s";
  plan.model = "one-port";
  plan.algorithm = "optimal";
  plan.nodes = {"s", "a", "b"};
  plan.segment = {4};
  plan.throughput = {1};
  plan.broadcast_trees = {{{0.5}, {{0, 1}, {1, 2}}, {}}, {{0.5}, {{0, 2}, {2, 1}}, {}}};
  return plan;
}

//   0 s      4 s      8 s
//   | s -> a | s -> b |      s -> a and a -> b are tree 0's; of a reduce, in the other direction
//   | a -> b | b -> a |
inline planner::PlanSchedule schedule_of_two_chains() {
  return {{8},
          {1},
          {1, 1},
          {{0, 0, 1, {0}, {4}, 4},
           {0, 1, 2, {0}, {4}, 4},
           {1, 0, 2, {4}, {4}, 4},
           {1, 2, 1, {4}, {4}, 4}}};
}

inline platforms::Platform triangle() {
  return small_platform({"s", "a", "b"},
                        {{"s", "a", 1}, {"s", "b", 1}, {"a", "b", 1}, {"b", "a", 1}});
}

}  // namespace espalier::testing
