// The packing of an operation with several roots. In an allgather (each share is spread) and a
// reduce-scatter (each is combined) every host is the root of a given share of the message. In an
// allreduce with free roots the packing chooses which share is combined at which host, and spread
// from there. Theory: docs/model.md, "Every host is a root" and "Free roots".
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lp/problem/parts_problem.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

class AllRoots {
 public:
  // Keeps a reference to `platform`, which must outlive it. An allreduce has free roots.
  // Throws InputError for fewer than two hosts, InfeasibleError naming hosts of which one cannot
  // reach the other.
  // shares: of the message, one for each host, >= 0, in any unit; empty: equal ones. An allreduce
  // has none. Throws InputError for shares that cannot be.
  AllRoots(Operation operation, const platforms::Platform& platform, platforms::Model model,
           const platforms::OccupationOptions& options = {}, std::vector<double> shares = {});

  [[nodiscard]] Operation operation() const { return operation_; }
  // An allreduce: the packing chooses each root's share.
  [[nodiscard]] bool has_free_roots() const { return !has_parts(operation_); }
  [[nodiscard]] const platforms::Platform& platform() const { return spread_.platform(); }
  // There are several.
  [[nodiscard]] static std::optional<platforms::NodeId> root() { return std::nullopt; }
  [[nodiscard]] platforms::Model model() const { return spread_.model(); }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return spread_.options(); }
  // The platform's matrix: its rows index loads and prices.
  [[nodiscard]] const platforms::Occupation& occupation() const { return spread_.occupation(); }
  // A broadcast from the first host.
  [[nodiscard]] const Instance& spread() const { return spread_; }
  // Per host, sum 1. Of an allreduce: of hosts that are roots to the same extent.
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }
  // A part for each host with a share, in their order. With free roots: two parts, whose root is
  // any host.
  // Made by the first call, which is not to be made by two threads at a time: a thousand roots of a
  // dense network would take gigabytes, and mostly need none.
  [[nodiscard]] const lp::PartsProblem& parts() const;

 private:
  Operation operation_;
  Instance spread_;
  std::vector<double> shares_;
  mutable std::optional<lp::PartsProblem> parts_;
};

// The optimum: the trees of each host's block (Outcome::blocks), the proven bound in bytes of the
// whole message per second, and prices by the rows of occupation(). Starts from rings, and from the
// trees of `start`, such as a plan's, whose rates do not matter. options.max_trees: of each root.
Outcome solve(const AllRoots& problem, const AlgorithmOptions& options, Purpose purpose,
              std::span<const BlockOfTrees> start = {});

inline Outcome prove_optimum(const AllRoots& problem, const AlgorithmOptions& options) {
  return solve(problem, options, Purpose::kProof);
}

// Whether the algorithm makes trees on this platform, from every host.
bool is_for(const Algorithm& algorithm, const AllRoots& problem);

// `optimal`: as above, for a plan. Any other algorithm makes the trees of each block by itself; the
// blocks get rates in proportion to their shares, as high as the first full resource allows, and
// there is no bound. The time limit is divided among the blocks. Precondition: the algorithm serves
// the operation. Throws InfeasibleError where it is not for the platform.
Outcome run(const Algorithm& algorithm, const AllRoots& problem, const AlgorithmOptions& options);

// Like make_plan of planner/solve/make_plan.hpp.
Plan make_plan(const AllRoots& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

}  // namespace espalier::planner
