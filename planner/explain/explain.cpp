#include "planner/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/problem/collective_problem.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/core/faster.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::Platform;

// How the problems of one kind are solved. prove(): of the platform as it is. again(): of a changed
// one; sets `end` where that ended early, which is not so after the most work.
class CollectiveProofs {
 public:
  CollectiveProofs(const Collective& collective, const ExplainOptions& options)
      : collective_(collective), options_(options) {}

  Outcome prove() {
    const CollectiveProblem problem(collective_);
    const lp::Packing packing =
        solve_packing(problem, collective_, options_.limits, Purpose::kProof);
    const CollectiveProblem any(collective_, ReducesAlong::kAnyTrees);
    seeds_ = any.converted(packing, problem).pool;
    return problem.outcome_of(packing);
  }
  // Starts from the trees of the unchanged platform, which are close: arcs keep their numbers. Each
  // direction has trees of its own, because the change may be of one.
  WhatIf again(const Platform& changed, double factor, Termination& end) const {
    const Collective collective(collective_.operation(), changed, collective_.source(),
                                collective_.model(), collective_.options());
    lp::PackingOptions limits;
    limits.gap = options_.limits.gap;
    limits.deadline = options_.limits.deadline;
    limits.seeds = seeds_;
    limits.max_iterations = options_.most_work;
    const CollectiveProblem problem(collective, ReducesAlong::kAnyTrees);
    const lp::Packing packing = lp::pack_arborescences(problem.problem(), limits);
    const bool work_done = packing.arborescences_priced >= options_.most_work;
    if (!work_done) end = outcome_of(packing).ends.packing;
    return {factor, {packing.rate}, {packing.bound}};
  }
  [[nodiscard]] std::vector<BindingCut> cuts(const Outcome& optimum) const {
    return binding_cuts(collective_, optimum, options_.top);
  }

 private:
  const Collective& collective_;
  const ExplainOptions& options_;
  std::vector<lp::RoutedTree> seeds_;
};

Outcome proof_of_changed(const AllRoots& problem, const Platform& changed,
                         const AlgorithmOptions& limits, const Outcome& optimum) {
  std::vector<double> shares;
  if (!problem.has_free_roots()) shares = problem.shares();
  return solve(AllRoots(problem.operation(), changed, problem.model(), problem.options(), shares),
               limits, Purpose::kProof, optimum.blocks);
}

Outcome proof_of_changed(const Routing& problem, const Platform& changed,
                         const AlgorithmOptions& limits, const Outcome& /*optimum*/) {
  return prove_optimum(Routing(problem.operation(), changed, problem.root(), problem.model(),
                               problem.options(), problem.shares()),
                       limits);
}

Outcome proof_of_changed(const Multicast& problem, const Platform& changed,
                         const AlgorithmOptions& limits, const Outcome& optimum) {
  return solve(
      Multicast(changed, problem.source(), problem.receivers(), problem.model(), problem.options()),
      limits, optimum.trees);
}

// Of any other problem.
template <class Problem>
class OtherProofs {
 public:
  OtherProofs(const Problem& problem, const ExplainOptions& options)
      : problem_(problem), options_(options) {}

  Outcome prove() { return optimum_ = prove_optimum(problem_, options_.limits); }
  WhatIf again(const Platform& changed, double factor, Termination& end) const {
    AlgorithmOptions limits = options_.limits;
    limits.on_progress = {};
    const Outcome outcome = proof_of_changed(problem_, changed, limits, optimum_);
    end = outcome.ends.worst();
    const BytesPerSecond reached = throughput_of(outcome);
    return {factor, reached, outcome.bound.value_or(reached)};
  }
  [[nodiscard]] static std::vector<BindingCut> cuts(const Outcome& /*optimum*/) { return {}; }

 private:
  const Problem& problem_;
  const ExplainOptions& options_;
  Outcome optimum_;
};

template <class Problem, class Proofs>
class Explainer {
 public:
  Explainer(const Problem& problem, const ExplainOptions& options)
      : problem_(problem), options_(options), proofs_(problem, options) {}

