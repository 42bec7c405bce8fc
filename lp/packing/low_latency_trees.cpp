#include "lp/packing/low_latency_trees.hpp"

#include <algorithm>
#include <chrono>
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

std::vector<PackedTree> lower_latency(const PackingProblem& problem, const Packing& packing,
                                      std::vector<PackedTree> trees,
                                      const LowLatencyOptions& options) {
  using std::chrono::steady_clock;
  if (problem.graph.latency_s.empty() || trees.empty() || is_large(problem.graph)) return trees;
  const steady_clock::time_point start = steady_clock::now();
  Merits best(problem, trees);
  ShallowOptions limited;
  limited.max_rounds = 40;
  limited.enough_Bps = std::min(best.rate, packing.bound * (1 - options.gap));
  double too_low_s = 0;
  int failures = 0;
  for (int limit = 0; limit < options.max_limits && failures < options.max_failures; ++limit) {
    if (options.time_limit) {
      const std::chrono::duration<double> spent = steady_clock::now() - start;
      limited.time_limit = Seconds{options.time_limit->value - spent.count()};
      if (limited.time_limit->value <= 0) break;
    }
    limited.max_latency = Seconds{(too_low_s + best.farthest.value) / 2};
    limited.max_trees = trees.size();
    std::vector<PackedTree> candidate =
        flatten_trees(problem, packing, pack_shallow_trees(problem, packing, limited));
    const Merits merits(problem, candidate);
    if (merits.better_than(best, limited.enough_Bps)) {
      best = merits;
      trees = std::move(candidate);
      failures = 0;
    } else {
      ++failures;
      too_low_s = limited.max_latency->value;
    }
  }
  return trees;
}

}  // namespace espalier::lp
