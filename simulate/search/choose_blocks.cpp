#include "simulate/search/choose_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/search/central_hosts.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using platforms::NodeId;
using platforms::Platform;

// Runs of more sends take seconds; shorter segments, which need more, are not tried.
constexpr double kMostSendsTried = 250'000;
constexpr std::uint64_t kSegmentFactor = 4;

// The optimum, the best ring, and what MPI libraries do, which are made quickly for all roots. The
// fast ones are last, so that there is something at a time limit.
constexpr std::array<std::string_view, 11> kTried{planner::kOptimal,
                                                  "fabric",
                                                  "ring",
                                                  "hierarchical",
                                                  "two-tree-complete",
                                                  "recursive-doubling",
                                                  "bruck",
                                                  "binomial",
                                                  "chain",
                                                  "neighbor-exchange",
                                                  "flat"};

struct Alternative {
  std::string algorithm;
  planner::Outcome outcome;
  planner::Plan plan;
  Seconds least;  // the message over the throughput
};

// The most hosts that one host sends to, or receives from, over all trees; no less than those that
// are no crowd.
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

// How much longer than the best one a plan may take that is better otherwise.
constexpr double kHardlyLonger = 1.02;

struct Timed {
  Bytes segment{0};
  Seconds makespan{std::numeric_limits<double>::infinity()};
};

template <class Problem>
class BlockChooser {
 public:
  BlockChooser(const Problem& problem, Bytes message, const ChoiceOptions& options)
      : problem_(problem),
        message_(message),
        options_(options),
        deadline_(options.limits.deadline),
        overhead_(options.overhead.value_or(overhead_for(problem.platform()))),
        network_(with_overhead(problem.platform(), overhead_)) {}

  Choice choose() {
    make_candidates();
    std::ranges::stable_sort(candidates_, {},
                             [](const Alternative& one) { return one.least.value; });
    std::vector<Timed> timed(candidates_.size());
    std::size_t best = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].least.value >= timed[best].makespan.value) continue;
      if (i > 0 && deadline_.passed()) {
        complete_ = false;
        break;
      }
      report(candidates_[i].algorithm);
      timed[i] = in_best_segment(candidates_[i].plan);
      if (timed[i].makespan.value < timed[best].makespan.value) best = i;
    }
    return choice_of(timed, without_crowds(timed, best));
  }

 private:
  void report(std::string_view text) const {
    if (options_.on_progress) options_.on_progress(deadline_.elapsed(), text);
  }

  void make_candidates() {
    std::vector<planner::Algorithm> algorithms = options_.algorithms;
    if (algorithms.empty()) {
      for (const std::string_view name : kTried) {
        const planner::Algorithm one = planner::find_algorithm(name, problem_.operation());
        if (planner::is_for(one, problem_)) algorithms.push_back(one);
      }
    }
    std::exception_ptr error;
    for (auto one = algorithms.rbegin(); one != algorithms.rend(); ++one) {
      if (deadline_.passed() && !candidates_.empty()) {
        complete_ = false;
        break;
      }
      report(one->name);
      try {
        add(*one);
      } catch (const Error&) {
        error = std::current_exception();
      }
    }
    if (candidates_.empty()) std::rethrow_exception(error);
  }

  void add(const planner::Algorithm& algorithm) {
    planner::AlgorithmOptions limits = options_.limits;
    limits.deadline = deadline_.share(kShareOfOne);
    limits.message = message_;
    planner::Outcome outcome = planner::run(algorithm, problem_, limits);
    if (outcome.bound) bound_ = outcome.bound;
    planner::Plan plan =
        planner::make_plan(problem_, algorithm.name, outcome, planner::kDefaultSegment);
    const Seconds least{static_cast<double>(message_.value) / plan.throughput.value};
    candidates_.push_back({algorithm.name, std::move(outcome), std::move(plan), least});
  }

  // Of those that take hardly longer than the best one without crowds: connections that share a
  // host overflow its queue at times, which is not simulated
  // (docs/decisions/0026-few-neighbours.md).
  [[nodiscard]] std::size_t without_crowds(const std::vector<Timed>& timed,
                                           std::size_t best) const {
    const double longest_s = kHardlyLonger * timed[best].makespan.value;
    std::size_t least_crowd = crowd_of(candidates_[best].plan);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (timed[i].makespan.value > longest_s) continue;
      const std::size_t crowd = crowd_of(candidates_[i].plan);
      if (std::pair(crowd, timed[i].makespan) < std::pair(least_crowd, timed[best].makespan)) {
        least_crowd = crowd;
        best = i;
      }
    }
    return best;
  }

  // Whole parts first, then shorter and shorter segments until two in a row are no better.
  [[nodiscard]] Timed in_best_segment(const planner::Plan& plan) {
    Timed best;
    if (options_.run.segment) return at(simulator_of(plan, *options_.run.segment));
    int worse = 0;
    for (std::uint64_t segment = whole_part(plan);
         segment >= options_.least_segment.value && worse < 2; segment /= kSegmentFactor) {
      const Simulator simulator = simulator_of(plan, Bytes{segment});
      const bool is_first = best.segment.value == 0;
      if (!is_first && simulator.sends_of(message_) > kMostSendsTried) break;
      const Timed now = at(simulator);
      const bool is_better = now.makespan.value < best.makespan.value;
      worse = is_better ? 0 : worse + 1;
      if (is_better) best = now;
      if (segment == 1) break;
    }
    return best;
  }

  [[nodiscard]] Simulator simulator_of(const planner::Plan& plan, Bytes segment) const {
    Options how = options_.run;
    how.segment = segment;
    return Simulator(plan, network_, how);
  }
  [[nodiscard]] Timed at(const Simulator& simulator) {
    ++simulations_;
    return {simulator.segment(), simulator.run(message_).makespan};
  }

  // The least size in the ladder with which no part is cut.
  [[nodiscard]] std::uint64_t whole_part(const planner::Plan& plan) const {
    double largest = plan.blocks.empty() ? 1 : 0;
    for (const planner::PlanBlock& block : plan.blocks) largest = std::max(largest, block.share);
    const double bytes = largest * static_cast<double>(message_.value);
    std::uint64_t segment = std::max<std::uint64_t>(options_.least_segment.value, 1);
    while (static_cast<double>(segment) < bytes) segment *= kSegmentFactor;
    return segment;
  }

  [[nodiscard]] Choice choice_of(const std::vector<Timed>& timed, std::size_t best) {
    Choice choice;
    const Timed& own = timed[best];
    choice.outcome = std::move(candidates_[best].outcome);
    platforms::OccupationOptions occupying = problem_.options();
    occupying.segment = own.segment;
    const bool fits = occupying.segment.value == problem_.options().segment.value ||
                      (!names_overhead(problem_.platform()) && !occupying.latency_occupies);
    if (!fits) {  // trees for another segment size have other rates with this one
      planner::fill_first_resource(
          choice.outcome, platforms::occupation(problem_.platform(), problem_.model(), occupying));
    }
    choice.outcome.bound = fits ? bound_ : std::nullopt;
    choice.plan =
        planner::make_plan(problem_, candidates_[best].algorithm, choice.outcome, own.segment);
    choice.plan.segment = own.segment;
    choice.makespan = own.makespan;
    choice.overhead = overhead_;
    choice.simulations = simulations_;
    choice.complete = complete_;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      choice.candidates.push_back(result_of(candidates_[i], timed[i]));
    }
    put_first(best, choice.candidates);
    return choice;
  }

  [[nodiscard]] static CandidateResult result_of(const Alternative& candidate, const Timed& timed) {
    CandidateResult result{.algorithm = candidate.algorithm,
                           .depth = planner::figures_of(candidate.plan).depth,
                           .segment = timed.segment,
                           .makespan = timed.makespan,
                           .simulated = timed.segment.value > 0};
    for (const planner::PlanTrees& kind : planner::blocks_of(candidate.plan)) {
      (kind.up ? result.reduce_trees : result.broadcast_trees) += kind.trees->size();
    }
    if (!result.simulated) result.makespan = candidate.least;
    return result;
  }

  static constexpr double kShareOfOne = 0.25;  // of the time that is left

  const Problem& problem_;
  Bytes message_;
  const ChoiceOptions& options_;
  const Deadline& deadline_;
  Seconds overhead_;
  Platform network_;  // with the overhead
  std::vector<Alternative> candidates_;
  std::optional<BytesPerSecond> bound_;
  std::size_t simulations_ = 0;
  bool complete_ = true;
};

