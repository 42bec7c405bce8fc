#include "simulate/search/choose_barrier.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/problem/collective.hpp"
#include "planner/schedule/barrier_bound.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/search/central_hosts.hpp"

namespace espalier::simulate {

namespace {

using platforms::NodeId;
using platforms::Platform;

constexpr std::size_t kRootsTried = 4;
// Of more hosts only one root is tried, and no tree that takes longer than O(n^2) to make.
constexpr std::size_t kFewHosts = 256;

// Shapes of logarithmic depth, and those that know latencies. The others are made for throughput.
constexpr std::array<std::string_view, 7> kForBarriers{
    "fnf", "hierarchical", "hierarchical-node", "binary", "binomial", "flat", "recursive-doubling"};
constexpr std::array<std::string_view, 2> kForFewHosts{"ecef", "ecef-lookahead"};

void add_algorithms(std::span<const std::string_view> names,
                    std::vector<planner::Algorithm>& algorithms) {
  for (const std::string_view name : names) {
    algorithms.push_back(planner::find_algorithm(name, planner::Operation::kBarrier));
  }
}

}  // namespace

Choice choose_barrier(const Platform& platform, std::optional<NodeId> root, platforms::Model model,
                      bool latency_occupies, ChoiceOptions options) {
  planner::require_barrier(platform);
  options.operation = planner::Operation::kBarrier;
  options.run.segment = kBarrierMessage;
  const bool are_few = platform.hosts().size() <= kFewHosts;
  if (options.algorithms.empty()) {
    add_algorithms(kForBarriers, options.algorithms);
    if (are_few) add_algorithms(kForFewHosts, options.algorithms);
  }
  const Seconds overhead = options.overhead.value_or(overhead_for(platform));
  const std::vector<NodeId> roots =
      root ? std::vector{*root} : central_hosts(platform, overhead, are_few ? kRootsTried : 1);
  const Platform network = with_overhead(platform, overhead);  // or algorithms would not know it
  std::optional<Choice> best;
  std::vector<CandidateResult> candidates;
  std::size_t chosen = 0;
  std::size_t simulations = 0;
  bool complete = true;
  for (const NodeId via : roots) {
    if (best && options.limits.deadline.passed()) {
      complete = false;
      break;
    }
    Choice choice = choose_plan(network, via, model, latency_occupies, kBarrierMessage, options);
    const bool is_better = !best || choice.makespan < best->makespan;
    if (is_better) chosen = candidates.size();
    for (CandidateResult& candidate : choice.candidates) {
      candidate.root = platform.node(via).name;
      candidates.push_back(std::move(candidate));
    }
    simulations += choice.simulations;
    complete = complete && choice.complete;
    if (is_better) best = std::move(choice);
  }
  put_first(chosen, candidates);
  best->candidates = std::move(candidates);
  best->simulations = simulations;
  best->complete = complete;
  best->formula_segment = Bytes{0};
  best->outcome.bound = std::nullopt;
  best->overhead = overhead;
  const planner::Collective collective(planner::Operation::kBarrier, platform,
                                       planner::source_named(platform, best->plan.source), model,
                                       {kBarrierMessage, latency_occupies});
  planner::fill_first_resource(best->outcome, collective.occupation());
  best->plan = planner::make_plan(collective, best->plan.algorithm, best->outcome, kBarrierMessage);
  return *std::move(best);
}

}  // namespace espalier::simulate
