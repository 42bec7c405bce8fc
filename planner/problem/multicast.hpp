// A broadcast to some of the hosts. Other hosts may help: receive a part of the message and copy it
// on the way. Theory: docs/model.md, "Some of the hosts".
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

class Multicast {
 public:
  // Keeps a reference to `platform`, which must outlive it. receivers: hosts other than the source,
  // at least one, none twice; all other hosts may help. Throws InputError where they are not that,
  // InfeasibleError naming a receiver that cannot be reached.
  Multicast(const platforms::Platform& platform, platforms::NodeId source,
            std::span<const platforms::NodeId> receivers, platforms::Model model,
            const platforms::OccupationOptions& options = {});

  [[nodiscard]] static Operation operation() { return Operation::kBroadcast; }
  [[nodiscard]] const platforms::Platform& platform() const { return *platform_; }
  [[nodiscard]] platforms::NodeId source() const { return source_; }
  [[nodiscard]] std::optional<platforms::NodeId> root() const { return source_; }
  [[nodiscard]] platforms::Model model() const { return model_; }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return options_; }
  [[nodiscard]] const platforms::Occupation& occupation() const { return occupation_; }
  [[nodiscard]] const std::vector<platforms::NodeId>& receivers() const { return receivers_; }
  // The result refers to this object.
  [[nodiscard]] lp::PackingProblem problem() const;

 private:
  const platforms::Platform* platform_;
  platforms::NodeId source_;
  std::vector<platforms::NodeId> receivers_;  // in the platform's order
  platforms::Model model_;
  platforms::OccupationOptions options_;
  platforms::Occupation occupation_;
  lp::Digraph digraph_;
  std::vector<char> is_receiver_;  // per node
};

// The part of a platform in which the source sends to the receivers: its other hosts are those of
// the helpers that the source reaches. Throws as the constructor does, and for a helper that is a
// relay. As part_of of planner/problem/part_of.hpp, in the platform's
// order.
platforms::Platform part_for(const platforms::Platform& whole, platforms::Model model,
                             const platforms::OccupationOptions& options, platforms::NodeId source,
                             std::span<const platforms::NodeId> receivers,
                             std::span<const platforms::NodeId> helpers);

// The best set of trees, each from the source to all receivers, with a proven bound. Trees are
// priced exactly where the receivers or the helpers are few; elsewhere a gap may remain, which is
// not a failure. start: trees to start from, such as a plan's, whose rates do not matter.
Outcome solve(const Multicast& problem, const AlgorithmOptions& options,
              std::span<const WeightedTree> start = {});

inline Outcome prove_optimum(const Multicast& problem, const AlgorithmOptions& options) {
  return solve(problem, options);
}

// Whether the algorithm makes trees among source and receivers.
bool is_for(const Algorithm& algorithm, const Multicast& problem);

// `optimal`: as above, with at most options.max_trees trees. Any other algorithm: a broadcast among
// source and receivers, without help. Throws InfeasibleError where that is impossible.
Outcome run(const Algorithm& algorithm, const Multicast& problem, const AlgorithmOptions& options);

// Like make_plan of planner/solve/make_plan.hpp. The plan's nodes are the hosts that take part.
// Where all of them are receivers it is the plan of a broadcast, otherwise its only block has
// members.
Plan make_plan(const Multicast& problem, std::string_view algorithm, const Outcome& outcome,
               Bytes segment);

}  // namespace espalier::planner