// Many trees of many roots wait for each other in more ways than a simulation has: over TCP 21 of
// them, among eight hosts in three pods, took 1.09 times as long as 4 of one root.
bool is_better(const Choice& rooted, const Choice& free_roots) {
  const bool has_fewer_trees =
      planner::tree_count(rooted.plan) < planner::tree_count(free_roots.plan) &&
      crowd_of(rooted.plan) <= crowd_of(free_roots.plan);
  return rooted.makespan.value < (has_fewer_trees ? kHardlyLonger : 1) * free_roots.makespan.value;
}

}  // namespace

Choice choose_plan(const planner::AllRoots& problem, Bytes message, const ChoiceOptions& options) {
  Choice choice = BlockChooser(problem, message, options).choose();
  if (!problem.has_free_roots() || !choice.complete) return choice;
  const NodeId root = central_hosts(problem.platform(), choice.overhead, 1).front();
  ChoiceOptions of_one_root = options;
  of_one_root.operation = problem.operation();
  Choice rooted = choose_plan(problem.platform(), root, problem.model(),
                              problem.options().latency_occupies, message, of_one_root);
  for (CandidateResult& candidate : rooted.candidates) {
    candidate.root = problem.platform().node(root).name;
  }
  if (is_better(rooted, choice)) std::swap(rooted, choice);
  choice.candidates.insert(choice.candidates.end(), rooted.candidates.begin(),
                           rooted.candidates.end());
  put_first(0, choice.candidates);
  choice.simulations += rooted.simulations;
  choice.complete = choice.complete && rooted.complete;
  return choice;
}

Choice choose_plan(const planner::Routing& problem, Bytes message, const ChoiceOptions& options) {
  return BlockChooser(problem, message, options).choose();
}

Choice choose_plan(const planner::Multicast& /*problem*/, Bytes /*message*/,
                   const ChoiceOptions& /*options*/) {
  throw std::invalid_argument("plans for some of the hosts are not chosen by message");
}

}  // namespace espalier::simulate
