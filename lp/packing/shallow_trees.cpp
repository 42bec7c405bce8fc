#include "lp/packing/shallow_trees.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "lp/graph/any_tree.hpp"
#include "lp/graph/host_arcs.hpp"
#include "lp/graph/tree_routes.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/packing_master.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "lp/single/shallow_tree.hpp"

namespace espalier::lp {

namespace {

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
        limit_(problem, arcs, options),
        master_({problem.graph, problem.root, problem.occupation}, packing.rate) {
    for (std::uint32_t root = 0; root < std::max(problem.root_arcs, 1U); ++root) {
      ShallowTree shallow(arcs, problem.root, root, limit_, options.deadline);
      if (shallow.possible()) shallow_.emplace(root, std::move(shallow));
    }
  }

  [[nodiscard]] bool possible() const { return !shallow_.empty(); }
  // The trees of the best packing of shallow trees found: at least one.
  std::vector<RoutedTree> run();
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  void start();
  void generate_columns();
  // A tree that is shallow enough is unchanged, including its paths through relays.
  bool add(const RoutedTree& tree, std::span<const double> prices) {
    if (is_shallow(problem_, tree, options_)) return master_.add_tree(tree);
    const auto found = shallow_.find(free_root_of(tree, problem_.part_arcs, problem_.root_arcs));
    if (found == shallow_.end()) return false;
    return master_.add_tree(found->second.shallow(tree, arc_costs(arcs_, prices)));
  }
  // Where any host may be the root: a tree of one of them, in turn, near the shortest paths.
  bool add_from_next_root(std::span<const double> prices) {
    if (problem_.root_arcs == 0) return false;
    auto next = shallow_.upper_bound(last_root_);
    if (next == shallow_.end()) next = shallow_.begin();
    last_root_ = next->first;
    ShallowTree& shallow = next->second;
    return master_.add_tree(shallow.shallow(shallow.nearest(), arc_costs(arcs_, prices)));
  }
  [[nodiscard]] bool out_of_time() {
    complete_ = complete_ && !options_.deadline.passed();
    return !complete_;
  }

  const PackingProblem& problem_;
  const Packing& packing_;
  const ShallowOptions& options_;
  const HostArcs& arcs_;
  DepthLimit limit_;
  // By the number of the root, those within the limit; they refer to limit_.
  std::map<std::uint32_t, ShallowTree> shallow_;
  std::uint32_t last_root_ = 0;
  std::optional<TreePricer> pricer_;  // made when needed, because that may take long
  PackingMaster master_;
  bool complete_ = true;
};

void ShallowPacker::start() {
  if (problem_.root_arcs > 0) {
    for (const auto& [root, shallow] : shallow_) master_.add_tree(shallow.nearest());
  }
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
    const bool has_next_root = add_from_next_root(prices);
    if (add(pricer_->cheapest_tree(prices).tree, prices) || has_next_root) continue;
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
  return options.max_latency
             ? latency_of(graph, problem.root, tree) <= *options.max_latency
             : depth_of(graph, problem.root, tree) <= options.max_depth + edges_to_root(problem);
}

}  // namespace espalier::lp
