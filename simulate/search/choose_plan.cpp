#include "simulate/search/choose_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "simulate/search/candidates.hpp"
#include "simulate/search/segment_search.hpp"
#include "support/deadline.hpp"

namespace espalier::simulate {

namespace {

using planner::Collective;

constexpr std::uint64_t kMostSendsInFull = 2'000'000;  // a run of about half a second
constexpr std::size_t kMostRounds = 3;

// Whether the matrix, and with it the best trees, depend on the segment size.
bool depends_on_segments(const platforms::Platform& platform, bool latency_occupies) {
  return std::ranges::any_of(platform.arcs(), [&](const platforms::Arc& arc) {
    return arc.overhead.value > 0 || (latency_occupies && arc.latency.value > 0);
  });
}

class Chooser {
 public:
  Chooser(const platforms::Platform& platform, platforms::NodeId source, platforms::Model model,
          bool latency_occupies, Bytes message, const ChoiceOptions& options)
      : platform_(platform),
        source_(source),
        model_(model),
        latency_occupies_(latency_occupies),
        message_(message),
        options_(options),
        deadline_(options.limits.deadline),
        overhead_(options.overhead.value_or(overhead_for(platform))),
        simulated_(with_overhead(platform, overhead_)),
        depends_on_segments_(depends_on_segments(platform, latency_occupies)),
        search_(simulated_, model, latency_occupies, message, search_options(), deadline_) {}

  Choice choose() {
    for (const Bytes segment : first_segments()) add_candidates(segment);
    Trial best = search_.best_of(all());
    // Makes trees for the best segment size found, until the result does not improve.
    for (std::size_t round = 0;
         depends_on_segments_ && !options_.run.segment && round < kMostRounds; ++round) {
      if (is_too_long(best) || deadline_.passed() ||
          !add_candidates(search_.segment_of(best.segments)))
        break;
      const Trial better = search_.best_of(all());
      const bool is_better = better.makespan < best.makespan;
      best = better;
      if (!is_better) break;
    }
    return finish(best);
  }

