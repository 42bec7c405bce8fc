#include "simulate/search/choose_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/search/candidates.hpp"
#include "simulate/search/central_hosts.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using platforms::NodeId;
using platforms::Platform;

// Runs of more sends take seconds; shorter segments, which need more, are not tried.
constexpr double kMostSendsTried = 300'000;
constexpr std::uint64_t kSegmentFactor = 4;
// All runs in which sends share ports together. A send along trees takes up to so long among 64
// hosts, and longer in proportion among more. Where parts are routed it changes the rates of more
// others.
constexpr double kSecondsASend = 20e-6;
constexpr double kManyHosts = 64;
constexpr double kMostSendsShared = 300'000;
constexpr double kLongerWhereRouted = 5;

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

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// A plan in segments of one size.
struct Timed {
  Bytes segment{0};
  double sends = 0;
  Seconds makespan = kNever;  // with turns
  Seconds judged = kNever;    // by what trials are compared: longer, for what turns leave out
};

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
    Seconds best = kNever;
    for (Alternative& candidate : candidates_) {
      if (candidate.least.value > kHardlyLonger * best.value) continue;
      if (best < kNever && deadline_.passed()) {
        complete_ = false;
        break;
      }
      report(candidate.algorithm);
      try_segments(candidate);
      best = std::min(best, best_of(candidate).judged);
    }
    share_ports({kHardlyLonger * best.value});
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
      if (one.judged < kNever && one.judged.value <= longest_s && one.segment < best.segment)
        best = one;
    }
    return best;
  }

  // Of those that are nearly as fast as the best one without crowds: connections that share a host
  // overflow its queue at times, which is not simulated, and costs 5 to 20 %
  // (docs/decisions/0026-few-neighbours.md).
  [[nodiscard]] std::size_t without_crowds() const {
    Seconds least = kNever;
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

  // Whole parts first, then shorter and shorter segments while these take hardly longer.
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
    const Simulator simulator = simulator_of(candidate.plan, segment, Sharing::kTurns);
    const double sends = simulator.sends_of(message_);
    if (!candidate.trials.empty() && sends > kMostSendsTried) return false;
    const double least_s = best_of(candidate).judged.value;
    const Seconds makespan = time_of(simulator);
    const Seconds judged{makespan.value + candidate.crowded.value};
    candidate.trials.push_back({simulator.segment(), sends, makespan, judged});
    return judged.value <= kHardlyLonger * least_s;
  }

  // Trials that take hardly longer than the best one with turns are judged with sends that share
  // ports, as TCP's do: a host that receives several parts at once has each of them late, and sends
  // nothing on meanwhile, while with turns whole parts look as good as short segments
  // (docs/decisions/0029-finalists-share-ports.md). Plans without crowds first, and of these the
  // shallowest.
  void share_ports(Seconds longest) {
    std::vector<Alternative*> finalists;
    for (Alternative& one : candidates_) {
      const Timed best = best_of(one);
      const bool is_brief = is_latency_bound(one.plan, message_, best.makespan);
      if (best.judged <= longest && !is_brief) finalists.push_back(&one);
    }
    std::ranges::stable_sort(finalists, {}, [](const Alternative* one) {
      return std::pair(one->crowd, planner::figures_of(one->plan).depth);
    });
    double sends_left = kMostSendsShared;
    if (const auto left = deadline_.left()) {
      sends_left = std::min(sends_left, left->value / kSecondsASend);
    }
    const auto hosts = static_cast<double>(problem_.platform().hosts().size());
    sends_left /= std::max(1.0, hosts / kManyHosts);
    if (planner::routes(problem_.operation())) sends_left /= kLongerWhereRouted;
    std::vector<std::vector<Timed>> shared;
    for (const Alternative* one : finalists) {
      if (!shared.empty() && deadline_.passed()) break;
      report(one->algorithm);
      shared.push_back(trials_with_shared_ports(*one, longest, sends_left));
    }
    if (std::ranges::all_of(shared, &std::vector<Timed>::empty)) return;
    for (Alternative& one : candidates_) {
      for (Timed& trial : one.trials) trial.judged = kNever;
    }
    for (std::size_t i = 0; i < shared.size(); ++i) {
      if (!shared[i].empty()) finalists[i]->trials = std::move(shared[i]);
    }
  }

  // From the shortest segments to longer ones until these are worse. What sharing costs decreases
  // with the segments, at least as their root: so shorter ones than can be simulated are judged.
  std::vector<Timed> trials_with_shared_ports(const Alternative& candidate, Seconds longest,
                                              double& sends_left) {
    std::vector<Timed> judged;
    std::optional<Timed> shorter;  // too short
    for (auto trial = candidate.trials.rbegin(); trial != candidate.trials.rend(); ++trial) {
      if (trial->judged > longest) continue;
      if (trial->sends > sends_left) {
        shorter = *trial;
        continue;
      }
      sends_left -= trial->sends;
      const Simulator simulator = simulator_of(candidate.plan, trial->segment, Sharing::kSends);
      Timed now = *trial;
      now.judged = std::max(trial->makespan, time_of(simulator));
      if (judged.empty() && shorter) {
        const double ratio =
            static_cast<double>(shorter->segment.value) / static_cast<double>(trial->segment.value);
        const double cost_s = now.judged.value - now.makespan.value;
        shorter->judged = {shorter->makespan.value + std::sqrt(ratio) * cost_s};
        judged.push_back(*shorter);
      }
      const bool is_worse = !judged.empty() && now.judged >= judged.back().judged;
      judged.push_back(now);
      if (is_worse) break;
    }
    return judged;
  }

  [[nodiscard]] Simulator simulator_of(const planner::Plan& plan, Bytes segment,
                                       Sharing sharing) const {
    Options how = options_.run;
    how.segment = segment;
    how.sharing = sharing;
    how.until_received = how.until_received || sharing != Sharing::kTurns;
    return Simulator(plan, network_, how);
  }
  [[nodiscard]] Seconds time_of(const Simulator& simulator) {
    ++simulations_;
    return simulator.run(message_).makespan;
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
  of_one_root.longest = {kHardlyLonger * choice.makespan.value};
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
