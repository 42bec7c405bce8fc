#include "simulate/search/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <set>
#include <utility>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/send_windows.hpp"
#include "support/errors.hpp"
#include "support/on_threads.hpp"

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
    std::vector<Attempt> attempts;
    for (auto algorithm = algorithms.rbegin(); algorithm != algorithms.rend(); ++algorithm) {
      attempts.push_back({&*algorithm, limits_, algorithm->name});
    }
    make_all(attempts);
    if (chooses_freely) make_all(limited(algorithms));
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

  // A candidate to be made, and what came of it.
  struct Attempt {
    const Algorithm* algorithm;
    AlgorithmOptions limits;
    std::string label;
  };
  struct Attempted {
    std::optional<Candidate> candidate{};  // unset: there is none that the limits allow
    std::optional<BytesPerSecond> bound{};
    bool complete = true;
    std::exception_ptr error{};
  };

  // On several threads. What comes of them counts in their order.
  void make_all(const std::vector<Attempt>& attempts) {
    std::vector<Attempted> all(attempts.size());
    on_threads(
        attempts.size(), options_.jobs, [&](std::size_t i) { return make(attempts[i]); },
        [&](std::size_t i, Attempted&& attempted) { all[i] = std::move(attempted); });
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].error) error_ = all[i].error;
      if (all[i].bound && !result_.bound) result_.bound = all[i].bound;
      result_.complete = result_.complete && all[i].complete;
      if (all[i].candidate) {
        made_.push_back({attempts[i].algorithm->entry, std::move(*all[i].candidate)});
      }
    }
  }

  Attempted make(const Attempt& attempt) {
    if (deadline_.passed() && has_any_) return {.complete = false};
    if (options_.on_progress) options_.on_progress(attempt.label);
    AlgorithmOptions limits = attempt.limits;
    limits.deadline = deadline_;
    try {
      planner::Outcome outcome =
          planner::run(*attempt.algorithm, collective_, limits, packings_ ? &*packings_ : nullptr);
      Attempted made{.bound = outcome.bound,
                     .complete = outcome.ends.worst() != planner::Termination::kTimeLimit};
      Candidate candidate(collective_, *attempt.algorithm, attempt.label, std::move(outcome));
      if (!is_allowed(candidate)) return made;
      has_any_ = true;
      made.candidate.emplace(std::move(candidate));
      return made;
    } catch (const Error&) {
      return {.error = std::current_exception()};
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

  // `optimal` with limits below the packing's own numbers of trees, depth and latency.
  [[nodiscard]] std::vector<Attempt> limited(const std::vector<Algorithm>& algorithms) const {
    const platforms::Platform& platform = collective_.platform();
    const auto hosts = static_cast<double>(platform.hosts().size());
    const bool has_relays = platform.hosts().size() < platform.nodes().size();
    const double pairs = has_relays ? hosts * hosts : static_cast<double>(platform.arcs().size());
    const double work = hosts * pairs;
    const auto made = std::ranges::find(
        made_, planner::kOptimal,
        [](const Made& one) -> const std::string& { return one.candidate.label; });
    const auto algorithm = std::ranges::find(algorithms, planner::kOptimal, &Algorithm::name);
    if (made == made_.end() || algorithm == algorithms.end() || work > kMostWork) return {};
    std::vector<Attempt> attempts;
    const auto add = [&](const std::string& label) -> AlgorithmOptions& {
      attempts.push_back({&*algorithm, limits_, "optimal, at most " + label});
      return attempts.back().limits;
    };
    // Than the trees that were made.
    const auto add_nearer = [&](const std::string& label) -> AlgorithmOptions& {
      AlgorithmOptions& limits = add(label);
      limits.exceeds_limits = true;
      return limits;
    };
    const std::size_t trees = most_of_a_kind(made->candidate.plan);
    for (std::size_t most = 1; most < trees && most <= kMostFewTrees; most *= 2) {
      add(counted(most, "tree")).max_trees = most;
    }
    for (std::size_t most = 1; most < made->candidate.depth;
         most = most < 4 ? most + 1 : most * 3 / 2) {
      add_nearer(fmt::format("{} deep", most)).max_depth = static_cast<std::uint32_t>(most);
    }
    constexpr double kStep = 0.8;
    constexpr int kMostSteps = 10;
    Seconds latency = made->candidate.latency;
    for (int step = 0; step < kMostSteps && latency.value > 0; ++step) {
      latency.value *= kStep;
      add_nearer(fmt::format("{} away", format_duration(latency))).max_latency = latency;
    }
    return attempts;
  }

  // Hosts times links, or pairs of hosts where relays connect them: about a second.
  static constexpr double kMostWork = 1e6;
  // Of a search for few of them. More take seconds, and were never chosen where all were tried.
  static constexpr std::size_t kMostFewTrees = 16;

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
  std::atomic<bool> has_any_ = false;
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

Seconds time_of_bytes(const planner::Plan& plan, Bytes message) {
  return {static_cast<double>(message.value) / plan.throughput.value};
}

Seconds delay_by_crowding(const planner::Plan& plan, const platforms::Platform& platform,
                          Bytes message) {
  constexpr double kTolerable = 1.1;
  const double slowdown = planner::crowding_of(plan, platform) / kTolerable;
  return {time_of_bytes(plan, message).value * std::max(0.0, slowdown - 1)};
}

bool is_latency_bound(const planner::Plan& plan, Bytes message, Seconds makespan) {
  constexpr double kMost = 0.5;
  return time_of_bytes(plan, message).value < kMost * makespan.value;
}

std::size_t crowd_of(const planner::Plan& plan) {
  std::vector<std::set<std::uint32_t>> to(plan.nodes.size());
  std::vector<std::set<std::uint32_t>> from(plan.nodes.size());
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    for (const planner::PlanTree& tree : *kind.trees) {
      const planner::DirectedTree directed{&tree, kind.up};
      for (const planner::PlanEdge& edge : tree.edges) {
        to[directed.sender(edge)].insert(directed.receiver(edge));
        from[directed.receiver(edge)].insert(directed.sender(edge));
      }
    }
  }
  std::size_t most = planner::kFewNeighbours;
  for (const auto* peers : {&to, &from}) {
    for (const std::set<std::uint32_t>& of_host : *peers) most = std::max(most, of_host.size());
  }
  return most;
}

Candidates make_candidates(const Collective& collective, const CandidateOptions& options,
                           const Deadline& deadline) {
  return Maker(collective, options, deadline).make();
}

}  // namespace espalier::simulate
