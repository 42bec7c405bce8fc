// From an instance and an algorithm to a plan.
#pragma once

#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// The plan of `outcome`, with the bound as its optimum. segment: the executor's segment size;
// ignored where the instance has a segment size.
Plan make_plan(const Instance& instance, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

// The bound of the `optimal` algorithm, which `bound` and `compare` print: throughput reached,
// proven bound (unset if the deadline passed before there was one), prices. Like
// find_algorithm("optimal").run, without the steps that make the plan efficient to execute.
Outcome prove_optimum(const Instance& instance, const AlgorithmOptions& options);

}  // namespace espalier::planner
