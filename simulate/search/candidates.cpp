#include "simulate/search/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using planner::Algorithm;
using planner::AlgorithmOptions;
using planner::Collective;
using planner::PlanTree;

// The largest `measure` of any tree. measure: planner::depth_of or planner::latency_of.
template <class Measure>
Measure most_of_any(const planner::Plan& plan,
                    Measure (*measure)(const PlanTree& tree, std::uint32_t source)) {
  Measure most{};
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    for (const PlanTree& tree : *kind.trees) {
      most = std::max(most, measure(tree, planner::source_index(plan)));
    }
  }
  return most;
}

std::size_t most_of_a_kind(const planner::Plan& plan) {
  return std::max(plan.reduce_trees.size(), plan.broadcast_trees.size());
}

class Maker {
 public:
  Maker(const Collective& collective, const CandidateOptions& options, const Deadline& deadline)
      : collective_(collective), options_(options), deadline_(deadline), limits_(options.limits) {}

  // Starts at the registry's end with the fast algorithms, so that some plans exist at a time
  // limit.
  Candidates make() {
    const bool chooses_freely = options_.algorithms.empty();
    if (chooses_freely) share_a_packing();
    std::vector<Algorithm> algorithms = options_.algorithms;
    if (chooses_freely) {
      algorithms = planner::parse_algorithms("all", collective_.operation());
      std::erase_if(algorithms, [](const Algorithm& one) { return one.entry->exponential; });
    }
    for (auto algorithm = algorithms.rbegin(); algorithm != algorithms.rend(); ++algorithm) {
      add(*algorithm, limits_, algorithm->name);
      if (chooses_freely && algorithm->entry->name == "optimal") add_limited(*algorithm);
    }
    if (made_.empty() && error_) std::rethrow_exception(error_);
    if (made_.empty()) throw InfeasibleError("no plan satisfies the limits of trees and depth");
    keep_what_differs();
    return std::move(result_);
  }

 private:
  // Takes at most half of the time, as the candidates must be simulated as well.
  void share_a_packing() {
    if (options_.on_progress) options_.on_progress("the optimal packing");
    AlgorithmOptions limits = limits_;
    limits.deadline = deadline_.share(0.5);
    packings_ = planner::solve_packings(collective_, limits);
    const lp::Packing& whole = packings_->whole();
    if (whole.bound < lp::Packing::kUnbounded) result_.bound = BytesPerSecond{whole.bound};
    for (const auto* packing : {&packings_->joint, &packings_->reduction, &packings_->broadcast}) {
      if (*packing && (*packing)->end == lp::PackingEnd::kLimit) result_.complete = false;
    }
  }

  void add(const Algorithm& algorithm, AlgorithmOptions limits, std::string label) {
    if (deadline_.passed() && !made_.empty()) {
      result_.complete = false;
      return;
    }
    if (options_.on_progress) options_.on_progress(label);
    limits.deadline = deadline_;
    try {
      planner::Outcome outcome =
          planner::run(algorithm, collective_, limits, packings_ ? &*packings_ : nullptr);
      if (outcome.ends.worst() == planner::Termination::kTimeLimit) result_.complete = false;
      if (outcome.bound && !result_.bound) result_.bound = outcome.bound;
      Candidate candidate(collective_, algorithm, std::move(label), std::move(outcome));
      if (is_allowed(candidate)) made_.push_back({algorithm.entry, std::move(candidate)});
    } catch (const Error&) {
      error_ = std::current_exception();
    }
  }

  // Limits apply to all plans only if no algorithm was named.
  [[nodiscard]] bool is_allowed(const Candidate& candidate) const {
    constexpr double kRounding = 1e-9;  // tolerance for sums in another order
    const AlgorithmOptions& limits = options_.limits;
    if (!options_.algorithms.empty()) return true;
    return (limits.max_trees == 0 || most_of_a_kind(candidate.plan) <= limits.max_trees) &&
           (limits.max_depth == 0 || candidate.depth <= limits.max_depth) &&
           (!limits.max_latency ||
            candidate.latency.value <= limits.max_latency->value * (1 + kRounding));
  }

