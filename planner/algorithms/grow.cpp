// GROWING-MINIMUM-WEIGHTED-OUT-DEGREE-TREE (HBT), under any occupation matrix: as in Prim's
// algorithm the tree grows by one host at a time, along the arc e of least max_r (load_r + A[r,
// e]). The slides' update counts earlier children twice from the third on.
#include <algorithm>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

struct Candidate {
  double cost;
  std::uint32_t arc;
};
struct Dearer {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.cost > b.cost || (a.cost == b.cost && a.arc > b.arc);
  }
};

class Grower {
 public:
  // Keeps references to both.
  Grower(const Instance& instance, const lp::HostArcs& arcs, const Deadline& deadline)
      : instance_(&instance),
        arcs_(arcs),
        watch_(deadline),
        load_(instance.resource_count(), 0.0),
        in_tree_(instance.platform().nodes().size(), 0) {}

  lp::RoutedTree grow() {
    lp::RoutedTree tree;
    take_host(static_cast<std::uint32_t>(instance_->source()));
    while (!heap_.empty()) {
      watch_.require(32);
      std::pop_heap(heap_.begin(), heap_.end(), Dearer{});
      const Candidate cheapest = heap_.back();
      heap_.pop_back();
      if (in_tree_[arcs_.head(cheapest.arc)] != 0) continue;
      // Loads only increase, so an outdated cost is too low: reinsert it.
      const double cost = cost_of(cheapest.arc);
      if (cost > cheapest.cost) {
        push({cost, cheapest.arc});
        continue;
      }
      for (const lp::HostArcs::Use& use : arcs_.uses(cheapest.arc)) {
        load_[use.resource] += use.seconds_per_byte;
      }
      arcs_.add_edge(cheapest.arc, tree);
      take_host(arcs_.head(cheapest.arc));
    }
    return tree;
  }

 private:
  [[nodiscard]] double cost_of(std::uint32_t arc) const {
    double cost = 0;
    for (const lp::HostArcs::Use& use : arcs_.uses(arc)) {
      cost = std::max(cost, load_[use.resource] + use.seconds_per_byte);
    }
    return cost;
  }
  void push(const Candidate& candidate) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), Dearer{});
  }
  void take_host(std::uint32_t node) {
    in_tree_[node] = 1;
    watch_.require(16 * arcs_.out_of(node).size());
    for (const std::uint32_t arc : arcs_.out_of(node)) {
      if (in_tree_[arcs_.head(arc)] == 0) push({cost_of(arc), arc});
    }
  }

  const Instance* instance_;
  const lp::HostArcs& arcs_;
  DeadlineWatch watch_;
  std::vector<double> load_;
  std::vector<char> in_tree_;
  std::vector<Candidate> heap_;
};

}  // namespace

Outcome grow(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse arcs(instance, options);
  return single_tree(instance, Grower(instance, arcs.get(), options.deadline).grow());
}

}  // namespace espalier::planner::tree_algorithms
