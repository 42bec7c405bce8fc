#include "lp/dense/packing_from_roots.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/dense/filling_trees.hpp"
#include "lp/dense/proportional_trees.hpp"
#include "lp/graph/host_arcs.hpp"
#include "lp/packing/root_trees.hpp"
#include "lp/prices/multiplicative_weights.hpp"
#include "lp/prices/price_descent.hpp"
#include "support/errors.hpp"

namespace espalier::lp {

namespace {

class RootsPacker {
 public:
  RootsPacker(const PackingProblem& problem, std::span<const PartRoot> roots,
              const PackingFromRootsOptions& options)
      : problem_(problem),
        roots_(roots),
        options_(options),
        gap_(std::max(options.gap, options.dense_gap)),
        plain_(plain_bound(problem, roots)),
        cost_(problem.graph.arc_count()) {}

  PackingFromRoots run() {
    try {
      from_each_.emplace(problem_.graph, options_.deadline);
      price(plain_.prices);
      const std::vector<double> prices = descend_prices();
      make_trees(prices);
    } catch (const LimitReached&) {  // what there is by then
    }
    if (result_.packing.trees.empty()) take_cheapest_trees();
    result_.packing.end = gap_reached()                ? PackingEnd::kGapReached
                          : options_.deadline.passed() ? PackingEnd::kLimit
                                                       : PackingEnd::kStalled;
    return std::move(result_);
  }

 private:
  // What trees may leave of the bound, as a share of the gap that is accepted: more is lost where
  // their last ones do not divide evenly.
  static constexpr double kOfGap = 0.25;

  [[nodiscard]] bool gap_reached() const {
    return result_.packing.bound <= (1 + gap_) * result_.packing.rate;
  }

  // All cheapest trees together prove a bound, which is returned.
  double price(std::span<const double> prices) {
    price_arcs(problem_.occupation, prices, cost_);
    has_trees_ = false;
    if (!from_each_->solve(cost_)) throw InfeasibleError("some host cannot be reached");
    has_trees_ = true;
    ++result_.packing.arborescences_priced;
    double least = 0;
    for (const auto& [root, share] : roots_) least += share * from_each_->cost_from(root);
    const double sum = std::accumulate(prices.begin(), prices.end(), 0.0);
    const double bound = least > 0 ? sum / least : Packing::kUnbounded;
    if (bound < result_.packing.bound) {
      result_.packing.bound = bound;
      result_.packing.prices.assign(prices.begin(), prices.end());
      for (double& price : result_.packing.prices) price /= sum;
    }
    return bound;
  }

  // Of the trees of some roots, which are others from time to time: of all it would take most of
  // the time.
  std::vector<double> load_of_some() {
    constexpr std::size_t kSome = 128;
    std::vector<double> amounts(cost_.size(), 0.0);
    double shares = 0;
    for (std::size_t i = 0; i < std::min(kSome, roots_.size()); ++i) {
      const auto& [root, share] = roots_[next_root_++ % roots_.size()];
      shares += share;
      for (const std::uint32_t arc : from_each_->tree_from(root).arcs) amounts[arc] += share;
    }
    for (double& amount : amounts) amount /= shares;
    return load_of(std::move(amounts));
  }

  // amounts: bytes, per arc.
  [[nodiscard]] std::vector<double> load_of(std::vector<double> amounts) const {
    std::vector<std::uint32_t> arcs(amounts.size());
    std::iota(arcs.begin(), arcs.end(), 0U);
    return tree_load(problem_.occupation, {std::move(arcs), {}, std::move(amounts)});
  }

  // Lowers the bound. Prices near those that prove it, but of everything that may get full: those
  // of a plain bound are 0 but at one host.
  std::vector<double> descend_prices() {
    const std::vector<std::uint32_t> arcs = arcs_per_resource(problem_);
    const bool any_shared = std::ranges::any_of(arcs, [](auto count) { return count > 1; });
    if (!any_shared) return result_.packing.prices;
    PriceDescent descent(first_weights(problem_.occupation, arcs), arcs);
    descent.run(
        [&](std::span<const double> prices) {
          price(prices);
          report();
          return load_of_some();
        },
        [&] { return result_.packing.bound; }, [&] { return !options_.deadline.passed(); });
    const double own_bound = price(descent.average());
    least_cost_ = result_.packing.bound / own_bound;
    return {descent.average().begin(), descent.average().end()};
  }

  // Those priced last, far below the bound; none when the deadline passed in the midst of it.
  void take_cheapest_trees() {
    if (!has_trees_) return;
    std::vector<PackedTree> trees;
    for (const auto& [root, share] : roots_) trees.push_back({from_each_->tree_from(root), share});
    take(std::move(trees));
  }

  void make_trees(std::span<const double> prices) {
    const Packing& packing = result_.packing;
    const HostArcs arcs(problem_.graph, problem_.occupation,
                        std::vector<double>(problem_.graph.arc_count(), 0.0), options_.deadline);
    if (options_.max_trees == 0 && suits_filling_trees(arcs, problem_.root, packing.bound) &&
        take(filling_trees(problem_, arcs, packing.prices, packing.bound, roots_, kOfGap * gap_,
                           options_.deadline))) {
      return;
    }
    pack_proportionally(arcs, prices);
  }

