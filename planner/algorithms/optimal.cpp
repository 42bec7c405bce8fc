// The packing LP's solution as a plan (design: lp/arborescence_packing.hpp).
#include <algorithm>
#include <chrono>

#include "lp/arborescence_packing.hpp"
#include "lp/few_trees.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/make_plan.hpp"

namespace espalier::planner {

namespace {

lp::PackingOptions packing_options(const AlgorithmOptions& options) {
  lp::PackingOptions packing;
  packing.gap = options.gap;
  packing.time_limit = options.time_limit;
  if (options.on_progress) {
    packing.on_progress = [&options](const lp::PackingProgress& progress) {
      options.on_progress(
          {progress.elapsed, progress.iterations, {progress.rate}, {progress.bound}});
    };
  }
  return packing;
}

Outcome outcome_of(const lp::Packing& packing) {
  Outcome outcome;
  for (const lp::PackedTree& packed : packing.trees) {
    outcome.trees.push_back({packed.tree, {packed.rate}});
  }
  outcome.bound = BytesPerSecond{packing.bound};
  for (std::uint32_t row = 0; row < packing.prices.size(); ++row) {
    if (packing.prices[row] > 0) outcome.prices.push_back({row, packing.prices[row]});
  }
  std::stable_sort(
      outcome.prices.begin(), outcome.prices.end(),
      [](const PricedResource& a, const PricedResource& b) { return a.price > b.price; });
  outcome.iterations = packing.arborescences_priced;
  switch (packing.end) {
    case lp::PackingEnd::kGapReached:
      outcome.termination = Termination::kDone;
      break;
    case lp::PackingEnd::kLimit:
      outcome.termination = Termination::kTimeLimit;
      break;
    case lp::PackingEnd::kStalled:
      outcome.termination = Termination::kStalled;
      break;
  }
  return outcome;
}

// What is left of the time limit; never below zero.
class Deadline {
 public:
  explicit Deadline(std::optional<Seconds> limit) : limit_(limit) {}
  [[nodiscard]] std::optional<Seconds> left() const {
    if (!limit_) return std::nullopt;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return Seconds{std::max(0.0, limit_->value - spent.count())};
  }

 private:
  std::optional<Seconds> limit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

using tree_algorithms::binary;
using tree_algorithms::binomial;
using tree_algorithms::chain;
using tree_algorithms::grow;
using tree_algorithms::prune_refined;
using tree_algorithms::prune_simple;

lp::PackingProblem packing_problem(const Instance& instance) {
  return {instance.digraph(), static_cast<std::uint32_t>(instance.source()),
          instance.occupation().seconds_per_byte};
}

// Whether an edge passes through other hosts, as blind trees do where there is no link. A plan is
// better off without: those hosts get the data in any case.
bool makes_detours(const lp::Digraph& graph, const lp::RoutedTree& tree) {
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    for (const std::uint32_t arc : tree.path(edge).subspan(1)) {
      if (!graph.relay(graph.tail[arc])) return true;
    }
  }
  return false;
}

// The heuristics' trees, less those that are far behind the best: often one of them reaches the
// optimum, or few together. Blind trees only where most hops are links: one that makes detours is
// slow to make and never good.
std::vector<lp::RoutedTree> heuristic_trees(const Instance& instance) {
  constexpr double kFarBehind = 0.5;
  const double hosts = static_cast<double>(instance.host_count());
  const bool dense = static_cast<double>(instance.platform().arcs().size()) > hosts * hosts / 2;
  std::vector<WeightedTree> trees;
  double best = 0;
  for (const auto run : {grow, prune_refined, prune_simple, chain, binary, binomial}) {
    if (!dense && (run == chain || run == binary || run == binomial)) continue;
    for (WeightedTree& tree : run(instance, {}).trees) {
      best = std::max(best, tree.rate.value);
      trees.push_back(std::move(tree));
    }
  }
  std::vector<lp::RoutedTree> good;
  for (WeightedTree& tree : trees) {
    if (tree.rate.value < kFarBehind * best || makes_detours(instance.digraph(), tree.tree))
      continue;
    good.push_back(std::move(tree.tree));
  }
  return good;
}

}  // namespace

Outcome prove_optimum(const Instance& instance, const AlgorithmOptions& options) {
  return outcome_of(lp::pack_arborescences(packing_problem(instance), packing_options(options)));
}

namespace tree_algorithms {

Outcome optimal(const Instance& instance, const AlgorithmOptions& options) {
  const Deadline deadline(options.time_limit);
  const lp::PackingProblem problem = packing_problem(instance);
  lp::PackingOptions packing_with_seeds = packing_options(options);
  packing_with_seeds.seeds = heuristic_trees(instance);
  packing_with_seeds.time_limit = deadline.left();
  lp::Packing packing = lp::pack_arborescences(problem, packing_with_seeds);

  lp::FewTreesOptions few;
  few.max_trees = options.max_trees;
  few.gap = options.gap;
  few.time_limit = deadline.left();
  packing.trees = lp::flatten_trees(problem, packing, lp::pack_few_trees(problem, packing, few));
  Outcome outcome = outcome_of(packing);
  double rate = 0;
  for (const WeightedTree& tree : outcome.trees) rate += tree.rate.value;
  if (options.max_trees > 0 && rate * (1 + options.gap) < packing.bound) {
    outcome.termination = Termination::kTreeLimit;
  }
  return outcome;
}

}  // namespace tree_algorithms
}  // namespace espalier::planner
