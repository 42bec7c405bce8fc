#include "lp/fabric/direct_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/fabric/fabric_tree.hpp"
#include "lp/fabric/host_order.hpp"
#include "lp/fabric/layout.hpp"
#include "lp/fabric/neighbor_trees.hpp"
#include "lp/fabric/planes.hpp"
#include "lp/fabric/routing.hpp"

namespace espalier::lp {

namespace {

// Links that carry less than so many times the rate divide the fabric in groups.
constexpr std::array<double, 4> kMargins{1, 2, 5, 10};
// Few trees first: they have long segments. More divide thin links more evenly.
struct Shape {
  std::size_t trees;
  std::size_t margin;  // index in kMargins
};
constexpr std::array<Shape, 10> kShapes{
    {{2, 0}, {2, 1}, {2, 2}, {2, 3}, {8, 0}, {8, 1}, {16, 0}, {16, 1}, {32, 0}, {32, 1}}};
constexpr std::array<Shape, 2> kShapesOfOne{{{1, 0}, {1, 1}}};
// So much of all edges may be too much for the links: beyond, making way has never helped.
constexpr double kMostExcess = 0.025;
// Between equals the order of the walk gives shallower trees.
constexpr double kPreference = 2;

// At the rate at which the fullest resource is full.
std::vector<PackedTree> packed(const Routes& routes, double rate) {
  std::vector<PackedTree> trees;
  for (RoutedTree& tree : routes.trees()) trees.push_back({std::move(tree), rate / routes.load()});
  return trees;
}

// A fabric with its hosts in both orders, of which the second is made when it is needed.
struct Fabric {
  explicit Fabric(FabricTree of) : tree(std::move(of)), walk(tree) {}
  FabricTree tree;
  WalkOrder walk;
  std::optional<BisectionOrder> bisection;
};

// How trees are laid out.
struct Ordering {
  const HostOrder& order;
  Nesting nesting;
};

// Laid out that way over the hosts, with a path for each edge. Unset: the hosts have too little
// room, or the links do, or the deadline has passed.
std::optional<Routes> routed(const PackingProblem& problem, const FabricTree& fabric,
                             const Ordering& way, double rate, std::size_t count,
                             double most_excess, const Deadline& deadline) {
  auto trees = lay_out(problem, fabric, way.order, rate, count, way.nesting);
  if (!trees) return std::nullopt;
  Routes routes(problem, fabric, *std::move(trees), rate / static_cast<double>(count));
  if (!routes.place(most_excess, deadline)) return std::nullopt;
  return routes;
}

const BisectionOrder& bisection_of(const PackingProblem& problem, Fabric& fabric) {
  if (!fabric.bisection) fabric.bisection.emplace(problem, fabric.tree);
  return *fabric.bisection;
}

// Calls use(way) for each, until it returns true.
template <class Use>
void for_each_way(const PackingProblem& problem, Fabric& fabric, Use use) {
  if (use(Ordering{fabric.walk, Nesting::kOneLevel})) return;
  if (use(Ordering{bisection_of(problem, fabric), Nesting::kOneLevel})) return;
  if (fabric.tree.group_count > 1) use(Ordering{fabric.walk, Nesting::kAll});
}

// Empty: not this way.
std::vector<PackedTree> trees_by(const PackingProblem& problem, Fabric& fabric, double rate,
                                 std::size_t count, const Deadline& deadline) {
  const double each = rate / static_cast<double>(count);
  const double most = kMostExcess * static_cast<double>(count * fabric.tree.hosts.size());
  struct Try {
    Routes routes;
    double excess;  // weighted
  };
  std::vector<Try> tries;
  for_each_way(problem, fabric, [&](const Ordering& way) {
    auto routes = routed(problem, fabric.tree, way, rate, count, most, deadline);
    if (!routes) return deadline.passed();
    const double excess = routes->excess();
    tries.push_back(
        {*std::move(routes), &way.order == &fabric.walk ? excess : kPreference * excess});
    return excess == 0 || deadline.passed();
  });
  std::ranges::stable_sort(tries, {}, &Try::excess);
  for (auto& [routes, excess] : tries) {
    routes.make_way(deadline);
    if (routes.excess() > 0) routes.make_way_in_chains(deadline);
    if (routes.excess() == 0) return packed(routes, each);
  }
  return {};
}

bool is_divided_like_any(const Fabric& fabric, std::span<const std::optional<Fabric>> others) {
  return std::ranges::any_of(others, [&](const auto& other) {
    return other && other->tree.group_count == fabric.tree.group_count;
  });
}

// Calls use(fabric, count) for each shape of trees, until it returns true.
template <class Use>
void for_each_shape(const PackingProblem& problem, double rate, std::size_t most_trees,
                    const Deadline& deadline, Use use) {
  std::array<std::optional<Fabric>, kMargins.size()> fabrics;
  const std::span<const Shape> shapes =
      most_trees == 1 ? std::span<const Shape>(kShapesOfOne) : kShapes;
  for (const auto& [count, margin] : shapes) {
    if (most_trees > 0 && count > most_trees) continue;
    std::optional<Fabric>& fabric = fabrics[margin];
    if (!fabric) {
      std::optional<FabricTree> tree = fabric_tree(problem, kMargins[margin] * rate);
      if (!tree || tree->hosts.empty()) return;
      fabric.emplace(*std::move(tree));
    }
    if (deadline.passed()) return;
    if (is_divided_like_any(*fabric, std::span(fabrics).first(margin))) continue;
    if (use(*fabric, count)) return;
  }
}

// The best of all shapes for `rate`, at the rate that their paths carry, which is less.
std::vector<PackedTree> overloaded_trees(const PackingProblem& problem, double rate,
                                         std::size_t most_trees, const Deadline& deadline) {
  std::vector<PackedTree> best;
  const auto take = [&](const Routes& routes, std::size_t count) {
    const double each = rate / static_cast<double>(count);
    if (rate / routes.load() > total_rate(best)) best = packed(routes, each);
  };
  for_each_shape(problem, rate, most_trees, deadline, [&](Fabric& fabric, std::size_t count) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    constexpr std::size_t kFewTrees = 8;  // more take long to route, and seldom carry more
    if (count > kFewTrees) return true;
    for_each_way(problem, fabric, [&](const Ordering& way) {
      auto routes = routed(problem, fabric.tree, way, rate, count, kAny, deadline);
      if (!routes) return deadline.passed();
      take(*routes, count);
      if (routes->excess() <= kMostExcess * static_cast<double>(count * fabric.tree.hosts.size())) {
        routes->make_way(deadline);
        take(*routes, count);
      }
      return deadline.passed();
    });
    return false;
  });
  return best;
}

using MakeTrees = std::vector<PackedTree>(const PackingProblem& problem, double rate,
                                          std::size_t most_trees, const Deadline& deadline);

// Trees of one plane, if it carries the rate alone, as with ports that are as fast as one link.
// Otherwise those of all planes, each for a rate in proportion to its bound. At the best rate that
// is found, if it is not `rate`.
std::vector<PackedTree> trees_in_planes(const PackingProblem& problem, double rate,
                                        std::size_t most_trees, const Deadline& deadline,
                                        MakeTrees* make) {
  std::vector<Plane> planes = planes_of(problem);
  std::vector<double> bounds;
  for (const Plane& plane : planes) bounds.push_back(plain_bound(plane.problem()).rate);
  std::vector<PackedTree> best;
  const auto take = [&](std::vector<PackedTree> trees) {
    if (total_rate(trees) > total_rate(best)) best = std::move(trees);
    return total_rate(best) >= rate * (1 - kFabricRounding);
  };
  const auto restored = [&](const Plane& plane, double its_rate, std::size_t most) {
    std::vector<PackedTree> trees = make(plane.problem(), its_rate, most, deadline);
    for (PackedTree& packed : trees) packed.tree = plane.restore(std::move(packed.tree));
    return trees;
  };
  for (std::size_t i = 0; i < planes.size(); ++i) {
    if (bounds[i] < rate * (1 - kFabricRounding)) continue;
    if (take(restored(planes[i], rate, most_trees))) return best;
  }
  const double sum = std::accumulate(bounds.begin(), bounds.end(), 0.0);
  if (most_trees > 0 && most_trees < planes.size()) return best;
  share_among(planes, bounds);
  std::vector<PackedTree> all;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    std::vector<PackedTree> trees =
        restored(planes[i], rate * bounds[i] / sum, most_trees / planes.size());
    if (trees.empty()) return best;
    std::ranges::move(trees, std::back_inserter(all));
  }
  take(std::move(all));
  return best;
}

}  // namespace

