#include "lp/packing/low_latency_trees.hpp"

#include <algorithm>
#include <utility>

#include "lp/graph/tree_routes.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/shallow_trees.hpp"

namespace espalier::lp {

namespace {

// The criteria by which sets of trees are compared.
struct Merits {
  Merits(const PackingProblem& problem, const std::vector<PackedTree>& trees)
      : count(trees.size()) {
    for (const PackedTree& packed : trees) {
      rate += packed.rate;
      const Digraph& graph = problem.graph;
      travel_s += packed.rate *
                  segment_travel_time(graph, problem.occupation, problem.root, packed.tree).value;
      farthest = std::max(farthest, latency_of(graph, problem.root, packed.tree));
      out_degree = std::max(out_degree, out_degree_of(graph, packed.tree));
    }
    travel_s /= rate;
  }
  [[nodiscard]] bool better_than(const Merits& other, std::size_t most_trees,
                                 double enough_Bps) const {
    constexpr double kShorter = 1 - 1e-9;
    return rate >= enough_Bps && count <= most_trees && out_degree <= other.out_degree &&
           travel_s < other.travel_s * kShorter;
  }
  std::size_t count;
  double rate = 0;
  double travel_s = 0;  // mean
  Seconds farthest{};
  std::size_t out_degree = 0;
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

TreesFound lower_latency(const PackingProblem& problem, const Packing& packing,
                         std::vector<PackedTree> trees, const Limits& limits) {
  if (!tries_lower_latency(problem.graph) || trees.empty()) return {trees};
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
