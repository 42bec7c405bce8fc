#include "lp/packing/shallow_trees.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "lp/graph/any_tree.hpp"
#include "lp/graph/host_arcs.hpp"
#include "lp/graph/tree_routes.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/packing_master.hpp"
#include "lp/packing/tree_pricer.hpp"

namespace espalier::lp {

namespace {

// The length of each arc between hosts, and the most that a path to a host may have.
struct Limit {
  Limit(const HostArcs& arcs, const ShallowOptions& options)
      : length(arcs.size(), 1.0), most(options.max_depth) {
    constexpr double kRounding = 1e-12;  // of sums in a different order
    if (!options.max_latency) return;
    most = options.max_latency->value * (1 + kRounding);
    for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) length[arc] = arcs.latency_s(arc);
  }
  std::vector<double> length;
  double most;
};

constexpr double kCutOff = std::numeric_limits<double>::infinity();

// A spanning tree within a limit.
class ShallowTree {
 public:
  ShallowTree(const HostArcs& arcs, std::uint32_t root, Limit limit, const Deadline& deadline)
      : arcs_(arcs), root_(root), limit_(std::move(limit)), watch_(deadline) {
    find_nearest();
  }

  // Whether some spanning tree is that shallow.
  [[nodiscard]] bool possible() const {
    return order_.size() == host_count() && distance_[order_.back()] <= limit_.most;
  }
  // A tree that is similar to `tree`, shallow enough and of low cost (per arc, >= 0). When the
  // deadline passes, hosts that are too deep get shortest paths.
  RoutedTree shallow(const RoutedTree& tree, const std::vector<double>& cost);

 private:
  [[nodiscard]] std::size_t host_count() const;
  void find_nearest();
  void start_from(const RoutedTree& tree);
  [[nodiscard]] bool is_better(std::uint32_t arc, std::uint32_t other,
                               const std::vector<double>& cost) const;
  void reattach_deep_hosts(const std::vector<double>& cost);
  [[nodiscard]] std::uint32_t best_parent(std::uint32_t node,
                                          const std::vector<double>& cost) const;
  bool take_cheaper_parents(const std::vector<double>& cost);
  void pull_up(std::uint32_t node);
  void measure();
  [[nodiscard]] bool below(std::uint32_t node, std::uint32_t top) const;

  const HostArcs& arcs_;
  std::uint32_t root_;
  Limit limit_;
  DeadlineWatch watch_;
  std::vector<std::uint32_t> order_;        // hosts by distance from the root
  std::vector<double> distance_;            // per node
  std::vector<std::uint32_t> nearest_arc_;  // per node: into it on a shortest path

