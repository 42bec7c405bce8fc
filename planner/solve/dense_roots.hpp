// Trees of every root where hosts have many links among them and no switches, made one after the
// other: column generation, with a column for each root, would take minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/graph/digraph.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// The graph of one root, which is that of all: as AllRoots::parts(), without a copy for each.
class OnePart {
 public:
  // Keeps a reference to `problem`, whose roots are given.
  explicit OnePart(const AllRoots& problem);
  [[nodiscard]] lp::PackingProblem problem() const;
  // Those with a share, in the order of hosts.
  [[nodiscard]] const std::vector<lp::PartRoot>& roots() const { return roots_; }

 private:
  const AllRoots& all_;
  lp::Digraph graph_;  // in the direction from the roots
  std::vector<lp::PartRoot> roots_;
};

// Of all roots' trees together.
lp::PlainBound plain_bound_of(const AllRoots& problem);

enum class DenseRoots : std::uint8_t {
  kNever,   // roots are free, there are switches, or so few hosts that columns do better
  kNext,    // if few columns do not reach the optimum
  kAtOnce,  // there would be millions of columns' arcs
};
DenseRoots dense_roots_for(const AllRoots& problem);

// Chains along one ring where they are the optimum; otherwise trees within options.gap or
// options.dense_gap of the bound where the method gets so far (lp/dense/packing_from_roots.hpp).
// When the deadline passes before, what there is by then; nothing if there are no trees.
std::optional<Outcome> dense_roots(const AllRoots& problem, const AlgorithmOptions& options);

}  // namespace espalier::planner
