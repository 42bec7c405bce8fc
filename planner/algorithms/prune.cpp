// SIMPLE-PLATFORM-PRUNING and REFINED-PLATFORM-PRUNING (HBT), under any occupation matrix.
//
// Both drop arcs while every host stays reachable from the source. T_{u,v} of one-port is
// generalised to max_r A[r, e].
#include <algorithm>
#include <numeric>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/reachability.hpp"

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

}  // namespace

Outcome prune_simple(const Instance& instance, const AlgorithmOptions&) {
  const lp::HostArcs arcs = instance.fastest_host_arcs();
  Reachability reachability(instance, arcs);
  for (const std::uint32_t arc : heaviest_first(weights_of(arcs))) reachability.drop(arc);
  return single_tree(instance, reachability.tree());
}

Outcome prune_refined(const Instance& instance, const AlgorithmOptions&) {
  const lp::HostArcs arcs = instance.fastest_host_arcs();
  Reachability reachability(instance, arcs);
  const std::size_t nodes = instance.platform().nodes().size();
  OutLoads loads(arcs, nodes);
  // Per node its arcs that have not been tried, the heaviest last.
  std::vector<std::vector<std::uint32_t>> untried(nodes);
  const std::vector<std::uint32_t> order = heaviest_first(weights_of(arcs));
  for (auto arc = order.rbegin(); arc != order.rend(); ++arc) {
    untried[arcs.tail(*arc)].push_back(*arc);
  }
  // A node's key only decreases, so an outdated entry is too high: it is reinserted.
  using Keyed = std::pair<double, std::uint32_t>;
  const auto lighter = [](const Keyed& a, const Keyed& b) {
    return a.first < b.first || (a.first == b.first && a.second > b.second);
  };
  std::vector<Keyed> heap;
  for (std::uint32_t node = 0; node < nodes; ++node) heap.emplace_back(loads.of(node), node);
  std::make_heap(heap.begin(), heap.end(), lighter);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), lighter);
    const std::uint32_t node = heap.back().second;
    heap.pop_back();
    bool dropped = false;
    while (!dropped && !untried[node].empty()) {
      const std::uint32_t arc = untried[node].back();
      untried[node].pop_back();
      dropped = reachability.drop(arc);
      if (dropped) loads.remove(arc);
    }
    if (!dropped) continue;
    heap.emplace_back(loads.of(node), node);
    std::push_heap(heap.begin(), heap.end(), lighter);
  }
  return single_tree(instance, reachability.tree());
}

}  // namespace espalier::planner::tree_algorithms
