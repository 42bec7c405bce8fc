// SIMPLE-PLATFORM-PRUNING and REFINED-PLATFORM-PRUNING (HBT), under any occupation matrix.
//
// Both drop arcs while every host stays reachable from the source. T_{u,v} of one-port is
// generalised to max_r A[r, e].
#include <algorithm>
#include <numeric>
#include <queue>
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
  explicit OutLoads(const lp::HostArcs& arcs) : arcs_(arcs), of_node_(arcs.node_count()) {
    for (std::uint32_t node = 0; node < arcs.node_count(); ++node) count(node);
  }
  void remove(std::uint32_t arc) {
    std::vector<Load>& loads = of_node_[arcs_.tail(arc)].loads;
    for (const lp::HostArcs::Use& use : arcs_.uses(arc)) {
      Load& load = *std::ranges::lower_bound(loads, use.resource, {}, &Load::resource);
      load.seconds_per_byte -= use.seconds_per_byte;
      --load.arcs;
    }
  }
  [[nodiscard]] double of(std::uint32_t node) {
    auto& [loads, heaviest] = of_node_[node];
    ++work_;
    // Loads only decrease, so an outdated entry is too high: it is reinserted.
    while (!heaviest.empty()) {
      const Load& load = loads[heaviest.front().second];
      if (load.arcs > 0 && load.seconds_per_byte == heaviest.front().first) {
        return std::max(0.0, load.seconds_per_byte);
      }
      work_ += 16;
      std::ranges::pop_heap(heaviest);
      if (load.arcs > 0) {
        heaviest.back().first = load.seconds_per_byte;
        std::ranges::push_heap(heaviest);
      } else {
        heaviest.pop_back();
      }
    }
    return 0;
  }
  // Steps so far, such as loads looked at.
  [[nodiscard]] std::size_t work() const { return work_; }

 private:
  struct Load {
    std::uint32_t resource;
    double seconds_per_byte;
    int arcs;
  };
  struct Loads {
    std::vector<Load> loads;                                 // ascending by resource
    std::vector<std::pair<double, std::uint32_t>> heaviest;  // heap: seconds per byte, place
  };
  void count(std::uint32_t node) {
    auto& [loads, heaviest] = of_node_[node];
    for (const std::uint32_t arc : arcs_.out_of(node)) {
      work_ += 16;
      for (const lp::HostArcs::Use& use : arcs_.uses(arc)) {
        loads.push_back({use.resource, use.seconds_per_byte, 1});
      }
    }
    std::ranges::stable_sort(loads, {}, &Load::resource);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if (kept > 0 && loads[kept - 1].resource == loads[i].resource) {
        loads[kept - 1].seconds_per_byte += loads[i].seconds_per_byte;
        ++loads[kept - 1].arcs;
      } else {
        loads[kept++] = loads[i];
      }
    }
    loads.resize(kept);
    for (std::uint32_t i = 0; i < kept; ++i) heaviest.emplace_back(loads[i].seconds_per_byte, i);
    std::ranges::make_heap(heaviest);
  }

  const lp::HostArcs& arcs_;
  std::vector<Loads> of_node_;
  std::size_t work_ = 0;
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
      : loads_(arcs),
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
  std::priority_queue<Keyed, std::vector<Keyed>, decltype(lighter)> next(lighter);
  for (std::uint32_t node = 0; node < untried_.size(); ++node) next.emplace(loads_.of(node), node);
  std::size_t done = 0;
  while (!next.empty()) {
    const std::uint32_t node = next.top().second;
    next.pop();
    const bool dropped = drop_one_of(node);
    const std::size_t work = loads_.work() + reachability_.work();
    if (watch_.passed(16 + work - done)) return false;
    done = work;
    if (dropped) next.emplace(loads_.of(node), node);
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
