// From an instance and an algorithm to a plan.
#pragma once

#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// The plan of `outcome`, with the bound as its optimum. segment: what the executor will cut the
// message into; it is the instance's segment size where that has one.
Plan make_plan(const Instance& instance, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

// Runs the `optimal` algorithm's bound: throughput reached, proven bound, prices. What `bound` and
// `compare` print. The same as find_algorithm("optimal").run without the work that makes the plan a
// good one to execute.
Outcome prove_optimum(const Instance& instance, const AlgorithmOptions& options);

}  // namespace espalier::planner
