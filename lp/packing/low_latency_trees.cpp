#include "lp/packing/low_latency_trees.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lp/graph/crowding.hpp"
#include "lp/graph/host_arcs.hpp"
#include "lp/graph/tree_routes.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/shallow_trees.hpp"
#include "lp/packing/tree_set.hpp"

namespace espalier::lp {

namespace {

// Of a host, where trees may have any root: then the nearest ones are stars around each host.
constexpr std::size_t kFewChildren = 8;

// The criteria by which sets of trees are compared.
struct Merits {
  Merits(const PackingProblem& problem, const std::vector<PackedTree>& trees)
      : count(trees.size()), few_children(problem.root_arcs > 0 ? kFewChildren : 0) {
    for (const PackedTree& packed : trees) {
      rate += packed.rate;
      const Digraph& graph = problem.graph;
      travel_s += packed.rate *
                  segment_travel_time(graph, problem.occupation, problem.root, packed.tree).value;
      farthest = std::max(farthest, latency_of(graph, problem.root, packed.tree));
      out_degree = std::max(out_degree, out_degree_of(graph, packed.tree));
    }
    travel_s /= rate;
    crowding = crowding_of(problem.graph.latency_s, problem.occupation, trees);
  }
  [[nodiscard]] bool better_than(const Merits& other, std::size_t most_trees,
                                 double enough_Bps) const {
    constexpr double kShorter = 1 - 1e-9;
    return rate >= enough_Bps && count <= most_trees &&
           out_degree <= std::max(other.out_degree, few_children) &&
           slowed_travel_s() < other.slowed_travel_s() * kShorter;
  }
  [[nodiscard]] double slowed_travel_s() const { return travel_s * std::max(1.0, crowding); }
  std::size_t count;
  std::size_t few_children;  // never too many
  double rate = 0;
  double travel_s = 0;  // mean
  Seconds farthest{};
  std::size_t out_degree = 0;
  double crowding = 0;
};

// Above about a second of work. Through relays all pairs of hosts are connected, but what differs
// among their trees is found soon.
bool is_large(const Digraph& graph) {
  const std::size_t hosts = graph.host_count();
  if (hosts < graph.node_count) return hosts * hosts * hosts > 10'000'000'000;
  return graph.arc_count() * hosts > 1'000'000;
}

}  // namespace

bool tries_lower_latency(const Digraph& graph) {
  return !graph.latency_s.empty() && !is_large(graph);
}

double enough_instead(const Packing& packing, double rate, const Limits& limits) {
  return std::min(rate, packing.bound * (1 - limits.gap));
}

std::vector<PackedTree> less_crowded(const PackingProblem& problem, const Packing& packing,
                                     std::vector<PackedTree> trees, const Limits& limits) {
  constexpr std::size_t kMostPairs = 200'000;       // of hosts
  constexpr std::uint64_t kMostMoves = 10'000'000;  // evaluated; about a second
  const double before = crowding_of(problem.graph.latency_s, problem.occupation, trees);
  if (before < kTolerableCrowding || problem.root_arcs > 0) return trees;
  const std::size_t hosts = problem.graph.host_count();
  if (hosts * hosts > kMostPairs) return trees;
  std::optional<HostArcs> arcs = arcs_to_search(problem, packing.prices, limits.deadline);
  if (!arcs) return trees;
  arcs->reserve_for_long_ones(kMuchNearer);
  TreeSet set(*arcs, problem.root);
  for (const PackedTree& packed : trees) {
    if (!set.add(packed.tree, packed.rate)) return trees;
  }
  for (const double beta : TreeSet::kBetas) set.sweep_until(beta, kMostMoves, limits.deadline);
  if (!set.flatten(set.busiest_load(), DepthIn::kTime, limits.deadline)) return trees;
  std::vector<PackedTree> packed =
      with_best_rates(problem, set.trees(), packing.rate, limits.deadline);
  const bool is_better = total_rate(packed) >= enough_instead(packing, total_rate(trees), limits) &&
                         crowding_of(problem.graph.latency_s, problem.occupation, packed) < before;
  return is_better ? std::move(packed) : std::move(trees);
}

TreesFound lower_latency(const PackingProblem& problem, const Packing& packing,
                         std::vector<PackedTree> trees, const Limits& limits) {
  if (!tries_lower_latency(problem.graph) || trees.empty()) return {trees};
  trees = less_crowded(problem, packing, std::move(trees), limits);
  Merits best(problem, trees);
  ShallowOptions limited;
  limited.max_rounds = 40;
  limited.enough_Bps = enough_instead(packing, best.rate, limits);
  limited.deadline = limits.deadline;
  // Trees up and down again are twice as far, so that nearer ones are worth more of them: one of
  // each root.
  std::size_t most_trees = trees.size();
  if (problem.root_arcs > 0) most_trees = std::max<std::size_t>(2 * most_trees, problem.root_arcs);
  constexpr int kMostPackings = 6;    // within limits of latency, one after the other
  constexpr int kMostFailures = 2;    // of them, one after the other
  constexpr int kMostImpossible = 6;  // limits that no tree is within
  double too_low_s = 0;
  int failures = 0;
  int impossible = 0;
  for (int packings = 0;
       packings < kMostPackings && failures < kMostFailures && impossible < kMostImpossible;) {
    limited.max_latency = Seconds{(too_low_s + best.farthest.value) / 2};
    limited.max_trees = most_trees;
    const TreesFound shallow = pack_shallow_trees(problem, packing, limited);
    if (shallow.complete && shallow.trees.empty()) {
      ++impossible;
      too_low_s = limited.max_latency->value;
      continue;
    }
    ++packings;
    // Moving hosts among the trees could give their parts other roots.
    TreesFound candidate = problem.root_arcs > 0
                               ? shallow
                               : flatten_trees(problem, packing, shallow.trees, limits.deadline);
    if (!shallow.complete || !candidate.complete) return {std::move(trees), false};
    const Merits merits(problem, candidate.trees);
    if (merits.better_than(best, most_trees, limited.enough_Bps)) {
      best = merits;
      if (problem.root_arcs == 0) most_trees = merits.count;
      trees = std::move(candidate.trees);
      failures = 0;
    } else {
      ++failures;
      too_low_s = limited.max_latency->value;
    }
  }
  return {std::move(trees)};
}

}  // namespace espalier::lp
