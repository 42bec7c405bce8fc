// The packing LP of a collective: its trees start at the source for every operation, for a reduce
// along reversed links, for an allreduce along both copies of lp/packing/parts_problem.hpp. Link
// e is arc e of the LP's graph; rows are those of Collective::occupation().
#pragma once

#include <optional>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/parts_problem.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner {

class CollectiveProblem {
 public:
  // Keeps a reference to `collective`.
  explicit CollectiveProblem(const Collective& collective);

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
  [[nodiscard]] lp::RoutedTree join(const Halves& halves) const;

 private:
  const Collective& collective_;
  std::optional<lp::PartsProblem> parts_;  // of a reduce or an allreduce
};

// Solves it, of this collective, for a proof or a check, as solve_packing(instance) of
// planner/solve/solve_packing.hpp does, from the trees of `start` as well. The proof of an
// allreduce is that of direct trees (planner/solve/direct_packing.hpp) where there are some.
lp::Packing solve_packing(const CollectiveProblem& problem, const Collective& collective,
                          const AlgorithmOptions& options, Purpose purpose,
                          const StartingTrees& start = {});

}  // namespace espalier::planner
