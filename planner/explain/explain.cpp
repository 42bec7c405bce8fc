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

class Explainer {
 public:
  Explainer(const Collective& collective, const ExplainOptions& options)
      : collective_(collective), options_(options), deadline_(options.limits.deadline) {}

  Explanation run() {
    const CollectiveProblem problem(collective_);
    const lp::Packing packing =
        solve_packing(problem, collective_, options_.limits, Purpose::kProof);
    result_.optimum = problem.outcome_of(packing);
    result_.reached = {packing.rate};
    result_.termination = result_.optimum.ends.worst();
    seeds_ = packing.pool;
    result_.cuts = binding_cuts(collective_, result_.optimum, options_.top);
    Bottlenecks found = bottlenecks_of(collective_, result_.optimum, options_.top);
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
      if (options_.on_step) options_.on_step(deadline_.elapsed(), done_, total_);
      if (deadline_.passed()) {
        result_.termination = Termination::kTimeLimit;
        break;
      }
      upgrade.outcomes.push_back(solve(upgrade.what, factor));
      ++done_;
    }
    return upgrade;
  }

  [[nodiscard]] Platform raised(const Bottleneck& bottleneck, double factor) const {
    try {
      return platforms::faster(collective_.platform(), bottleneck.figures, factor);
    } catch (const InputError& fault) {
      throw InputError(collective_.platform().name(),
                       fmt::format("{}, {} times as fast", bottleneck.name, factor), fault.what());
    }
  }

  // Starts from the trees of the unchanged platform, which are close: arcs keep their numbers.
  WhatIf solve(const Bottleneck& bottleneck, double factor) {
    const Platform changed = raised(bottleneck, factor);
    const Collective collective(collective_.operation(), changed, collective_.source(),
                                collective_.model(), collective_.options());
    lp::PackingOptions limits;
    limits.gap = options_.limits.gap;
    limits.deadline = deadline_;
    limits.seeds = seeds_;
    limits.max_iterations = options_.most_work;
    const lp::Packing packing =
        lp::pack_arborescences(CollectiveProblem(collective).problem(), limits);
    const Termination end = outcome_of(packing).ends.packing;
    const bool work_done = packing.arborescences_priced >= options_.most_work;
    if (end != Termination::kDone && !work_done) result_.termination = end;
    return {factor, {packing.rate}, {packing.bound}};
  }

  const Collective& collective_;
  const ExplainOptions& options_;
  const Deadline& deadline_;
  std::vector<lp::RoutedTree> seeds_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  Explanation result_;
};

}  // namespace

Explanation explain(const Collective& collective, const ExplainOptions& options) {
  return Explainer(collective, options).run();
}

Gain gain_of(const WhatIf& what_if, const Explanation& explanation) {
  const double reached = explanation.reached.value;
  return {what_if.optimum.value / explanation.optimum.bound->value - 1,
          what_if.optimum.value / reached - 1, what_if.bound.value / reached - 1};
}

bool helps(const Upgrade& upgrade, const Explanation& explanation) {
  return !upgrade.outcomes.empty() && gain_of(upgrade.outcomes.back(), explanation).least > 0;
}

}  // namespace espalier::planner