 private:
  [[nodiscard]] SegmentSearchOptions search_options() const {
    return {options_.run, options_.least_segment, options_.longest,
            [this](std::string_view text) { report(text); }};
  }
  void report(std::string_view text) const {
    if (options_.on_progress) options_.on_progress(deadline_.elapsed(), text);
  }
  [[nodiscard]] Collective collective_for(Bytes segment) const {
    return {options_.operation, platform_, source_, model_, {segment, latency_occupies_}};
  }
  [[nodiscard]] std::vector<std::size_t> all() const {
    std::vector<std::size_t> indices(search_.candidates().size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    return indices;
  }

  // The segment sizes for which trees are made first: several, if the trees depend on them.
  [[nodiscard]] std::vector<Bytes> first_segments() const {
    if (options_.run.segment) return {*options_.run.segment};
    if (!depends_on_segments_) return {planner::kDefaultSegment};
    constexpr std::uint64_t kSmall = 4096;
    constexpr std::uint64_t kLarge = 16U << 20U;
    constexpr std::uint64_t kStep = 16;
    std::vector<Bytes> segments;
    for (std::uint64_t segment = kSmall; segment < std::min(message_.value, kLarge);
         segment *= kStep) {
      segments.push_back({segment});
    }
    segments.push_back({std::min(message_.value, kLarge)});
    return segments;
  }

  // Returns whether any are new.
  bool add_candidates(Bytes segment) {
    if (!search_.candidates().empty() && deadline_.passed()) {
      complete_ = false;
      return false;
    }
    const Collective collective = collective_for(segment);
    CandidateOptions how{options_.algorithms, options_.limits,
                         [this](std::string_view text) { report(text); }};
    how.jobs = options_.jobs;
    how.limits.message = message_;
    how.limits.on_progress = [this](const planner::Progress& progress) {
      report(fmt::format("round {}, {}", progress.iterations, format_rate(progress.throughput)));
    };
    Candidates made = make_candidates(collective, how, deadline_);
    complete_ = complete_ && made.complete;
    bound_ = made.bound;
    bound_segment_ = segment;
    bool any_new = false;
    for (Candidate& candidate : made.all) {
      const bool known = std::ranges::any_of(search_.candidates(), [&](const Candidate& other) {
        return same_trees(other.plan, candidate.plan);
      });
      if (known) continue;
      any_new = true;
      candidate.crowded = delay_by_crowding(candidate.plan, platform_, message_);
      search_.add(std::move(candidate));
    }
    return any_new;
  }

  // best: the best so far; its time may be extrapolated.
  Choice finish(Trial best) {
    // Simulates the packing even if it does not win, so that it is reported for comparison.
    for (const std::size_t i : all()) {
      if (search_.candidates()[i].label == "optimal") (void)search_.best_of({i}, false);
    }
    Choice choice;
    const std::optional<Seconds> overhead = overhead_of_links();
    const bool is_by_turns =
        options_.run.segment || is_too_long(best) || (!overhead && is_brief(best));
    const Forecast forecast = is_by_turns ? search_.run_in_full(best, kMostSendsInFull)
                                          : search_.most_robust(best, overhead, kMostSendsInFull);
    choice.extrapolated = forecast.extrapolated;
    choice.makespan = search_.in_turns(best);
    const Candidate& winner = search_.candidates()[best.candidate];
    const Trial by_formula = search_.best_by_formula(best.candidate);
    choice.overhead = overhead_;
    choice.formula_segment = search_.segment_of(by_formula.segments);
    choice.formula_makespan = search_.in_turns(by_formula);
    add_candidates(choice, best);
    fit_rates(choice, winner, search_.segment_of(best.segments));
    choice.simulations = search_.simulations();
    choice.complete = complete_ && search_.complete();
    return choice;
  }

  [[nodiscard]] bool is_too_long(const Trial& best) const {
    return search_.in_turns(best) > options_.longest;
  }

  [[nodiscard]] bool is_brief(const Trial& best) const {
    const planner::Plan& plan = search_.candidates()[best.candidate].plan;
    return is_latency_bound(plan, message_, search_.in_turns(best));
  }

  // Under the multi-port models overheads occupy links, and a host uses many links at the same
  // time. So segments that are too short cost a host nothing there, while a real host handles its
  // segments one after the other. Returns the least overhead; unset: they occupy ports.
  [[nodiscard]] std::optional<Seconds> overhead_of_links() const {
    if (simulated_.arcs().empty() || platforms::is_one_port(model_)) return std::nullopt;
    return std::ranges::min_element(simulated_.arcs(), {}, &platforms::Arc::overhead)->overhead;
  }

  void add_candidates(Choice& choice, const Trial& best) const {
    for (const std::size_t i : all()) {
      const Candidate& candidate = search_.candidates()[i];
      const Trial own = i == best.candidate ? best : search_.best_to_report(i);
      choice.candidates.push_back({.algorithm = candidate.label,
                                   .reduce_trees = candidate.plan.reduce_trees.size(),
                                   .broadcast_trees = candidate.plan.broadcast_trees.size(),
                                   .depth = candidate.depth,
                                   .segment = search_.segment_of(own.segments),
                                   .makespan = search_.in_turns(own),
                                   .simulated = own.simulated});
    }
    put_first(best.candidate, choice.candidates);
  }

  // Trees that were made for another segment size have other rates with this one.
  void fit_rates(Choice& choice, const Candidate& winner, Bytes segment) const {
    const Collective collective = collective_for(segment);
    choice.outcome = winner.outcome;
    std::optional<BytesPerSecond> bound = bound_;
    if (depends_on_segments_) {
      if (winner.plan.nodes.size() > 1) {
        planner::fill_first_resource(choice.outcome, collective.occupation());
      }
      if (bound && bound_segment_ != segment) {
        planner::AlgorithmOptions limits = options_.limits;
        limits.deadline = deadline_;
        bound = planner::prove_optimum(collective, limits).bound;
      }
    }
    if (bound && !(bound->value < lp::Packing::kUnbounded)) bound.reset();
    choice.outcome.bound = bound;
    choice.plan = planner::make_plan(collective, winner.algorithm, choice.outcome, segment);
  }

  const platforms::Platform& platform_;
  platforms::NodeId source_;
  platforms::Model model_;
  bool latency_occupies_;
  Bytes message_;
  const ChoiceOptions& options_;
  const Deadline& deadline_;
  Seconds overhead_;
  platforms::Platform simulated_;  // with the overhead
  bool depends_on_segments_;
  SegmentSearch search_;
  std::optional<BytesPerSecond> bound_;
  Bytes bound_segment_;
  bool complete_ = true;
};

}  // namespace

std::string label_of(const CandidateResult& candidate) {
  if (candidate.root.empty()) return candidate.algorithm;
  return fmt::format("{} via {}", candidate.algorithm, candidate.root);
}

void put_first(std::size_t chosen, std::vector<CandidateResult>& candidates) {
  const auto own = candidates.begin() + static_cast<std::ptrdiff_t>(chosen);
  std::rotate(candidates.begin(), own, own + 1);
  std::stable_sort(candidates.begin() + 1, candidates.end(),
                   [](const auto& a, const auto& b) { return a.makespan < b.makespan; });
}

Choice choose_plan(const platforms::Platform& platform, platforms::NodeId source,
                   platforms::Model model, bool latency_occupies, Bytes message,
                   const ChoiceOptions& options) {
  if (message.value == 0) throw std::invalid_argument("a message has at least one byte");
  if (options.least_segment.value == 0) {
    throw std::invalid_argument("a segment has at least one byte");
  }
  require_valid(options.run, options.operation);
  return Chooser(platform, source, model, latency_occupies, message, options).choose();
}

Choice choose_plan(const planner::Collective& problem, Bytes message, ChoiceOptions options) {
  options.operation = problem.operation();
  return choose_plan(problem.platform(), problem.source(), problem.model(),
                     problem.options().latency_occupies, message, options);
}

}  // namespace espalier::simulate
