// A planning problem for any operation: a broadcast from the source, a reduction to it, or both at
// once (an allreduce), on a platform under a contention model.
//
// A reduction is a broadcast with time running backwards: on the platform with its arcs turned
// round every algorithm makes trees for it. The halves of an allreduce share all resources; their
// optimum is one packing (lp/packing/doubled_problem.hpp). What all this rests on: docs/model.md,
// "Reduce and allreduce".
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "platforms/core/reversed.hpp"

namespace espalier::planner {

class Collective {
 public:
  // Keeps a reference to `platform`, which must outlive it. options.turned must be false.
  // Throws InputError when the source is a relay or the only host, InfeasibleError naming a host
  // that the source cannot reach (broadcast, allreduce) or that cannot reach it (reduce,
  // allreduce).
  Collective(Operation operation, const platforms::Platform& platform, platforms::NodeId source,
             platforms::Model model, const platforms::OccupationOptions& options = {});

  [[nodiscard]] Operation operation() const { return operation_; }
  [[nodiscard]] const platforms::Platform& platform() const { return *platform_; }
  [[nodiscard]] platforms::NodeId source() const { return source_; }
  [[nodiscard]] platforms::Model model() const { return model_; }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return options_; }
  // The platform's matrix: loads and prices go by its rows, whatever the operation.
  [[nodiscard]] const platforms::Occupation& occupation() const;

  // The half that spreads; null for a reduce.
  [[nodiscard]] const Instance* broadcast() const { return broadcast_ ? &*broadcast_ : nullptr; }
  // The half that gathers, as a broadcast on the reversed platform; null for a broadcast.
  [[nodiscard]] const Instance* reduction() const { return reduction_ ? &*reduction_ : nullptr; }
  // A tree of reduction(), in arcs of platform(): edges in the same order, each from child to
  // parent.
  [[nodiscard]] lp::RoutedTree gathering(const lp::RoutedTree& tree) const;
  // Per row of reduction()'s matrix, the row of occupation() that it is.
  [[nodiscard]] std::vector<std::uint32_t> rows_of_reduction() const;

 private:
  Operation operation_;
  const platforms::Platform* platform_;
  platforms::NodeId source_;
  platforms::Model model_;
  platforms::OccupationOptions options_;
  std::unique_ptr<const platforms::ReversedPlatform> reversed_;  // reduction_ refers to it
  std::optional<Instance> broadcast_;
  std::optional<Instance> reduction_;
  std::optional<platforms::Occupation> occupation_;  // of a reduce; else broadcast_ has it
};

// The packing LPs that algorithms make trees from, solved once for several of them.
struct Packings {
  std::optional<lp::Packing> broadcast{};  // of collective.broadcast(), where it has that half
  std::optional<lp::Packing> reduction{};  // of collective.reduction(), likewise
  std::optional<lp::Packing> joint{};      // of an allreduce: of both (CollectiveProblem)
  // The one whose bound is that of the operation.
  [[nodiscard]] const lp::Packing& whole() const {
    return joint ? *joint : broadcast ? *broadcast : *reduction;
  }
};
// Each as solve_packing of planner/solve/solve_packing.hpp; options.time_limit is for all of them.
Packings solve_packings(const Collective& collective, const AlgorithmOptions& options);

// The trees that the algorithm makes for the operation, jointly feasible. Of an allreduce,
// `optimal` is the optimum; any other algorithm's reduction goes along the trees that it makes on
// the reversed platform (or those that its entry names), its broadcast along those of the platform,
// both scaled alike until the first resource is full, and no bound on sets of trees is told. A time
// limit is shared evenly by the halves. packings: those of this very collective, or null, and then
// options.packing is used, but not by an allreduce. Precondition: the algorithm serves the
// operation.
Outcome run(const Algorithm& algorithm, const Collective& collective,
            const AlgorithmOptions& options, const Packings* packings = nullptr);

// The optimum's bound: throughput reached, proven bound, prices by the rows of
// collective.occupation(). As prove_optimum(instance) of planner/solve/make_plan.hpp is.
Outcome prove_optimum(const Collective& collective, const AlgorithmOptions& options);

// As make_plan of planner/solve/make_plan.hpp is.
Plan make_plan(const Collective& collective, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

// Of a run for any operation: what its trees of either kind carry.
BytesPerSecond throughput_of(const Outcome& outcome);

}  // namespace espalier::planner
