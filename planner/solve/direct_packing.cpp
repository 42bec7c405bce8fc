#include "planner/solve/direct_packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/fabric/direct_trees.hpp"
#include "lp/fabric/fabric_tree.hpp"
#include "lp/graph/tree_routes.hpp"
#include "lp/packing/low_latency_trees.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

// Of n equal hosts an allreduce leaves 1/n over: so that it holds for 1,000 hosts and more.
constexpr double kNearEnough = 1.0011e-3;

// With the bound if they are within `gap` of it.
Outcome outcome_near(std::vector<lp::PackedTree> trees, const lp::PlainBound& bound, double gap,
                     const Deadline& deadline) {
  if (trees.empty()) throw deadline.ended_before("there were trees");
  lp::Packing packing;
  packing.rate = lp::total_rate(trees);
  packing.trees = std::move(trees);
  packing.bound = lp::Packing::kUnbounded;
  prove(packing, bound, gap);
  return outcome_of(packing);
}

// Unset: they are not within `gap` of the bound, or beyond the limits.
std::optional<lp::Packing> proven(const lp::PackingProblem& problem,
                                  std::vector<lp::PackedTree> trees, const lp::PlainBound& bound,
                                  double gap, const AlgorithmOptions& options) {
  lp::Packing packing;
  packing.trees = std::move(trees);
  packing.rate = lp::total_rate(packing.trees);
  if (!prove(packing, bound, gap) || !is_plan(problem, packing, options)) return std::nullopt;
  make_less_crowded(problem, options, packing);
  for (const lp::PackedTree& tree : packing.trees) packing.pool.push_back(tree.tree);
  return packing;
}

}  // namespace

bool prove(lp::Packing& packing, const lp::PlainBound& bound, double gap) {
  if (!(packing.rate * (1 + gap) >= bound.rate)) return false;
  packing.bound = bound.rate;
  packing.prices = bound.prices;
  const double sum = std::accumulate(bound.prices.begin(), bound.prices.end(), 0.0);
  for (double& price : packing.prices) price /= sum;
  return true;
}

std::optional<Outcome> proven_blocks(const AllRoots& problem, std::vector<BlockOfTrees> blocks,
                                     const lp::PlainBound& bound, double gap) {
  Outcome found;
  found.blocks = std::move(blocks);
  fill_first_resource(found, problem.occupation());
  lp::Packing packing;
  packing.rate = throughput_of(found).value;
  if (!prove(packing, bound, gap)) return std::nullopt;
  Outcome proven = outcome_of(packing);
  proven.blocks = std::move(found.blocks);
  return proven;
}

double gap_near_enough(const AlgorithmOptions& options) {
  return std::max(options.gap, kNearEnough);
}

bool is_for_direct_trees(const lp::Digraph& graph) {
  constexpr std::size_t kFewHosts = 64;
  constexpr std::size_t kFewLinks = 16;  // out of a host on average, where all are among hosts
  const std::size_t hosts = graph.host_count();
  return hosts >= kFewHosts && (graph.has_relays() || graph.arc_count() <= kFewLinks * hosts);
}

bool is_plan(const lp::PackingProblem& problem, const lp::Packing& packing,
             const AlgorithmOptions& options) {
  if (packing.end != lp::PackingEnd::kGapReached || options.max_latency) return false;
  if (options.max_trees > 0 && packing.trees.size() > options.max_trees) return false;
  return std::ranges::all_of(packing.trees, [&](const lp::PackedTree& tree) {
    return options.max_depth == 0 ||
           lp::depth_of(problem.graph, problem.root, tree.tree) <= options.max_depth;
  });
}

void make_less_crowded(const lp::PackingProblem& problem, const AlgorithmOptions& options,
                       lp::Packing& packing) {
  std::vector<lp::PackedTree> trees = packing.trees;
  packing.trees = lp::less_crowded(problem, packing, packing.trees, options);
  if (!is_plan(problem, packing, options)) packing.trees = std::move(trees);
  packing.rate = lp::total_rate(packing.trees);
}