  std::vector<std::uint32_t> parent_arc_;  // per node
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<double> depth_;        // from the root, or kCutOff
  std::vector<double> height_;       // of the subtree below
  std::vector<std::uint32_t> walk_;  // hosts, parents first
};

std::size_t ShallowTree::host_count() const {
  std::size_t hosts = 1;
  for (std::uint32_t node = 0; node < arcs_.node_count(); ++node) {
    if (node != root_ && !arcs_.into(node).empty()) ++hosts;
  }
  return hosts;
}

// Dijkstra; of equally long paths, that of the host found first.
void ShallowTree::find_nearest() {
  distance_.assign(arcs_.node_count(), kCutOff);
  nearest_arc_.assign(arcs_.node_count(), kNone);
  struct Found {
    double distance;
    std::size_t turn;
    std::uint32_t node;
    bool operator>(const Found& other) const {
      return std::tie(distance, turn) > std::tie(other.distance, other.turn);
    }
  };
  std::priority_queue<Found, std::vector<Found>, std::greater<>> found;
  std::vector<char> settled(arcs_.node_count(), 0);
  std::size_t turn = 0;
  distance_[root_] = 0;
  found.push({0, turn, root_});
  while (!found.empty()) {
    const std::uint32_t node = found.top().node;
    found.pop();
    if (std::exchange(settled[node], 1) != 0) continue;
    order_.push_back(node);
    for (const std::uint32_t arc : arcs_.out_of(node)) {
      const std::uint32_t next = arcs_.head(arc);
      const double distance = distance_[node] + limit_.length[arc];
      if (distance >= distance_[next]) continue;
      distance_[next] = distance;
      nearest_arc_[next] = arc;
      found.push({distance, ++turn, next});
    }
  }
}

void ShallowTree::start_from(const RoutedTree& tree) {
  parent_arc_.assign(arcs_.node_count(), kNone);
  for (const std::uint32_t arc : arcs_.arcs_of(tree)) {
    if (arc != kNone) parent_arc_[arcs_.head(arc)] = arc;
  }
}

// Computes depths and heights from the parent arcs. Hosts below a cut are cut off.
void ShallowTree::measure() {
  children_.assign(arcs_.node_count(), {});
  depth_.assign(arcs_.node_count(), kCutOff);
  height_.assign(arcs_.node_count(), 0);
  for (const std::uint32_t node : order_) {
    if (parent_arc_[node] != kNone) children_[arcs_.tail(parent_arc_[node])].push_back(node);
  }
  walk_.assign(1, root_);
  depth_[root_] = 0;
  for (std::size_t i = 0; i < walk_.size(); ++i) {
    for (const std::uint32_t child : children_[walk_[i]]) {
      depth_[child] = depth_[walk_[i]] + limit_.length[parent_arc_[child]];
      walk_.push_back(child);
    }
  }
  for (auto node = walk_.rbegin(); node != walk_.rend(); ++node) {
    for (const std::uint32_t child : children_[*node]) {
      height_[*node] = std::max(height_[*node], height_[child] + limit_.length[parent_arc_[child]]);
    }
  }
}

bool ShallowTree::below(std::uint32_t node, std::uint32_t top) const {
  while (node != top && node != root_) node = arcs_.tail(parent_arc_[node]);
  return node == top;
}

// Moves a host, and those on a shortest path to it, as close to the root as possible.
void ShallowTree::pull_up(std::uint32_t node) {
  std::vector<std::uint32_t> path;
  for (; node != root_; node = arcs_.tail(nearest_arc_[node])) path.push_back(node);
  for (const std::uint32_t host : path) parent_arc_[host] = nearest_arc_[host];
}

// Whether `arc` is cheaper or, at equal cost (resources that are not full cost nothing), comes from
// a parent with fewer children.
bool ShallowTree::is_better(std::uint32_t arc, std::uint32_t other,
                            const std::vector<double>& cost) const {
  constexpr double kRounding = 1e-9;
  const auto children = [&](std::uint32_t of) { return children_[arcs_.tail(of)].size(); };
  if (std::abs(cost[arc] - cost[other]) > kRounding * (cost[arc] + cost[other])) {
    return cost[arc] < cost[other];
  }
  return children(arc) < children(other);
}

// Removes hosts that are too deep from their parents, and gives each the cheapest possible parent.
void ShallowTree::reattach_deep_hosts(const std::vector<double>& cost) {
  measure();
  std::vector<std::uint32_t> deep;
  for (const std::uint32_t node : walk_) {
    if (depth_[node] > limit_.most) deep.push_back(node);
  }
  for (const std::uint32_t node : deep) parent_arc_[node] = kNone;
  bool in_time = true;
  for (const std::uint32_t node : deep) {
    in_time = in_time && !watch_.passed(8 * order_.size() + arcs_.into(node).size());
    if (!in_time) {
      pull_up(node);
      continue;
    }
    measure();
    if (depth_[node] <= limit_.most) continue;
    const std::uint32_t best = best_parent(node, cost);
    if (best != kNone) {
      parent_arc_[node] = best;
    } else {
      pull_up(node);
    }
  }
  measure();
}

// The best arc into the node from a host that is close enough to the root; kNone: there is none.
std::uint32_t ShallowTree::best_parent(std::uint32_t node, const std::vector<double>& cost) const {
  std::uint32_t best = kNone;
  for (const std::uint32_t arc : arcs_.into(node)) {
    if (depth_[arcs_.tail(arc)] + limit_.length[arc] > limit_.most) continue;
    if (best == kNone || is_better(arc, best, cost)) best = arc;
  }
  return best;
}

bool ShallowTree::take_cheaper_parents(const std::vector<double>& cost) {
  constexpr double kCheaper = 1e-9;
  bool changed = false;
  for (const std::uint32_t node : order_) {
    if (node == root_) continue;
    if (watch_.passed(arcs_.into(node).size())) return false;
    std::uint32_t best = parent_arc_[node];
    for (const std::uint32_t arc : arcs_.into(node)) {
      if (cost[arc] >= cost[best] * (1 - kCheaper)) continue;
      const std::uint32_t above = arcs_.tail(arc);
      if (depth_[above] + limit_.length[arc] + height_[node] > limit_.most) continue;
      if (below(above, node)) continue;
      best = arc;
    }
    if (best == parent_arc_[node]) continue;
    parent_arc_[node] = best;
    measure();
    if (watch_.passed(8 * order_.size())) return false;
    changed = true;
  }
  return changed;
}

RoutedTree ShallowTree::shallow(const RoutedTree& tree, const std::vector<double>& cost) {
  constexpr int kSweeps = 4;
  start_from(tree);
  reattach_deep_hosts(cost);
  for (int sweep = 0; sweep < kSweeps && take_cheaper_parents(cost); ++sweep) {
  }
  RoutedTree routed;
  for (const std::uint32_t node : walk_) {
    if (node != root_) arcs_.add_edge(parent_arc_[node], routed);
  }
  return routed;
}

// Per arc between hosts: the cost of a byte on it at these prices.
std::vector<double> arc_costs(const HostArcs& arcs, std::span<const double> prices) {
  std::vector<double> cost(arcs.size(), 0.0);
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    for (const auto& [resource, seconds] : arcs.uses(arc)) cost[arc] += prices[resource] * seconds;
  }
  return cost;
}

