#include "planner/solve/solve_packing.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/packing/few_trees.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/rack_packing.hpp"
#include "planner/solve/walk_tree.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using tree_algorithms::binary;
using tree_algorithms::binomial;
using tree_algorithms::chain;
using tree_algorithms::grow;
using tree_algorithms::prune_refined;
using tree_algorithms::prune_simple;

Outcome walk(const Instance& instance) {
  std::optional<lp::RoutedTree> tree = walk_tree(instance);
  return tree ? tree_algorithms::single_tree(instance, std::move(*tree)) : Outcome{};
}

constexpr double kRounding = 1e-12;

// Whether an edge passes through other hosts, as in topology-oblivious trees where there is no
// link. A plan is better without such edges, because those hosts receive the data anyway.
bool makes_detours(const lp::Digraph& graph, const lp::RoutedTree& tree) {
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    for (const std::uint32_t arc : tree.path(edge).subspan(1)) {
      if (!graph.relay(graph.tail[arc])) return true;
    }
  }
  return false;
}

}  // namespace

// Uses topology-oblivious trees only where most pairs of hosts have a link: a tree with detours is
// slow to make and never good. Through relays every pair of hosts is a candidate, and all of them
// are listed for these algorithms only where they are few.
std::vector<lp::RoutedTree> heuristic_trees(const Instance& instance, const Deadline& deadline,
                                            Purpose purpose) {
  constexpr double kFarBehind = 0.5;
  const double hosts = static_cast<double>(instance.host_count());
  constexpr double kMostPairs = 100'000;
  const bool few_pairs = !instance.digraph().has_relays() || hosts * hosts <= kMostPairs;
  const bool dense = static_cast<double>(instance.platform().arcs().size()) > hosts * hosts / 2;
  const double bound = lp::plain_bound(packing_problem(instance)).rate;
  const double enough = bound * (1 - kRounding);
  std::vector<WeightedTree> trees;
  double best = 0;
  const auto add = [&](Outcome outcome) {
    for (WeightedTree& tree : outcome.trees) {
      best = std::max(best, tree.rate.value);
      trees.push_back(std::move(tree));
    }
  };
  const auto is_enough = [&] {
    return purpose == Purpose::kCheck || (purpose == Purpose::kProof && best >= enough);
  };
  if (purpose != Purpose::kPlan) add(walk(instance));
  try {
    if (!is_enough() && few_pairs) {
      AlgorithmOptions options;
      options.deadline = deadline;
      const HostArcsInUse arcs(instance, options);
      options.arcs = &arcs.get();
      for (const auto run : {grow, prune_refined, prune_simple, chain, binary, binomial}) {
        if (is_enough()) break;
        if (!dense && (run == chain || run == binary || run == binomial)) continue;
        add(run(instance, options));
      }
    }
  } catch (const LimitReached&) {  // the solver starts from those made so far
  }
  // The deepest of all: a plan uses it only where it is optimal and no other tree is.
  if (purpose == Purpose::kPlan && best < enough) {
    Outcome deep = walk(instance);
    if (!deep.trees.empty() && deep.trees.front().rate.value >= enough) add(std::move(deep));
  }
  std::vector<lp::RoutedTree> good;
  for (WeightedTree& tree : trees) {
    if (tree.rate.value < kFarBehind * best || makes_detours(instance.digraph(), tree.tree))
      continue;
    good.push_back(std::move(tree.tree));
  }
  return good;
}

std::vector<lp::RoutedTree> trees_at_plain_bound(const Instance& instance,
                                                 const Deadline& deadline) {
  const lp::PackingProblem problem = packing_problem(instance);
  const double bound = lp::plain_bound(problem).rate;
  std::vector<lp::RoutedTree> trees;
  for (WeightedTree& deep : walk(instance).trees) {
    if (deep.rate.value >= bound * (1 - kRounding)) trees.push_back(std::move(deep.tree));
  }
  if (!trees.empty()) return trees;
  for (lp::PackedTree& packed : fabric_trees(problem, bound, 0, deadline)) {
    trees.push_back(std::move(packed.tree));
  }
  return trees;
}

lp::PackingProblem packing_problem(const Instance& instance) {
  return {instance.digraph(), static_cast<std::uint32_t>(instance.source()),
          instance.occupation().seconds_per_byte};
}

lp::Packing solve_packing(const Instance& instance, const AlgorithmOptions& options,
                          Purpose purpose, const lp::Packing* start) {
  lp::PackingOptions packing{options};
  packing.seeds_may_do = purpose == Purpose::kProof;
  const Deadline deadline = options.deadline.share(kSeedShare);
  if (purpose == Purpose::kProof) packing.seeds = trees_at_plain_bound(instance, deadline);
  if (packing.seeds.empty()) {
    std::optional<lp::Packing> racks;
    if (start == nullptr) racks = rack_packing(instance, options, Purpose::kProof);
    if (racks && racks->end == lp::PackingEnd::kGapReached) return *std::move(racks);
    if (racks) start = &*racks;
    packing.seeds = heuristic_trees(instance, deadline, purpose);
    if (start != nullptr) return pack_from(*start, packing_problem(instance), packing);
  }
  return lp::pack_arborescences(packing_problem(instance), packing);
}

lp::Packing pack_from(const lp::Packing& start, const lp::PackingProblem& problem,
                      lp::PackingOptions packing) {
  packing.seeds.insert(packing.seeds.end(), start.pool.begin(), start.pool.end());
  packing.prices = start.prices;
  lp::Packing result = lp::pack_arborescences(problem, packing);
  if (start.rate > result.rate) {
    result.rate = start.rate;
    result.trees = start.trees;
  }
  if (start.bound < result.bound) {
    result.bound = start.bound;
    result.prices = start.prices;
  }
  return result;
}

Outcome outcome_of(const lp::Packing& packing) {
  Outcome outcome;
  for (const lp::PackedTree& packed : packing.trees) {
    outcome.trees.push_back({packed.tree, {packed.rate}});
  }
  if (packing.bound < lp::Packing::kUnbounded) outcome.bound = BytesPerSecond{packing.bound};
  outcome.prices = priced_rows(packing.prices);
  outcome.iterations = packing.arborescences_priced;
  outcome.ends.packing = packing.end == lp::PackingEnd::kGapReached ? Termination::kDone
                         : packing.end == lp::PackingEnd::kLimit    ? Termination::kTimeLimit
                                                                    : Termination::kStalled;
  return outcome;
}

Outcome outcome_of(const lp::PackingProblem& problem, const lp::Packing& packing,
                   lp::RoutedTree tree) {
  Outcome outcome = outcome_of(packing);
  const double busiest = std::ranges::max(lp::tree_load(problem.occupation, tree));
  outcome.trees = {{std::move(tree), {1 / busiest}}};
  return outcome;
}

Outcome best_tree_of(const lp::PackingProblem& problem, const lp::Packing& packing) {
  lp::FewTreesOptions none;  // no search: the deadline has passed
  none.max_trees = 1;
  none.deadline = Deadline(Seconds{0});
  lp::TreesFound found = lp::pack_few_trees(problem, packing, none);
  Outcome outcome = outcome_of(problem, packing, std::move(found.trees.front().tree));
  outcome.ends.search = Termination::kTimeLimit;
  return outcome;
}

Outcome prove_optimum(const Instance& instance, const AlgorithmOptions& options) {
  return outcome_of(solve_packing(instance, options, Purpose::kProof));
}

}  // namespace espalier::planner
