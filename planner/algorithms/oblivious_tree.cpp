#include "planner/algorithms/oblivious_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/problem/fastest_paths.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

// Lays shapes, one after the other, over an instance's hosts.
class Layer {
 public:
  // hosts: in the order of their ranks.
  Layer(const Instance& instance, std::span<const platforms::NodeId> hosts,
        const Deadline& deadline)
      : hosts_(hosts),
        source_(static_cast<std::size_t>(
            std::find(hosts_.begin(), hosts_.end(), instance.source()) - hosts_.begin())),
        paths_(instance),
        watch_(deadline) {}

  lp::RoutedTree lay(const ObliviousTree& shape) {
    lp::RoutedTree tree;
    std::vector<std::uint32_t> parent(hosts_.size(), 0);
    for (const RankEdge edge : shape.edges) {
      std::uint32_t sender = edge.parent;
      watch_.require(paths_.work());
      std::vector<std::uint32_t> path = paths_.path(host_of(sender), host_of(edge.child));
      while (path.empty()) {  // terminates: the source reaches every host
        sender = parent[sender];
        path = paths_.path(host_of(sender), host_of(edge.child));
        took_over_ = true;
      }
      parent[edge.child] = sender;
      tree.add_edge(path);
    }
    return tree;
  }

  // Whether any edge so far has another parent than in the shape.
  [[nodiscard]] bool took_over() const { return took_over_; }

 private:
  [[nodiscard]] platforms::NodeId host_of(std::uint32_t rank) const {
    return hosts_[(rank + source_) % hosts_.size()];
  }

  std::span<const platforms::NodeId> hosts_;
  std::size_t source_;
  FastestPaths paths_;
  DeadlineWatch watch_;
  bool took_over_ = false;
};

// The equal rate of all trees at which the busiest resource is full. Infinite without edges.
BytesPerSecond common_rate(const Instance& instance, std::span<const WeightedTree> trees) {
  std::vector<double> load(instance.resource_count(), 0.0);
  for (const WeightedTree& tree : trees) {
    const std::vector<double> more = instance.load_seconds_per_byte(tree.tree);
    std::transform(load.begin(), load.end(), more.begin(), load.begin(), std::plus<>());
  }
  return {1 / std::accumulate(load.begin(), load.end(), 0.0,
                              [](double a, double b) { return std::max(a, b); })};
}

void set_common_rate(const Instance& instance, std::vector<WeightedTree>& trees) {
  const BytesPerSecond rate = common_rate(instance, trees);
  for (WeightedTree& tree : trees) tree.rate = rate;
}

}  // namespace

Outcome equal_trees(const Instance& instance, std::vector<lp::RoutedTree> trees) {
  Outcome outcome;
  for (lp::RoutedTree& tree : trees) outcome.trees.push_back({std::move(tree), {}});
  set_common_rate(instance, outcome.trees);
  return outcome;
}

Outcome lay_over(const Instance& instance, const AlgorithmOptions& options,
                 std::span<const ObliviousTree> trees, std::span<const platforms::NodeId> order) {
  Layer layer(instance, order.empty() ? instance.platform().hosts() : order, options.deadline);
  Outcome outcome;
  for (const ObliviousTree& shape : trees) {
    WeightedTree tree{layer.lay(shape), {}, shape.colors, {}};
    for (std::size_t i = shape.edges.size() - shape.exchanges; i < shape.edges.size(); ++i) {
      tree.exchange.push_back(static_cast<std::uint32_t>(i));
    }
    outcome.trees.push_back(std::move(tree));
  }
  set_common_rate(instance, outcome.trees);
  if (layer.took_over()) {
    for (WeightedTree& tree : outcome.trees) tree.colors.clear();
  }
  return outcome;
}

}  // namespace espalier::planner::tree_algorithms
