// SIMPLE-PLATFORM-PRUNING and REFINED-PLATFORM-PRUNING (HBT), under any occupation matrix.
//
// Both drop arcs while every host stays reachable from the source. T_{u,v} of one-port is
// generalised to max_r A[r, e].
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/reachability.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

std::vector<double> weights_of(const lp::HostArcs& arcs) {
  std::vector<double> weight(arcs.size());
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) weight[arc] = arcs.weight(arc);
  return weight;
}

std::vector<std::uint32_t> heaviest_first(const std::vector<double>& weight) {
  std::vector<std::uint32_t> order(weight.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return weight[a] > weight[b]; });
  return order;
}

// Weighted out-degree of every node, generalised: the largest load that its out-arcs put on one
// resource in total. Under one-port it is the sum of T, under multi-port max(outdegree * send_u,
// max T).
class OutLoads {
 public:
  OutLoads(const lp::HostArcs& arcs, std::size_t nodes) : arcs_(arcs), uses_(nodes) {
    for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) change(arc, +1);
  }
  void remove(std::uint32_t arc) { change(arc, -1); }
  [[nodiscard]] double of(std::uint32_t node) const {
    double largest = 0;
    for (const Load& load : uses_[node]) {
      if (load.arcs > 0) largest = std::max(largest, load.seconds_per_byte);
    }
    return largest;
  }

 private:
  struct Load {
    std::uint32_t resource;
    double seconds_per_byte;
    int arcs;
  };
  void change(std::uint32_t arc, int sign) {
    std::vector<Load>& loads = uses_[arcs_.tail(arc)];
    for (const lp::HostArcs::Use& use : arcs_.uses(arc)) {
      const auto at = std::lower_bound(
          loads.begin(), loads.end(), use.resource,
          [](const Load& load, std::uint32_t resource) { return load.resource < resource; });
      if (at == loads.end() || at->resource != use.resource) {
        loads.insert(at, {use.resource, use.seconds_per_byte, 1});
      } else {
        at->seconds_per_byte += sign * use.seconds_per_byte;
        at->arcs += sign;
      }
    }
  }

  const lp::HostArcs& arcs_;
  std::vector<std::vector<Load>> uses_;
};

// About the order in which prune_refined tries the arcs: by the load that their sender still has,
// as if no arc were needed. heaviest_last: per node.
std::vector<std::uint32_t> by_load_left(
    const std::vector<std::vector<std::uint32_t>>& heaviest_last,
    const std::vector<double>& weight) {
  std::vector<double> load_left(weight.size());
  std::vector<std::uint32_t> order;
  for (const std::vector<std::uint32_t>& arcs : heaviest_last) {
    double load = 0;
    for (const std::uint32_t arc : arcs) load_left[arc] = load += weight[arc];
    order.insert(order.end(), arcs.rbegin(), arcs.rend());
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return load_left[a] > load_left[b]; });
  return order;
}

class RefinedPruning {
 public:
  RefinedPruning(const Instance& instance, const lp::HostArcs& arcs, const Deadline& deadline)
      : loads_(arcs, arcs.node_count()),
        untried_(untried(arcs)),
        reachability_(instance, arcs, by_load_left(untried_, weights_of(arcs)), deadline),
        watch_(deadline) {}

  // false: the deadline passed before all arcs were tried.
  bool run();
  [[nodiscard]] lp::RoutedTree tree() const { return reachability_.tree(); }

 private:
  static std::vector<std::vector<std::uint32_t>> untried(const lp::HostArcs& arcs) {
    std::vector<std::vector<std::uint32_t>> of_node(arcs.node_count());
    const std::vector<std::uint32_t> order = heaviest_first(weights_of(arcs));
    for (auto arc = order.rbegin(); arc != order.rend(); ++arc) {
      of_node[arcs.tail(*arc)].push_back(*arc);
    }
    return of_node;
  }
  bool drop_one_of(std::uint32_t node) {
    std::vector<std::uint32_t>& arcs = untried_[node];
    while (!arcs.empty()) {
      const std::uint32_t arc = arcs.back();
      arcs.pop_back();
      if (!reachability_.drop(arc)) continue;
      loads_.remove(arc);
      return true;
    }
    return false;
  }

  OutLoads loads_;
  std::vector<std::vector<std::uint32_t>> untried_;  // per node, the heaviest last
  Reachability reachability_;
  DeadlineWatch watch_;
};

bool RefinedPruning::run() {
  // A node's key only decreases, so an outdated entry is too high: it is reinserted.
  using Keyed = std::pair<double, std::uint32_t>;
  const auto lighter = [](const Keyed& a, const Keyed& b) {
    return a.first < b.first || (a.first == b.first && a.second > b.second);
  };
  std::vector<Keyed> heap;
  for (std::uint32_t node = 0; node < untried_.size(); ++node) {
    heap.emplace_back(loads_.of(node), node);
  }
  std::make_heap(heap.begin(), heap.end(), lighter);
  std::size_t done = reachability_.work();
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), lighter);
    const std::uint32_t node = heap.back().second;
    heap.pop_back();
    const bool dropped = drop_one_of(node);
    if (watch_.passed(16 + reachability_.work() - done)) return false;
    done = reachability_.work();
    if (!dropped) continue;
    heap.emplace_back(loads_.of(node), node);
    std::push_heap(heap.begin(), heap.end(), lighter);
  }
  return true;
}

// The tree of what remains; where the deadline passed, of more than should.
Outcome pruned(const Instance& instance, lp::RoutedTree tree, bool complete) {
  Outcome outcome = single_tree(instance, std::move(tree));
  if (!complete) outcome.ends.search = Termination::kTimeLimit;
  return outcome;
}

}  // namespace

Outcome prune_simple(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse in_use(instance, options);
  const std::vector<std::uint32_t> order = heaviest_first(weights_of(in_use.get()));
  Reachability reachability(instance, in_use.get(), order, options.deadline);
  const bool complete = reachability.drop_all(order, options.deadline);
  return pruned(instance, reachability.tree(), complete);
}

Outcome prune_refined(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse in_use(instance, options);
  RefinedPruning pruning(instance, in_use.get(), options.deadline);
  const bool complete = pruning.run();
  return pruned(instance, pruning.tree(), complete);
}

}  // namespace espalier::planner::tree_algorithms
