// The packing of an operation whose every host is the root of an equal share of the message:
// allgather (each share is spread) and reduce-scatter (each is combined). Theory: docs/model.md,
// "Every host is a root".
#pragma once

#include <string_view>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/parts_problem.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

class AllRoots {
 public:
  // Keeps a reference to `platform`, which must outlive it. The operation is one without one root.
  // Throws InputError for fewer than two hosts, InfeasibleError naming hosts of which one cannot
  // reach the other.
  AllRoots(Operation operation, const platforms::Platform& platform, platforms::Model model,
           const platforms::OccupationOptions& options = {});

  [[nodiscard]] Operation operation() const { return operation_; }
  [[nodiscard]] const platforms::Platform& platform() const { return spread_.platform(); }
  [[nodiscard]] platforms::Model model() const { return spread_.model(); }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return spread_.options(); }
  // The platform's matrix: its rows index loads and prices.
  [[nodiscard]] const platforms::Occupation& occupation() const { return spread_.occupation(); }
  // A broadcast from the first host.
  [[nodiscard]] const Instance& spread() const { return spread_; }
  // A part for each host, in their order.
  [[nodiscard]] const lp::PartsProblem& parts() const { return parts_; }

 private:
  Operation operation_;
  Instance spread_;
  lp::PartsProblem parts_;
};

// For each host, trees of its block in arcs of the platform, in the direction of the data.
using BlockTrees = std::vector<std::vector<lp::RoutedTree>>;

// The optimum: the trees of each host's block (Outcome::blocks), the proven bound in bytes of the
// whole message per second, and prices by the rows of occupation(). Starts from rings, and from the
// trees of `start`, such as a plan's.
Outcome solve(const AllRoots& problem, const AlgorithmOptions& options, Purpose purpose,
              const BlockTrees& start = {});

// Whether the algorithm makes trees on this platform, from every host.
bool is_for(const Algorithm& algorithm, const AllRoots& problem);

// `optimal`: as above, for a plan. Any other algorithm makes the trees of each block by itself; the
// blocks get equal rates, as high as the first full resource allows, and there is no bound. The
// time limit is divided among the blocks. Precondition: the algorithm serves the operation. Throws
// InfeasibleError where it is not for the platform.
Outcome run(const Algorithm& algorithm, const AllRoots& problem, const AlgorithmOptions& options);

// Like make_plan of planner/solve/make_plan.hpp.
Plan make_plan(const AllRoots& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

}  // namespace espalier::planner
