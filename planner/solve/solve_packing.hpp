// The packing LP of an instance: what `optimal` makes a plan of, and what guides the algorithms
// that look for one good tree.
#pragma once

#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// Trees of quick heuristics, less those that are far behind the best: often one of them reaches the
// optimum, or few together.
std::vector<lp::RoutedTree> heuristic_trees(const Instance& instance);

// What the options say of a packing.
lp::PackingOptions packing_options(const AlgorithmOptions& options);

// Refers to the instance.
lp::PackingProblem packing_problem(const Instance& instance);

// Solved from the heuristics' trees on, within options.gap and options.time_limit, with
// options.on_progress called. Whoever runs several algorithms on one instance solves it once and
// hands it to them as options.packing.
lp::Packing solve_packing(const Instance& instance, const AlgorithmOptions& options);

// The packing's trees, rates, bound and prices.
Outcome outcome_of(const lp::Packing& packing);

// One tree at the rate that it sustains by itself, beside the packing's bound and prices.
Outcome outcome_of(const lp::PackingProblem& problem, const lp::Packing& packing,
                   lp::RoutedTree tree);

// The packing that the options bring, or else one solved now.
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
