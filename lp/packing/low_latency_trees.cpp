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

// Through relays all pairs of hosts are connected.
bool is_large(const Digraph& graph) {
  constexpr std::size_t kMostWork = 1'000'000;  // arcs between hosts, times hosts: about a second
  const std::size_t hosts = graph.host_count();
  const std::size_t arcs = hosts < graph.node_count ? hosts * hosts : graph.arc_count();
  return arcs * hosts > kMostWork;
}

}  // namespace

bool tries_lower_latency(const Digraph& graph) {
  return !graph.latency_s.empty() && !is_large(graph);
}

TreesFound lower_latency(const PackingProblem& problem, const Packing& packing,
                         std::vector<PackedTree> trees, const Limits& limits) {
  if (!tries_lower_latency(problem.graph) || trees.empty()) return {trees};
  Merits best(problem, trees);
  ShallowOptions limited;
  limited.max_rounds = 40;
  limited.enough_Bps = std::min(best.rate, packing.bound * (1 - limits.gap));
  limited.deadline = limits.deadline;
  // Trees up and down again are twice as far, so that nearer ones are worth more of them.
  std::size_t most_trees = trees.size();
  if (problem.root_arcs > 0) most_trees *= 2;
  constexpr int kMostLimits = 6;    // of latency, tried one after the other
  constexpr int kMostFailures = 2;  // one after the other
  double too_low_s = 0;
  int failures = 0;
  for (int limit = 0; limit < kMostLimits && failures < kMostFailures; ++limit) {
    limited.max_latency = Seconds{(too_low_s + best.farthest.value) / 2};
    limited.max_trees = most_trees;
    const TreesFound shallow = pack_shallow_trees(problem, packing, limited);
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