std::vector<PackedTree> direct_trees(const PackingProblem& problem, double rate,
                                     std::size_t most_trees, const Deadline& deadline) {
  switch (links_of_hosts(problem.graph)) {
    case HostLinks::kHosts:
      if (problem.graph.has_relays()) return {};
      return neighbor_trees(problem, rate, most_trees, deadline);
    case HostLinks::kSeveralSwitches:
      return trees_in_planes(problem, rate, most_trees, deadline, direct_trees);
    case HostLinks::kOneSwitch:
      break;
  }
  std::vector<PackedTree> trees;
  for_each_shape(problem, rate, most_trees, deadline, [&](Fabric& fabric, std::size_t count) {
    trees = trees_by(problem, fabric, rate, count, deadline);
    return !trees.empty();
  });
  return trees;
}

// Trees for a lower rate are others, of which the links may carry more.
std::vector<PackedTree> best_direct_trees(const PackingProblem& problem, double bound,
                                          std::size_t most_trees, const Deadline& deadline) {
  if (links_of_hosts(problem.graph) == HostLinks::kSeveralSwitches) {
    return trees_in_planes(problem, bound, most_trees, deadline, best_direct_trees);
  }
  constexpr double kLeastShare = 1e-12;
  constexpr std::size_t kTries = 3;
  // Of n equal hosts an allreduce leaves 1/n over.
  const double nearly = 1 - 1 / static_cast<double>(problem.graph.host_count());
  for (const double share : {1.0, nearly}) {
    std::vector<PackedTree> trees = direct_trees(problem, share * bound, most_trees, deadline);
    if (!trees.empty()) return trees;
  }
  std::vector<PackedTree> best;
  const auto try_rate = [&](double rate) {
    std::vector<PackedTree> trees = overloaded_trees(problem, rate, most_trees, deadline);
    if (total_rate(trees) > total_rate(best)) best = std::move(trees);
  };
  for (double share = 0.9; best.empty() && share > kLeastShare && !deadline.passed();
       share *= share) {
    try_rate(share * bound);
  }
  for (std::size_t i = 0; i < kTries && !best.empty() && !deadline.passed(); ++i) {
    try_rate(std::sqrt(total_rate(best) * bound));
  }
  return best;
}

}  // namespace espalier::lp