  Explanation run() {
    result_.optimum = proofs_.prove();
    result_.reached = throughput_of(result_.optimum);
    result_.termination = result_.optimum.ends.worst();
    result_.cuts = proofs_.cuts(result_.optimum);
    Bottlenecks found = bottlenecks_of(problem_, result_.optimum, options_.top);
    total_ =
        (found.resources.size() + found.links.size() + found.sets.size()) * options_.factors.size();
    result_.resources = try_all(std::move(found.resources));
    result_.links = try_all(std::move(found.links));
    result_.sets = try_all(std::move(found.sets));
    if (options_.top > 0 && !anything_helps()) {
      total_ += options_.factors.size();
      result_.all = try_one(std::move(found.all));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool anything_helps() const {
    const auto any = [this](const std::vector<Upgrade>& upgrades) {
      return std::any_of(upgrades.begin(), upgrades.end(),
                         [this](const Upgrade& upgrade) { return helps(upgrade, result_); });
    };
    return any(result_.resources) || any(result_.links) || any(result_.sets);
  }

  std::vector<Upgrade> try_all(std::vector<Bottleneck> bottlenecks) {
    std::vector<Upgrade> upgrades;
    upgrades.reserve(bottlenecks.size());
    for (Bottleneck& bottleneck : bottlenecks) upgrades.push_back(try_one(std::move(bottleneck)));
    return upgrades;
  }

  Upgrade try_one(Bottleneck bottleneck) {
    Upgrade upgrade{std::move(bottleneck), {}};
    for (const double factor : options_.factors) {
      const Deadline& deadline = options_.limits.deadline;
      if (options_.on_step) options_.on_step(deadline.elapsed(), done_, total_);
      if (deadline.passed()) {
        result_.termination = Termination::kTimeLimit;
        break;
      }
      upgrade.outcomes.push_back(solve(upgrade.what, factor));
      ++done_;
    }
    return upgrade;
  }

  [[nodiscard]] Platform raised(const Bottleneck& bottleneck, double factor) const {
    return at_place(
        problem_.platform().name(),
        [&] { return fmt::format("{}, {} times as fast", bottleneck.name, factor); },
        [&] { return platforms::faster(problem_.platform(), bottleneck.figures, factor); });
  }

  WhatIf solve(const Bottleneck& bottleneck, double factor) {
    const Platform changed = raised(bottleneck, factor);
    Termination end = Termination::kDone;
    const WhatIf outcome = proofs_.again(changed, factor, end);
    if (end != Termination::kDone) result_.termination = end;
    return outcome;
  }

  const Problem& problem_;
  const ExplainOptions& options_;
  Proofs proofs_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  Explanation result_;
};

}  // namespace

Explanation explain(const Collective& problem, const ExplainOptions& options) {
  return Explainer<Collective, CollectiveProofs>(problem, options).run();
}
Explanation explain(const AllRoots& problem, const ExplainOptions& options) {
  return Explainer<AllRoots, OtherProofs<AllRoots>>(problem, options).run();
}
Explanation explain(const Routing& problem, const ExplainOptions& options) {
  return Explainer<Routing, OtherProofs<Routing>>(problem, options).run();
}
Explanation explain(const Multicast& problem, const ExplainOptions& options) {
  return Explainer<Multicast, OtherProofs<Multicast>>(problem, options).run();
}

Gain gain_of(const WhatIf& what_if, const Explanation& explanation) {
  const double reached = explanation.reached.value;
  return {what_if.optimum.value / explanation.optimum.bound->value - 1,
          what_if.optimum.value / reached - 1, what_if.bound.value / reached - 1};
}

bool helps(const Upgrade& upgrade, const Explanation& explanation) {
  constexpr double kExactGain = 1e-7;  // where both optima are exact
  return !upgrade.outcomes.empty() &&
         gain_of(upgrade.outcomes.back(), explanation).least > kExactGain;
}

}  // namespace espalier::planner
