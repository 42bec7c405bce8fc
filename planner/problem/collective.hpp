// A planning problem for any operation: a broadcast from the source, a reduction to it (a broadcast
// on the reversed platform), or both at once (an allreduce), on a platform under a contention
// model. Theory: docs/model.md, "Reduce and allreduce".
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/few_trees.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "platforms/core/reversed.hpp"

namespace espalier::planner {

class Collective {
 public:
  // Keeps a reference to `platform`, which must outlive it. options.reversed must be false. Throws
  // InputError when the source is a relay or the only host, InfeasibleError naming a host that the
  // source cannot reach (broadcast, allreduce) or that cannot reach it (reduce, allreduce).
  Collective(Operation operation, const platforms::Platform& platform, platforms::NodeId source,
             platforms::Model model, const platforms::OccupationOptions& options = {});

  [[nodiscard]] Operation operation() const { return operation_; }
  [[nodiscard]] const platforms::Platform& platform() const { return *platform_; }
  [[nodiscard]] platforms::NodeId source() const { return source_; }
  [[nodiscard]] std::optional<platforms::NodeId> root() const { return source_; }
  [[nodiscard]] platforms::Model model() const { return model_; }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return options_; }
  // The platform's matrix: its rows index loads and prices for every operation.
  [[nodiscard]] const platforms::Occupation& occupation() const;

  // The broadcast half; null for a reduce.
  [[nodiscard]] const Instance* broadcast() const { return broadcast_ ? &*broadcast_ : nullptr; }
  // The reduction half, as a broadcast on the reversed platform; null for a broadcast.
  [[nodiscard]] const Instance* reduction() const { return reduction_ ? &*reduction_ : nullptr; }
  // A tree of reduction(), in arcs of platform(): edges in the same order, each from child to
  // parent.
  [[nodiscard]] lp::RoutedTree gathering(const lp::RoutedTree& tree) const;
  // Per row of reduction()'s matrix, the corresponding row of occupation().
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

// The packing LPs that algorithms make trees from, solved once for several algorithms.
struct Packings {
  std::optional<lp::Packing> broadcast{};  // of collective.broadcast(), where that half exists
  std::optional<lp::Packing> reduction{};  // of collective.reduction(), likewise
  std::optional<lp::Packing> joint{};      // of an allreduce: of its CollectiveProblem
  // What runs of `optimal` have found of few trees of whole().
  std::unique_ptr<lp::FewTreesSoFar> few_trees = std::make_unique<lp::FewTreesSoFar>();
  // The packing whose bound applies to the operation.
  [[nodiscard]] const lp::Packing& whole() const {
    return joint ? *joint : broadcast ? *broadcast : *reduction;
  }
};
// Solves each with solve_packing of planner/solve/solve_packing.hpp; options.deadline covers all of
// them.
Packings solve_packings(const Collective& collective, const AlgorithmOptions& options);

// Whether the algorithm makes trees on this platform (AlgorithmEntry::refusal).
bool is_for(const Algorithm& algorithm, const Collective& collective);

// The algorithm's trees for the operation, jointly feasible. For an allreduce `optimal` gives the
// optimum; the halves of any other algorithm are scaled by one factor until the first resource is
// full. A time limit is divided equally between the halves. packings: those of this same
// collective, or null; then options.packing is used, except by an allreduce. Precondition: the
// algorithm serves the operation. Throws InfeasibleError where it is not for the platform.
Outcome run(const Algorithm& algorithm, const Collective& collective,
            const AlgorithmOptions& options, const Packings* packings = nullptr);

// Like prove_optimum(instance) of planner/solve/make_plan.hpp: throughput reached, proven bound,
// prices by the rows of collective.occupation(). start: trees of the operation to start from, in
// arcs of the platform, such as a plan's; edges of `up` run from child to parent.
struct StartingTrees {
  std::vector<lp::RoutedTree> up{};
  std::vector<lp::RoutedTree> down{};
};
Outcome prove_optimum(const Collective& collective, const AlgorithmOptions& options,
                      const StartingTrees& start = {});

// Like make_plan of planner/solve/make_plan.hpp.
Plan make_plan(const Collective& collective, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

// The throughput of an outcome of any operation: that of its trees of each kind, or of its blocks
// of each kind.
BytesPerSecond throughput_of(const Outcome& outcome);

// By more than `gap`, to which both may be below the optimum.
bool is_slower(const Outcome& one, const Outcome& other, double gap);

}  // namespace espalier::planner
