// SIMPLE-PLATFORM-PRUNING and REFINED-PLATFORM-PRUNING (HBT), under any occupation matrix.
//
// Both drop arcs while every host stays reachable from the source. An arc that is needed once stays
// needed, for fewer arcs only make more of them needed; so each arc is tried once. What T_{u,v} is
// under one-port becomes max_r A[r, e].
#include <algorithm>
#include <numeric>
#include <vector>

#include "planner/algorithms/algorithms.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// Keeps a spanning tree of the arcs that are left. Dropping an arc outside it costs nothing;
// dropping one of its arcs looks for other ways into the subtree below, and into nothing else.
class Reachability {
 public:
  Reachability(const Instance& instance, const lp::HostArcs& arcs)
      : arcs_(arcs),
        kept_(arcs.size(), 1),
        parent_arc_(arcs.node_count(), kNone),
        children_(arcs.node_count()),
        mark_(arcs.node_count(), kOutside) {
    const auto source = static_cast<std::uint32_t>(instance.source());
    for (const platforms::NodeId host : instance.platform().hosts()) {
      mark_[index_of(host)] = kCutOff;
      below_.push_back(static_cast<std::uint32_t>(host));
    }
    mark_[source] = kOutside;
    attach_from({source});
    for (const std::uint32_t node : below_) {
      mark_[node] = kOutside;
      if (node != source) children_[arcs.tail(parent_arc_[node])].push_back(parent_arc_[node]);
    }
  }

  // Drops the arc if every host stays reachable.
  bool drop(std::uint32_t arc) {
    const std::uint32_t head = arcs_.head(arc);
    kept_[arc] = 0;
    if (parent_arc_[head] != arc) return true;
    collect_subtree(head);
    const std::vector<std::uint32_t> old_parents = parents_of_subtree();
    for (const std::uint32_t node : below_) parent_arc_[node] = kNone;
    std::vector<std::uint32_t> frontier;
    for (const std::uint32_t node : below_) {
      for (const std::uint32_t in : arcs_.into(node)) {
        if (kept_[in] == 0 || mark_[arcs_.tail(in)] != kOutside) continue;
        parent_arc_[node] = in;
        frontier.push_back(node);
        break;
      }
    }
    for (const std::uint32_t node : frontier) mark_[node] = kAttached;
    attach_from(frontier);
    const bool whole = std::all_of(below_.begin(), below_.end(),
                                   [&](std::uint32_t node) { return mark_[node] == kAttached; });
    if (!whole) {
      kept_[arc] = 1;
      for (std::size_t i = 0; i < below_.size(); ++i) parent_arc_[below_[i]] = old_parents[i];
    }
    relink(old_parents);
    for (const std::uint32_t node : below_) mark_[node] = kOutside;
    return whole;
  }

  // What is left when nothing more can be dropped: a tree, parents before children.
  lp::RoutedTree tree(std::uint32_t source) const {
    lp::RoutedTree result;
    std::vector<std::uint32_t> order{source};
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::vector<std::uint32_t> arcs = children_[order[i]];
      std::sort(arcs.begin(), arcs.end());
      for (const std::uint32_t arc : arcs) {
        arcs_.add_edge(arc, result);
        order.push_back(arcs_.head(arc));
      }
    }
    return result;
  }

 private:
  enum Mark : char { kOutside, kCutOff, kAttached };

  void collect_subtree(std::uint32_t top) {
    below_.assign(1, top);
    mark_[top] = kCutOff;
    for (std::size_t i = 0; i < below_.size(); ++i) {
      for (const std::uint32_t arc : children_[below_[i]]) {
        mark_[arcs_.head(arc)] = kCutOff;
        below_.push_back(arcs_.head(arc));
      }
    }
  }
  [[nodiscard]] std::vector<std::uint32_t> parents_of_subtree() const {
    std::vector<std::uint32_t> parents;
    for (const std::uint32_t node : below_) parents.push_back(parent_arc_[node]);
    return parents;
  }
  void attach_from(std::vector<std::uint32_t> frontier) {
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      for (const std::uint32_t arc : arcs_.out_of(frontier[i])) {
        const std::uint32_t head = arcs_.head(arc);
        if (kept_[arc] == 0 || mark_[head] != kCutOff) continue;
        mark_[head] = kAttached;
        parent_arc_[head] = arc;
        frontier.push_back(head);
      }
    }
  }
  // Brings children_ in line with the new parents of the collected subtree.
  void relink(const std::vector<std::uint32_t>& old_parents) {
    for (std::size_t i = 0; i < below_.size(); ++i) {
      const std::uint32_t now = parent_arc_[below_[i]];
      if (now == old_parents[i]) continue;
      std::vector<std::uint32_t>& siblings = children_[arcs_.tail(old_parents[i])];
      siblings.erase(std::find(siblings.begin(), siblings.end(), old_parents[i]));
      children_[arcs_.tail(now)].push_back(now);
    }
  }

  const lp::HostArcs& arcs_;
  std::vector<char> kept_;
  std::vector<std::uint32_t> parent_arc_;
  std::vector<std::vector<std::uint32_t>> children_;  // arcs of the spanning tree, by tail
  std::vector<char> mark_;
  std::vector<std::uint32_t> below_;
};

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

// Weighted out-degree of every node, generalised: the largest load that its own out-arcs together
// put on one resource. Under one-port the sum of T, under multi-port max(outdegree * send_u, max
// T).
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
  return single_tree(instance, reachability.tree(static_cast<std::uint32_t>(instance.source())));
}

Outcome prune_refined(const Instance& instance, const AlgorithmOptions&) {
  const lp::HostArcs arcs = instance.fastest_host_arcs();
  Reachability reachability(instance, arcs);
  const std::size_t nodes = instance.platform().nodes().size();
  OutLoads loads(arcs, nodes);
  // Per node its arcs, the heaviest last: those not tried yet.
  std::vector<std::vector<std::uint32_t>> untried(nodes);
  const std::vector<std::uint32_t> order = heaviest_first(weights_of(arcs));
  for (auto arc = order.rbegin(); arc != order.rend(); ++arc) {
    untried[arcs.tail(*arc)].push_back(*arc);
  }
  // A node's key only falls, so a stale entry is too high: it is put back where it belongs.
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
  return single_tree(instance, reachability.tree(static_cast<std::uint32_t>(instance.source())));
}

}  // namespace espalier::planner::tree_algorithms