void join_both_ways(const CollectiveProblem& joint, const lp::BothWays& both,
                    std::vector<lp::PackedTree>& trees) {
  for (lp::PackedTree& packed : trees) {
    packed.tree = joint.join({both.back(packed.tree), packed.tree});
  }
}

std::vector<lp::PackedTree> fabric_trees(const lp::PackingProblem& problem, double rate,
                                         std::size_t most_trees, const Deadline& deadline) {
  constexpr double kShare = 0.2;  // of the time
  if (!is_for_direct_trees(problem.graph)) return {};
  return lp::direct_trees(problem, rate, most_trees, deadline.share(kShare));
}

std::optional<lp::Packing> direct_packing(const Instance& instance,
                                          const AlgorithmOptions& options) {
  const lp::PackingProblem problem = packing_problem(instance);
  if (options.max_latency || instance.options().money_per_s) return std::nullopt;
  if (!is_for_direct_trees(problem.graph)) return std::nullopt;
  const lp::PlainBound bound = lp::plain_bound(problem);
  std::vector<lp::PackedTree> trees =
      fabric_trees(problem, bound.rate, options.max_trees, options.deadline);
  return proven(problem, std::move(trees), bound, options.gap, options);
}

std::optional<lp::Packing> direct_allreduce(const CollectiveProblem& joint,
                                            const Collective& collective,
                                            const AlgorithmOptions& options) {
  const lp::PackingProblem single = packing_problem(*collective.broadcast());
  if (options.max_latency || collective.options().money_per_s) return std::nullopt;
  if (!is_for_direct_trees(single.graph)) return std::nullopt;
  const auto both = lp::BothWays::of(single);
  if (!both) return std::nullopt;
  const lp::PackingProblem problem = joint.problem();
  const lp::PlainBound bound = lp::plain_bound(problem);
  const double hosts = static_cast<double>(single.graph.host_count());
  const double gap = gap_near_enough(options);
  std::vector<lp::PackedTree> trees;
  for (const double share : {1.0, 1 - 1 / hosts}) {
    if (share * (1 + gap) < 1) break;
    trees = fabric_trees(both->problem(), share * bound.rate, options.max_trees, options.deadline);
    if (!trees.empty()) break;
  }
  join_both_ways(joint, *both, trees);
  return proven(problem, std::move(trees), bound, gap, options);
}

std::string why_no_direct_trees(const Instance& instance) {
  using Reason = lp::NoFabric::Reason;
  const auto why = lp::why_no_fabric(packing_problem(instance));
  if (!why) return {};
  const auto host = in_quotes(instance.platform().node(platforms::NodeId{why->host}).name);
  switch (why->reason) {
    case Reason::kNoSwitch:
      return fmt::format("host {} is not linked to a switch", host);
    case Reason::kOneWay:
      return fmt::format("the link of host {} to its switch is not of both directions", host);
    case Reason::kUnreached:
      break;
  }
  return fmt::format("no links of both directions lead to host {}", host);
}

Outcome best_direct_trees(const Instance& instance, const AlgorithmOptions& options) {
  const lp::PackingProblem problem = packing_problem(instance);
  const lp::PlainBound bound = lp::plain_bound(problem);
  return outcome_near(
      lp::best_direct_trees(problem, bound.rate, options.max_trees, options.deadline), bound,
      options.gap, options.deadline);
}

Outcome best_direct_allreduce(const CollectiveProblem& joint, const Collective& collective,
                              const AlgorithmOptions& options) {
  const auto both = lp::BothWays::of(packing_problem(*collective.broadcast()));
  if (!both) {
    throw InfeasibleError(fmt::format("{}: a link has no opposite", collective.platform().name()));
  }
  const lp::PlainBound bound = lp::plain_bound(joint.problem());
  std::vector<lp::PackedTree> trees =
      lp::best_direct_trees(both->problem(), bound.rate, options.max_trees, options.deadline);
  join_both_ways(joint, *both, trees);
  return joint.in_links(
      outcome_near(std::move(trees), bound, gap_near_enough(options), options.deadline));
}

}  // namespace espalier::planner
