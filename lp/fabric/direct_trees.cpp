#include "lp/fabric/direct_trees.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lp/fabric/fabric_tree.hpp"
#include "lp/fabric/host_order.hpp"
#include "lp/fabric/layout.hpp"
#include "lp/fabric/routing.hpp"

namespace espalier::lp {

namespace {

// Few trees first: they have long segments. More divide thin links more evenly. Where links carry
// less than `margin` times the rate, they divide the fabric in groups.
struct Shape {
  std::size_t trees;
  double margin;
};
constexpr std::array<Shape, 6> kShapes{{{2, 1}, {2, 2}, {8, 1}, {8, 2}, {16, 1}, {32, 1}}};
// So much of all edges may be too much for the links: beyond, making way has never helped.
constexpr double kMostExcess = 0.05;
// Between equals the order of the walk gives shallower trees.
constexpr double kPreference = 2;

// Scaled down by what rounding has made too much.
std::vector<PackedTree> packed(const Routes& routes, double rate) {
  std::vector<PackedTree> trees;
  for (RoutedTree& tree : routes.trees()) {
    trees.push_back({std::move(tree), rate / std::max(1.0, routes.load())});
  }
  return trees;
}

// Empty: not this way.
std::vector<PackedTree> trees_by(const PackingProblem& problem, const FabricTree& fabric,
                                 double rate, std::size_t count, const Deadline& deadline) {
  const WalkOrder walk(fabric);
  const double each = rate / static_cast<double>(count);
  std::vector<Routes> tries;
  const auto try_order = [&](const HostOrder& order) {
    auto trees = lay_out(problem, fabric, order, rate, count);
    if (trees) tries.emplace_back(problem, fabric, *std::move(trees), each);
  };
  try_order(walk);
  if (tries.empty() || tries.back().excess() > 0) {
    if (deadline.passed()) return {};
    try_order(BisectionOrder(problem, fabric));
  }
  if (tries.size() == 2 && tries[1].excess() * kPreference < tries[0].excess()) {
    std::swap(tries[0], tries[1]);
  }
  const double most = kMostExcess * static_cast<double>(count * fabric.hosts.size());
  for (Routes& routes : tries) {
    if (routes.excess() > most) continue;
    routes.make_way(deadline);
    if (routes.excess() == 0) return packed(routes, each);
  }
  return {};
}

}  // namespace

std::vector<PackedTree> direct_trees(const PackingProblem& problem, double rate,
                                     std::size_t most_trees, const Deadline& deadline) {
  for (const auto& [count, margin] : kShapes) {
    if (most_trees > 0 && count > most_trees) continue;
    const std::optional<FabricTree> fabric = fabric_tree(problem, margin * rate);
    if (!fabric || fabric->hosts.empty() || deadline.passed()) return {};
    if (margin > 1 && fabric->group_count == 1) continue;
    std::vector<PackedTree> trees = trees_by(problem, *fabric, rate, count, deadline);
    if (!trees.empty()) return trees;
  }
  return {};
}

}  // namespace espalier::lp
