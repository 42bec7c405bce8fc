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

// Few trees first: they have long segments. More divide thin links more evenly.
constexpr std::array<std::size_t, 2> kCounts{2, 8};
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

}  // namespace

std::vector<PackedTree> direct_trees(const PackingProblem& problem, double rate,
                                     std::size_t most_trees, const Deadline& deadline) {
  const std::optional<FabricTree> fabric = fabric_tree(problem, rate);
  if (!fabric || fabric->hosts.empty()) return {};
  const WalkOrder walk(*fabric);
  const BisectionOrder bisection(problem, *fabric);
  for (const std::size_t count : kCounts) {
    if (most_trees > 0 && count > most_trees) break;
    const double each = rate / static_cast<double>(count);
    std::vector<Routes> tries;
    for (const HostOrder* order :
         {static_cast<const HostOrder*>(&walk), static_cast<const HostOrder*>(&bisection)}) {
      if (deadline.passed()) return {};
      auto trees = lay_out(problem, *fabric, *order, rate, count);
      if (!trees) continue;
      tries.emplace_back(problem, *fabric, *std::move(trees), each);
      if (tries.back().excess() == 0) break;
    }
    if (tries.size() == 2 && tries[1].excess() * kPreference < tries[0].excess()) {
      std::swap(tries[0], tries[1]);
    }
    const double most = kMostExcess * static_cast<double>(count * fabric->hosts.size());
    for (Routes& routes : tries) {
      if (routes.excess() > most) continue;
      routes.make_way(deadline);
      if (routes.excess() == 0) return packed(routes, each);
    }
  }
  return {};
}

}  // namespace espalier::lp
