// The LP-based heuristics (HBT, "LP-based heuristics"). n_uv, the number of messages that cross arc
// (u, v) per time unit in the optimal packing, shows which arcs make a good tree. One heuristic
// prunes the arcs of the communication graph that carry the fewest messages, the other grows a tree
// along those that carry the most. Of arcs with the same n_uv the lighter one is preferred.
#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/reachability.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

// n_uv per arc between hosts, bytes per second. All paths through relays between two hosts are
// added to the one arc that represents them.
std::vector<double> messages_per_arc(const lp::HostArcs& arcs, const lp::Packing& packing) {
  std::vector<double> messages(arcs.size(), 0.0);
  for (const lp::PackedTree& packed : packing.trees) {
    for (std::size_t edge = 0; edge < packed.tree.edge_count(); ++edge) {
      const auto [parent, child] = arcs.ends_of(packed.tree.path(edge));
      messages[arcs.find(parent, child)] += packed.rate;
    }
  }
  return messages;
}

// Arc numbers, the most preferred first.
class Preference {
 public:
  Preference(const lp::HostArcs& arcs, const lp::Packing& packing)
      : arcs_(arcs), messages_(messages_per_arc(arcs, packing)) {}

  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return std::tuple(-messages_[a], arcs_.weight(a), a) <
           std::tuple(-messages_[b], arcs_.weight(b), b);
  }

 private:
  const lp::HostArcs& arcs_;
  std::vector<double> messages_;
};

// From the root along the most preferred arcs. Throws LimitReached.
lp::RoutedTree grown(const lp::HostArcs& arcs, const Preference& before, std::uint32_t root,
                     const Deadline& deadline) {
  const auto less_wanted = [&](std::uint32_t a, std::uint32_t b) { return before(b, a); };
  DeadlineWatch watch(deadline);
  std::vector<char> in_tree(arcs.node_count(), 0);
  std::vector<std::uint32_t> heap;
  const auto take_host = [&](std::uint32_t node) {
    in_tree[node] = 1;
    watch.require(16 * arcs.out_of(node).size());
    for (const std::uint32_t arc : arcs.out_of(node)) {
      if (in_tree[arcs.head(arc)] != 0) continue;
      heap.push_back(arc);
      std::push_heap(heap.begin(), heap.end(), less_wanted);
    }
  };
  lp::RoutedTree tree;
  take_host(root);
  while (!heap.empty()) {
    watch.require(32);
    std::pop_heap(heap.begin(), heap.end(), less_wanted);
    const std::uint32_t arc = heap.back();
    heap.pop_back();
    if (in_tree[arcs.head(arc)] != 0) continue;
    arcs.add_edge(arc, tree);
    take_host(arcs.head(arc));
  }
  return tree;
}

// make(arcs, preference): the tree; none, or LimitReached, where the deadline passed first. Then
// the result is the packing's own best tree.
template <class Make>
Outcome guided(const Instance& instance, const AlgorithmOptions& options, Make make) {
  constexpr double kPackingShare = 0.75;  // of the time; the rest is for the tree
  const PackingInUse packing(instance, options, kPackingShare);
  const lp::PackingProblem problem = packing_problem(instance);
  try {
    const HostArcsInUse arcs(instance, options);
    std::optional<lp::RoutedTree> tree = make(arcs.get(), Preference(arcs.get(), packing.get()));
    if (tree) return outcome_of(problem, packing.get(), *std::move(tree));
  } catch (const LimitReached&) {
  }
  return best_tree_of(problem, packing.get());
}

}  // namespace

Outcome lp_prune(const Instance& instance, const AlgorithmOptions& options) {
  return guided(
      instance, options,
      [&](const lp::HostArcs& arcs, const Preference& before) -> std::optional<lp::RoutedTree> {
        std::vector<std::uint32_t> least_wanted_first(arcs.size());
        std::iota(least_wanted_first.begin(), least_wanted_first.end(), 0U);
        std::sort(least_wanted_first.begin(), least_wanted_first.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return before(b, a); });
        Reachability reachability(instance, arcs, least_wanted_first, options.deadline);
        if (!reachability.drop_all(least_wanted_first, options.deadline)) return {};
        return reachability.tree();
      });
}

Outcome lp_grow(const Instance& instance, const AlgorithmOptions& options) {
  const auto root = static_cast<std::uint32_t>(instance.source());
  return guided(instance, options, [&](const lp::HostArcs& arcs, const Preference& before) {
    return std::optional(grown(arcs, before, root, options.deadline));
  });
}

}  // namespace espalier::planner::tree_algorithms
