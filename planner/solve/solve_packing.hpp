// The packing LP of an instance: the basis of `optimal`'s plan, and the guide of algorithms that
// look for one good tree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

// Of the time of a packing, for the heuristics that it starts from.
inline constexpr double kSeedShare = 0.5;

// What a packing is solved for. A plan chooses among many trees. A proof only needs trees that
// reach the bound: trees_at_plain_bound come first, and nothing else is made where there are some.
// The check of a plan is a proof that starts from the plan's trees: of others only the cheapest is
// made.
enum class Purpose : std::uint8_t { kPlan, kProof, kCheck };

// Trees of fast heuristics, without those far below the best: often one of them, or a few combined,
// reach the optimum. When the deadline passes, those made by then.
std::vector<lp::RoutedTree> heuristic_trees(const Instance& instance, const Deadline& deadline,
                                            Purpose purpose);

// The cheapest trees that reach a plain bound (lp/bounds/plain_bound.hpp): one deep tree, or those
// of lp/fabric/. Empty: there are none, or the deadline has passed.
std::vector<lp::RoutedTree> trees_at_plain_bound(const Instance& instance,
                                                 const Deadline& deadline);

// The result refers to the instance.
lp::PackingProblem packing_problem(const Instance& instance);

// Solves it starting from the heuristics' trees, which take at most half of the time, within
// options.gap and options.deadline, and calls options.on_progress. To run several algorithms on one
// instance, solve it once and pass it as options.packing. start: the instance's rack_packing, which
// is then not made again; it is the result where it is proven.
lp::Packing solve_packing(const Instance& instance, const AlgorithmOptions& options,
                          Purpose purpose = Purpose::kPlan, const lp::Packing* start = nullptr);
// Solves a packing that begins with the trees and the prices of another one, which is the result
// where it is better.
lp::Packing pack_from(const lp::Packing& start, const lp::PackingProblem& problem,
                      lp::PackingOptions packing);

// The packing's trees, rates, bound and prices.
Outcome outcome_of(const lp::Packing& packing);

// One tree at the rate that it sustains alone, with the packing's bound and prices.
Outcome outcome_of(const lp::PackingProblem& problem, const lp::Packing& packing,
                   lp::RoutedTree tree);

// One tree of the packing, the fastest: what an algorithm has that looks for a tree of its own and
// is cut short. The ends say so.
Outcome best_tree_of(const lp::PackingProblem& problem, const lp::Packing& packing);

// The packing in the options, or else one solved now.
class PackingInUse {
 public:
  // share: of the time that is left, for the solver.
  // start: as for solve_packing.
  PackingInUse(const Instance& instance, AlgorithmOptions options, double share = 1,
               const lp::Packing* start = nullptr)
      : given_(options.packing) {
    if (given_ != nullptr) return;
    options.deadline = options.deadline.share(share);
    own_ = solve_packing(instance, options, Purpose::kPlan, start);
  }
  [[nodiscard]] const lp::Packing& get() const { return given_ != nullptr ? *given_ : own_; }

 private:
  const lp::Packing* given_;
  lp::Packing own_;
};

// The arcs in the options, or else instance.fastest_host_arcs().
class HostArcsInUse {
 public:
  HostArcsInUse(const Instance& instance, const AlgorithmOptions& options) : given_(options.arcs) {
    if (given_ == nullptr) own_.emplace(instance.fastest_host_arcs(options.deadline));
  }
  [[nodiscard]] const lp::HostArcs& get() const { return given_ != nullptr ? *given_ : *own_; }

 private:
  const lp::HostArcs* given_;
  std::optional<lp::HostArcs> own_;
};

}  // namespace espalier::planner
