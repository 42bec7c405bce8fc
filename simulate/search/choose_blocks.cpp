#include "simulate/search/choose_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/search/candidates.hpp"
#include "simulate/search/central_hosts.hpp"
#include "simulate/search/shared_ports.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using platforms::NodeId;
using platforms::Platform;

// Runs of more sends take seconds; shorter segments, which need more, are not tried.
constexpr double kMostSendsTried = 300'000;
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
  Seconds least;      // time_of_bytes
  Seconds crowded;    // delay_by_crowding
  std::size_t crowd;  // crowd_of
  std::vector<Timed> trials{};
};

// How much longer than the best one a plan may take that is better otherwise.
constexpr double kHardlyLonger = 1.025;
// How much longer than in other segments it may take in some, and yet less in still shorter ones.
constexpr double kMuchLonger = 1.25;
// How much longer a plan with crowds takes than simulated, at times.
constexpr double kCrowdsCost = 1.1;

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
    Seconds best = kUntimed;
    for (Alternative& candidate : candidates_) {
      if (candidate.least.value > kHardlyLonger * best.value) continue;
      if (best < kUntimed && deadline_.passed()) {
        complete_ = false;
        break;
      }
      report(candidate.algorithm);
      try_segments(candidate);
      best = std::min(best, best_of(candidate).judged);
    }
    judge({kHardlyLonger * best.value});
    return choice_of(without_crowds());
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
    const Seconds least = time_of_bytes(plan, message_);
    const Seconds crowded = delay_by_crowding(plan, problem_.platform(), message_);
    const std::size_t crowd = crowd_of(plan);
    candidates_.push_back(
        {algorithm.name, std::move(outcome), std::move(plan), least, crowded, crowd});
  }

  // The shortest segments that are as good as the best: over TCP they take up to a third less where
  // a host receives from many, or sends to many, at once.
  [[nodiscard]] static Timed best_of(const Alternative& candidate) {
    constexpr double kAsGood = 1.01;
    Timed best;
    for (const Timed& one : candidate.trials) {
      if (std::pair(one.judged, one.makespan) < std::pair(best.judged, best.makespan)) best = one;
    }
    const double longest_s = kAsGood * best.judged.value;
    for (const Timed& one : candidate.trials) {
      if (one.judged < kUntimed && one.judged.value <= longest_s && one.segment < best.segment)
        best = one;
    }
    return best;
  }

  // Of those that are nearly as fast as the best one without crowds: connections that share a host
  // overflow its queue at times, which is not simulated, and costs 5 to 20 %
  // (docs/decisions/0026-few-neighbours.md).
  [[nodiscard]] std::size_t without_crowds() const {
    Seconds least = kUntimed;
    for (const Alternative& one : candidates_) least = std::min(least, best_of(one).judged);
    const auto rank = [&](const Alternative& one) {
      const Seconds judged = best_of(one).judged;
      const bool has_crowds = one.crowd > planner::kFewNeighbours;
      const bool is_near = judged.value <= (has_crowds ? kHardlyLonger : kCrowdsCost) * least.value;
      return std::tuple(!is_near, is_near ? one.crowd : 0, judged);
    };
    const auto best = std::ranges::min_element(candidates_, {}, rank);
    return static_cast<std::size_t>(best - candidates_.begin());
  }

  // Whole parts first, then shorter and shorter segments unless these take much longer.
  void try_segments(Alternative& candidate) {
    if (options_.run.segment) {
      try_segment(candidate, *options_.run.segment);
      return;
    }
    for (std::uint64_t segment = whole_part(candidate.plan);
         segment >= options_.least_segment.value; segment /= kSegmentFactor) {
      if (!try_segment(candidate, Bytes{segment}) || segment == 1) break;
    }
  }

  // False: it would take long, or it takes so much longer than other segments that shorter ones
  // need not be tried.
  bool try_segment(Alternative& candidate, Bytes segment) {
    const Simulator simulator(candidate.plan, network_,
                              options_with(options_.run, segment, Sharing::kTurns));
    const double sends = simulator.sends_of(message_);
    if (!candidate.trials.empty() && sends > kMostSendsTried) return false;
    const double least_s = best_of(candidate).judged.value;
    const Seconds makespan = simulator.run(message_).makespan;
    ++simulations_;
    const Seconds judged{makespan.value + candidate.crowded.value};
    candidate.trials.push_back({simulator.segment(), sends, makespan, judged});
    return judged.value <= kMuchLonger * least_s;
  }

  // All that take hardly longer than the best one with turns are judged where ports are shared,
  // those without crowds first, and of these the shallowest; then others, while they may be better
  // than what was judged: a plan that is a little slower with turns may lose nothing to sharing
  // where the fastest loses half.
  void judge(Seconds longest) {
    const Alternative& first = *std::ranges::min_element(
        candidates_, {}, [](const Alternative& one) { return best_of(one).judged; });
    if (is_latency_bound(first.plan, message_, best_of(first).makespan)) return;
    std::vector<Alternative*> finalists;
    for (Alternative& one : candidates_) finalists.push_back(&one);
    std::ranges::stable_sort(finalists, {}, [&](const Alternative* one) {
      const Seconds least = least_of(*one);
      if (least > longest) return std::tuple(least, std::size_t{0}, std::size_t{0});
      return std::tuple(Seconds{0}, one->crowd, planner::figures_of(one->plan).depth);
    });
    SharedPorts shared(network_, message_, options_.run, planner::routes(problem_.operation()),
                       deadline_.left());
    std::vector<std::pair<Alternative*, std::vector<Timed>>> judged;
    Seconds best = kUntimed;
    for (Alternative* one : finalists) {
      const bool is_near = least_of(*one) <= longest;
      if (!judged.empty() && deadline_.passed()) break;
      if (!is_near && best == kUntimed) break;  // nothing was judged
      if (one->trials.empty() && least_of(*one) < best) try_segments(*one);
      if (!is_near && least_of(*one) >= best) continue;
      report(one->algorithm);
      const Seconds hardly_longer{kHardlyLonger * best.value};
      judged.emplace_back(one,
                          shared.judge(one->plan, one->trials, is_near ? longest : hardly_longer));
      for (const Timed& trial : judged.back().second) best = std::min(best, trial.judged);
    }
    simulations_ += shared.simulations();
    if (best == kUntimed) return;
    for (Alternative& one : candidates_) {
      for (Timed& trial : one.trials) trial.judged = kUntimed;
    }
    for (auto& [one, trials] : judged) {
      if (!trials.empty()) one->trials = std::move(trials);
    }
    are_shared_ = true;
  }

  // With turns, without the delay by crowding, which shared ports have by themselves; of
  // what was not tried, a lower bound.
  [[nodiscard]] static Seconds least_of(const Alternative& one) {
    if (one.trials.empty()) return one.least;
    return std::ranges::min(one.trials, {}, &Timed::makespan).makespan;
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

  [[nodiscard]] Choice choice_of(std::size_t best) {
    Choice choice;
    const Timed own = best_of(candidates_[best]);
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
    if (are_shared_) choice.with_shared_ports = own.judged;
    choice.overhead = overhead_;
    choice.simulations = simulations_;
    choice.complete = complete_;
    for (const Alternative& one : candidates_) {
      choice.candidates.push_back(result_of(one, best_of(one)));
    }
    put_first(best, choice.candidates);
    return choice;
  }

  [[nodiscard]] static CandidateResult result_of(const Alternative& candidate, const Timed& best) {
    CandidateResult result{.algorithm = candidate.algorithm,
                           .depth = planner::figures_of(candidate.plan).depth,
                           .segment = best.segment,
                           .makespan = best.makespan,
                           .simulated = best.segment.value > 0};
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
  bool are_shared_ = false;  // trials are judged where ports are shared
};

Seconds judged(const Choice& choice) {
  return choice.with_shared_ports.value_or(choice.makespan);
}

// Many trees of many roots wait for each other in more ways than a simulation has: over TCP 21 of
// them, among eight hosts in three pods, took 1.09 times as long as 4 of one root.
bool is_better(const Choice& rooted, const Choice& free_roots) {
  const bool has_fewer_trees =
      planner::tree_count(rooted.plan) < planner::tree_count(free_roots.plan) &&
      crowd_of(rooted.plan) <= crowd_of(free_roots.plan);
  return judged(rooted).value < (has_fewer_trees ? kHardlyLonger : 1) * judged(free_roots).value;
}

}  // namespace

Choice choose_plan(const planner::AllRoots& problem, Bytes message, const ChoiceOptions& options) {
  Choice choice = BlockChooser(problem, message, options).choose();
  if (!problem.has_free_roots() || !choice.complete) return choice;
  const NodeId root = central_hosts(problem.platform(), choice.overhead, 1).front();
  ChoiceOptions of_one_root = options;
  of_one_root.operation = problem.operation();
  of_one_root.longest = {kHardlyLonger * judged(choice).value};
  Choice rooted = choose_plan(problem.platform(), root, problem.model(),
                              problem.options().latency_occupies, message, of_one_root);
  for (CandidateResult& candidate : rooted.candidates) {
    candidate.root = problem.platform().node(root).name;
  }
  if (choice.with_shared_ports && rooted.makespan < of_one_root.longest) {
    const Platform network = with_overhead(problem.platform(), choice.overhead);
    rooted.with_shared_ports = std::max(
        rooted.makespan,
        time_with_shared_ports(rooted.plan, network, message, options.run, rooted.plan.segment));
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
