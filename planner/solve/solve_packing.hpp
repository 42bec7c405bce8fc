// The packing LP of an instance: the basis of `optimal`'s plan, and the guide of algorithms that
// look for one good tree.
#pragma once

#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// Trees of fast heuristics, without those far below the best: often one of them, or a few combined,
// reach the optimum.
std::vector<lp::RoutedTree> heuristic_trees(const Instance& instance);

// The packing's part of the options.
lp::PackingOptions packing_options(const AlgorithmOptions& options);

// The result refers to the instance.
lp::PackingProblem packing_problem(const Instance& instance);

// Solves it starting from the heuristics' trees, within options.gap and options.time_limit, and
// calls options.on_progress. To run several algorithms on one instance, solve it once and pass it
// as options.packing.
lp::Packing solve_packing(const Instance& instance, const AlgorithmOptions& options);

// The packing's trees, rates, bound and prices.
Outcome outcome_of(const lp::Packing& packing);

// One tree at the rate that it sustains alone, with the packing's bound and prices.
Outcome outcome_of(const lp::PackingProblem& problem, const lp::Packing& packing,
                   lp::RoutedTree tree);

// The packing in the options, or else one solved now.
class PackingInUse {
 public:
  PackingInUse(const Instance& instance, const AlgorithmOptions& options)
      : given_(options.packing),
        own_(given_ != nullptr ? lp::Packing{} : solve_packing(instance, options)) {}
  [[nodiscard]] const lp::Packing& get() const { return given_ != nullptr ? *given_ : own_; }

 private:
  const lp::Packing* given_;
  lp::Packing own_;
};

}  // namespace espalier::planner