  // The fewer roots there are, the more trees of each are needed for an even load. Where many
  // resources are full, trees have to be cheap, elsewhere even; and shallow where that is not too
  // dear.
  void pack_proportionally(const HostArcs& arcs, std::span<const double> prices) {
    constexpr std::size_t kMostTrees = 4096;
    constexpr std::size_t kGrowth = 3;  // of their number
    std::vector<ProportionalOptions> kinds;
    for (const double of_cost : {50, 5}) {
      kinds.push_back({.loss = kOfGap * gap_,
                       .of_cost = of_cost,
                       .of_depth = 0.5,
                       .enough = 1 / (1 + gap_),
                       .passes = 3,
                       .gives_up = true,
                       .least_cost = least_cost_});
    }
    std::size_t most = std::max<std::size_t>(1, kMostTrees / roots_.size());
    if (options_.max_trees > 0) most = std::min(most, options_.max_trees);
    for (std::size_t of_each = 1; of_each <= most; of_each *= kGrowth) {
      const std::vector<Turn> turns = turns_of_all(of_each);
      const auto make = [&](const ProportionalOptions& kind) {
        return proportional_trees(problem_, arcs, prices, result_.packing.bound, plain_.least_uses,
                                  turns, kind, options_.deadline);
      };
      std::size_t best = 0;
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        std::vector<PackedTree> trees = make(kinds[i]);
        if (trees.empty() && kinds[i].gives_up) {
          kinds[i].of_depth = 0;
          kinds[i].gives_up = false;
          trees = make(kinds[i]);
        }
        if (take(std::move(trees))) best = i;
        if (gap_reached() || options_.deadline.passed()) return;
      }
      std::swap(kinds.front(), kinds[best]);
    }
  }

  [[nodiscard]] std::vector<Turn> turns_of_all(std::size_t of_each) const {
    std::vector<Turn> turns;
    for (std::size_t k = 0; k < of_each; ++k) {
      for (const auto& [root, share] : roots_) {
        turns.push_back({root, share / static_cast<double>(of_each)});
      }
    }
    return turns;
  }

  // Gives each root its share, as fast as the first full resource allows. Whether these trees are
  // better than those so far.
  bool take(std::vector<PackedTree> trees) {
    std::vector<std::uint32_t> place(problem_.graph.node_count, kNone);
    for (std::uint32_t i = 0; i < roots_.size(); ++i) place[roots_[i].root] = i;
    std::vector<std::uint32_t> root_of;
    std::vector<double> carried(roots_.size(), 0.0);
    for (const PackedTree& packed : trees) {
      root_of.push_back(place[root_of_tree(packed.tree)]);
      carried[root_of.back()] += packed.rate;
    }
    if (std::ranges::min(carried) <= 0) return false;
    std::vector<double> amounts(cost_.size(), 0.0);
    for (std::size_t i = 0; i < trees.size(); ++i) {
      trees[i].rate *= roots_[root_of[i]].share / carried[root_of[i]];
      for (const std::uint32_t arc : trees[i].tree.arcs) amounts[arc] += trees[i].rate;
    }
    const double rate = 1 / std::ranges::max(load_of(std::move(amounts)));
    if (rate <= result_.packing.rate) return false;
    for (PackedTree& packed : trees) packed.rate *= rate;
    result_.packing.rate = rate;
    result_.packing.trees = std::move(trees);
    result_.roots = std::move(root_of);
    report();
    return true;
  }

  [[nodiscard]] std::uint32_t root_of_tree(const RoutedTree& tree) {
    is_entered_.assign(problem_.graph.node_count, 0);
    for (const std::uint32_t arc : tree.arcs) is_entered_[problem_.graph.head[arc]] = 1;
    return static_cast<std::uint32_t>(std::ranges::find(is_entered_, 0) - is_entered_.begin());
  }

  void report() {
    const Packing& packing = result_.packing;
    progress_(packing.arborescences_priced, packing.rate, packing.bound);
  }

  const PackingProblem& problem_;
  std::span<const PartRoot> roots_;
  const PackingFromRootsOptions& options_;
  ProgressReport progress_{options_};
  double gap_;  // accepted
  PlainBound plain_;
  std::optional<TreesFromEach> from_each_;
  double least_cost_ = 1;     // at the prices that trees are made with: ProportionalOptions
  bool has_trees_ = false;    // from_each_ has
  std::vector<double> cost_;  // per arc
  std::vector<char> is_entered_;
  std::size_t next_root_ = 0;
  PackingFromRoots result_;
};

}  // namespace

PackingFromRoots pack_from_roots(const PackingProblem& problem, std::span<const PartRoot> roots,
                                 const PackingFromRootsOptions& options) {
  return RootsPacker(problem, roots, options).run();
}

}  // namespace espalier::lp
