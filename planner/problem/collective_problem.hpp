// The packing LP of a collective: its trees start at the source for every operation, for a reduce
// along reversed links, for an allreduce along both copies of lp/problem/parts_problem.hpp, or
// along links of which each counts for both directions (lp/problem/both_ways.hpp). Link e is arc e
// of the LP's graph; rows are those of Collective::occupation().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "lp/problem/both_ways.hpp"
#include "lp/problem/parts_problem.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner {

// What an allreduce reduces along: its broadcast's trees reversed, where no other trees are better,
// or any.
enum class ReducesAlong : std::uint8_t { kSameTrees, kAnyTrees };

class CollectiveProblem {
 public:
  // Keeps a reference to `collective`.
  explicit CollectiveProblem(const Collective& collective,
                             ReducesAlong along = ReducesAlong::kSameTrees);

  [[nodiscard]] bool reduces_along_same_trees() const { return both_.has_value(); }

  // The result refers to this object and to the collective.
  [[nodiscard]] lp::PackingProblem problem() const;

  // A packing's trees, rates, bound and prices: the trees of the outcome in the direction of the
  // data. Equal halves of an allreduce's trees become one tree.
  [[nodiscard]] Outcome outcome_of(const lp::Packing& packing) const;
  // The same for an outcome whose trees are those of the LP.
  [[nodiscard]] Outcome in_links(Outcome outcome) const;

  // Both in links, in the direction of the data; a half that the operation does not have is empty.
  struct Halves {
    lp::RoutedTree up;
    lp::RoutedTree down;
  };
  [[nodiscard]] Halves split(const lp::RoutedTree& tree) const;
  // Where it reduces along the same trees, the broadcast's half alone counts.
  [[nodiscard]] lp::RoutedTree join(const Halves& halves) const;
  // Whole trees with each of these halves, and any of the other half's. Empty: a half that the
  // operation has is missing.
  [[nodiscard]] std::vector<lp::RoutedTree> with_each(StartingTrees halves) const;

  // A packing of the problem that `from` makes of the same collective.
  [[nodiscard]] lp::Packing converted(lp::Packing packing, const CollectiveProblem& from) const;

 private:
  [[nodiscard]] std::vector<double> prices_for_halves(const std::vector<double>& prices) const;

  const Collective& collective_;
  std::optional<lp::PartsProblem> parts_;    // of a reduce, or an allreduce along any trees
  std::optional<lp::BothWays> both_;         // of an allreduce along the same trees
  std::vector<std::uint32_t> counterparts_;  // of its rows
};

// Solves it, of this collective, for a proof or a check, as solve_packing(instance) of
// planner/solve/solve_packing.hpp does, from the trees of `start` as well. The proof of an
// allreduce is that of direct trees (planner/solve/direct_packing.hpp) where there are some.
lp::Packing solve_packing(const CollectiveProblem& problem, const Collective& collective,
                          const AlgorithmOptions& options, Purpose purpose,
                          const StartingTrees& start = {});

}  // namespace espalier::planner