  void keep_what_differs() {
    std::ranges::stable_sort(made_, {}, &Made::entry);
    for (Made& made : made_) {
      const auto is_same = [&](const Candidate& other) {
        return same_trees(other.plan, made.candidate.plan);
      };
      if (std::ranges::none_of(result_.all, is_same)) {
        result_.all.push_back(std::move(made.candidate));
      }
    }
  }

  // Adds `optimal` with limits below the packing's own numbers of trees, depth and latency.
  void add_limited(const Algorithm& optimal) {
    const auto work = static_cast<double>(collective_.platform().arcs().size()) *
                      static_cast<double>(collective_.platform().hosts().size());
    if (made_.empty() || made_.back().candidate.label != "optimal" || work > kMostWork) return;
    const std::size_t trees = most_of_a_kind(made_.back().candidate.plan);
    const std::size_t depth = made_.back().candidate.depth;
    const Seconds latency = made_.back().candidate.latency;
    for (std::size_t most = 1; most < trees; most *= 2) {
      AlgorithmOptions limits = limits_;
      limits.max_trees = most;
      add(optimal, limits, fmt::format("optimal, at most {} tree{}", most, most > 1 ? "s" : ""));
    }
    for (std::size_t most = 1; most < depth; most = most < 4 ? most + 1 : most * 3 / 2) {
      AlgorithmOptions limits = limits_;
      limits.max_depth = static_cast<std::uint32_t>(most);
      add(optimal, limits, fmt::format("optimal, at most {} deep", most));
    }
    add_lower_latencies(optimal, latency);
  }

  // Lowers the limit on latency until no plan satisfies it.
  void add_lower_latencies(const Algorithm& optimal, Seconds latency) {
    constexpr double kStep = 0.8;
    constexpr int kMostSteps = 10;
    for (int step = 0; step < kMostSteps && latency.value > 0; ++step) {
      latency.value *= kStep;
      AlgorithmOptions limits = limits_;
      limits.max_latency = latency;
      const std::size_t before = made_.size();
      add(optimal, limits, fmt::format("optimal, at most {} away", format_duration(latency)));
      if (made_.size() == before) return;
    }
  }

  static constexpr double kMostWork = 1e6;  // links times hosts: about a second

  const Collective& collective_;
  const CandidateOptions& options_;
  const Deadline& deadline_;
  AlgorithmOptions limits_;
  struct Made {
    const planner::AlgorithmEntry* entry;
    Candidate candidate;
  };
  std::optional<planner::Packings> packings_;
  std::vector<Made> made_;
  Candidates result_;
  std::exception_ptr error_;  // of the first one in the registry's order
};

}  // namespace

Candidate::Candidate(const Collective& collective, const Algorithm& made_by, std::string its_label,
                     planner::Outcome its_outcome)
    : algorithm(made_by.name),
      label(std::move(its_label)),
      outcome(std::move(its_outcome)),
      plan(planner::make_plan(collective, algorithm, outcome, planner::kDefaultSegment)),
      depth(most_of_any(plan, planner::depth_of)),
      latency(most_of_any(plan, planner::latency_of)),
      source(planner::source_index(plan)),
      flows(plan, collective.platform(), plan.latency_occupies),
      assignments(plan) {}

bool same_trees(const planner::Plan& one, const planner::Plan& other) {
  constexpr double kRounding = 1e-9;
  const auto kinds = planner::trees_by_kind(one);
  const auto other_kinds = planner::trees_by_kind(other);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const bool alone = kinds[kind].trees->size() == 1;
    const auto same = [&](const PlanTree& a, const PlanTree& b) {
      const double share = a.rate.value / one.throughput.value;
      const double other_share = b.rate.value / other.throughput.value;
      return (alone || std::abs(share - other_share) <= kRounding) && a.edges == b.edges &&
             a.via == b.via && a.exchange == b.exchange;
    };
    if (!std::ranges::equal(*kinds[kind].trees, *other_kinds[kind].trees, same)) return false;
  }
  return true;
}

Candidates make_candidates(const Collective& collective, const CandidateOptions& options,
                           const Deadline& deadline) {
  return Maker(collective, options, deadline).make();
}

}  // namespace espalier::simulate
