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
  [[nodiscard]] bool better_than(const Merits& other, double enough_Bps) const {
    constexpr double kShorter = 1 - 1e-9;
    return rate >= enough_Bps && count <= other.count && out_degree <= other.out_degree &&
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

TreesFound lower_latency(const PackingProblem& problem, const Packing& packing,
                         std::vector<PackedTree> trees, const Limits& limits) {
  if (problem.graph.latency_s.empty() || trees.empty() || is_large(problem.graph)) return {trees};
  Merits best(problem, trees);
  ShallowOptions limited;
  limited.max_rounds = 40;
  limited.enough_Bps = std::min(best.rate, packing.bound * (1 - limits.gap));
  limited.deadline = limits.deadline;
  constexpr int kMostLimits = 6;    // of latency, tried one after the other
  constexpr int kMostFailures = 2;  // one after the other
  double too_low_s = 0;
  int failures = 0;
  for (int limit = 0; limit < kMostLimits && failures < kMostFailures; ++limit) {
    limited.max_latency = Seconds{(too_low_s + best.farthest.value) / 2};
    limited.max_trees = trees.size();
    const TreesFound shallow = pack_shallow_trees(problem, packing, limited);
    TreesFound candidate = flatten_trees(problem, packing, shallow.trees, limits.deadline);
    if (!shallow.complete || !candidate.complete) return {std::move(trees), false};
    const Merits merits(problem, candidate.trees);
    if (merits.better_than(best, limited.enough_Bps)) {
      best = merits;
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