class ShallowPacker {
 public:
  ShallowPacker(const PackingProblem& problem, const Packing& packing, const HostArcs& arcs,
                const ShallowOptions& options)
      : problem_(problem),
        packing_(packing),
        options_(options),
        arcs_(arcs),
        shallow_(arcs, problem.root, Limit(arcs, options), options.deadline),
        master_({problem.graph, problem.root, problem.occupation}, packing.rate) {}

  [[nodiscard]] bool possible() const { return shallow_.possible(); }
  // The trees of the best packing of shallow trees found: at least one.
  std::vector<RoutedTree> run();
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  void start();
  void generate_columns();
  // A tree that is shallow enough is unchanged, including its paths through relays.
  bool add(const RoutedTree& tree, std::span<const double> prices) {
    if (is_shallow(problem_, tree, options_)) return master_.add_tree(tree);
    return master_.add_tree(shallow_.shallow(tree, arc_costs(arcs_, prices)));
  }
  [[nodiscard]] bool out_of_time() {
    complete_ = complete_ && !options_.deadline.passed();
    return !complete_;
  }

  const PackingProblem& problem_;
  const Packing& packing_;
  const ShallowOptions& options_;
  const HostArcs& arcs_;
  ShallowTree shallow_;
  std::optional<TreePricer> pricer_;  // made when needed, because that may take long
  PackingMaster master_;
  bool complete_ = true;
};

void ShallowPacker::start() {
  for (const PackedTree& packed : packing_.trees) {
    if (master_.tree_count() > 0 && out_of_time()) return;
    add(packed.tree, packing_.prices);
  }
  for (const RoutedTree& tree : packing_.pool) {
    if (out_of_time()) return;
    add(tree, packing_.prices);
  }
}

void ShallowPacker::generate_columns() {
  constexpr double kSmoothing = 0.7;  // weight of the prices so far
  constexpr std::size_t kTimeout = 120;
  constexpr double kWorthGoingOn = 1e-4;  // smaller relative gains do not count
  std::vector<double> prices = packing_.prices;
  std::vector<double> shaken(prices.size());
  std::minstd_rand random;  // fixed seed; perturbs prices when pricing makes the same trees again
  double best = 0;
  std::size_t idle = 0;
  pricer_.emplace(problem_, options_.deadline);
  for (std::size_t round = 0; round < options_.max_rounds && idle < kTimeout; ++round) {
    const LpStatus status = master_.solve(options_.deadline);
    if (out_of_time() || status != LpStatus::kOptimal) break;
    idle = master_.total() > best * (1 + kWorthGoingOn) ? 0 : idle + 1;
    best = std::max(best, master_.total());
    if (best * packing_.rate >= options_.enough_Bps) break;
    for (std::size_t r = 0; r < prices.size(); ++r) {
      prices[r] = kSmoothing * prices[r] + (1 - kSmoothing) * master_.prices()[r];
    }
    if (add(pricer_->cheapest_tree(prices).tree, prices)) continue;
    if (add(pricer_->cheapest_tree(master_.prices()).tree, master_.prices())) continue;
    for (std::size_t r = 0; r < shaken.size(); ++r) {
      shaken[r] = master_.prices()[r] * std::generate_canonical<double, 53>(random);
    }
    if (!add(pricer_->cheapest_tree(shaken).tree, shaken)) ++idle;
  }
}

std::vector<RoutedTree> ShallowPacker::run() {
  start();
  try {
    if (complete_) generate_columns();
  } catch (const LimitReached&) {
    complete_ = false;
  }
  std::vector<RoutedTree> trees;
  for (std::size_t i = 0; i < master_.tree_count(); ++i) trees.push_back(master_.tree(i));
  return trees;
}

// What there is without a search, if it is shallow enough.
TreesFound at_once(const PackingProblem& problem, const ShallowOptions& options) {
  const RoutedTree tree = any_tree(problem.graph, problem.root);
  if (!is_shallow(problem, tree, options)) return {{}, false};
  return {
      with_best_rates(problem, {tree}, 1 / std::ranges::max(tree_load(problem.occupation, tree))),
      false};
}

}  // namespace

TreesFound pack_shallow_trees(const PackingProblem& problem, const Packing& packing,
                              const ShallowOptions& options) try {
  const std::optional<HostArcs> arcs = arcs_to_search(problem, packing.prices, options.deadline);
  if (!arcs) return at_once(problem, options);
  ShallowPacker packer(problem, packing, *arcs, options);
  if (!packer.possible()) return {};
  const std::vector<RoutedTree> trees = packer.run();
  std::vector<PackedTree> packed = with_best_rates(problem, trees, packing.rate, options.deadline);
  if (options.max_trees > 0) {
    packed = thinned(problem, std::move(packed), packing.rate, options.max_trees, options.deadline);
  }
  return {std::move(packed), packer.is_complete()};
} catch (const LimitReached&) {
  return at_once(problem, options);
}

bool is_shallow(const PackingProblem& problem, const RoutedTree& tree,
                const ShallowOptions& options) {
  const Digraph& graph = problem.graph;
  return options.max_latency ? latency_of(graph, problem.root, tree) <= *options.max_latency
                             : depth_of(graph, problem.root, tree) <= options.max_depth;
}

}  // namespace espalier::lp
