#include "lp/packing/few_trees.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "lp/packing/packing_master.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "lp/packing/tree_set.hpp"

namespace espalier::lp {

namespace {

std::vector<RoutedTree> trees_of(const std::vector<PackedTree>& packed) {
  std::vector<RoutedTree> trees;
  trees.reserve(packed.size());
  for (const PackedTree& tree : packed) trees.push_back(tree.tree);
  return trees;
}

class FewTrees {
 public:
  FewTrees(const PackingProblem& problem, const Packing& packing, const FewTreesOptions& options)
      : problem_(problem),
        packing_(packing),
        options_(options),
        so_far_(options.max_trees > 0 ? options.so_far : nullptr) {}

  TreesFound run();

 private:
  void try_single_trees();
  void try_count(std::size_t count);
  // Goes on from the largest count tried before, at most `most`, and returns it; 0: there is none.
  [[nodiscard]] std::size_t resume(std::size_t most);
  void leave_off(std::size_t count) const;
  // At least the packing's number of trees: there is no further count.
  [[nodiscard]] std::size_t next_count(std::size_t count, std::size_t most);
  void search(const std::vector<RoutedTree>& start, std::size_t count);
  void spread_rates(TreeSet& set, const std::vector<RoutedTree>& trees,
                    const std::vector<PackedTree>& packed) const;
  [[nodiscard]] std::vector<RoutedTree> split_best(std::size_t count) const;
  [[nodiscard]] std::vector<RoutedTree> eliminated(std::size_t count) const;
  std::vector<RoutedTree> priced_in_turn(std::size_t count);
  [[nodiscard]] std::vector<PackedTree> trimmed(std::vector<PackedTree> trees, double enough) const;
  void take(const std::vector<PackedTree>& trees, std::size_t count);
  // Once true the result is not complete.
  [[nodiscard]] bool out_of_time() const {
    complete_ = complete_ && !options_.deadline.passed();
    return !complete_;
  }
  [[nodiscard]] bool good_enough() const {
    return total_rate(best_) >= packing_.bound * (1 - options_.gap);
  }

  const PackingProblem& problem_;
  const Packing& packing_;
  const FewTreesOptions& options_;
  FewTreesSoFar* so_far_;
  mutable bool complete_ = true;
  double missing_ = 1;                // of the bound, when the last count was chosen
  std::optional<TreePricer> pricer_;  // made when first needed, like arcs_
  std::optional<HostArcs> arcs_;
  std::vector<PackedTree> best_;
  std::vector<PackedTree> seen_;  // trees of good sets found by the search, with their rates there
};

void FewTrees::take(const std::vector<PackedTree>& trees, std::size_t count) {
  if (trees.size() <= count && total_rate(trees) > total_rate(best_)) best_ = trees;
}

void FewTrees::try_single_trees() {
  const auto consider = [&](const RoutedTree& tree) {
    const std::vector<double> load = tree_load(problem_.occupation, tree);
    const double rate = 1 / *std::max_element(load.begin(), load.end());
    if (rate > total_rate(best_)) best_ = {{tree, rate}};
  };
  for (const PackedTree& packed : packing_.trees) consider(packed.tree);
  for (const RoutedTree& tree : packing_.pool) consider(tree);
}

// The best set so far, its heaviest trees duplicated until there are `count`: the search makes the
// duplicates differ.
std::vector<RoutedTree> FewTrees::split_best(std::size_t count) const {
  std::vector<PackedTree> trees = best_;
  while (trees.size() < count) {
    const auto heaviest =
        std::max_element(trees.begin(), trees.end(),
                         [](const PackedTree& a, const PackedTree& b) { return a.rate < b.rate; });
    heaviest->rate /= 2;
    trees.push_back(*heaviest);
  }
  return trees_of(trees);
}

// The useful trees, thinned to `count`.
std::vector<RoutedTree> FewTrees::eliminated(std::size_t count) const {
  std::vector<RoutedTree> trees = trees_of(packing_.trees);
  for (const PackedTree& packed : seen_) trees.push_back(packed.tree);
  return trees_of(thinned(problem_,
                          with_best_rates(problem_, trees, packing_.rate, options_.deadline),
                          packing_.rate, count, options_.deadline));
}

// Each tree is the cheapest with respect to the load of the trees before it.
std::vector<RoutedTree> FewTrees::priced_in_turn(std::size_t count) {
  constexpr double kSteep = 8;    // e-folds of price per unit of load
  constexpr double kFloor = 0.1;  // share of the prices' sum, spread evenly
  const double rate = packing_.rate / static_cast<double>(count);
  const auto resources = static_cast<double>(packing_.prices.size());
  std::vector<double> load(packing_.prices.size(), 0.0);
  std::vector<double> prices(load.size());
  std::vector<RoutedTree> trees;
  if (!pricer_) pricer_.emplace(problem_, options_.deadline);
  for (std::size_t i = 0; i < count; ++i) {
    const double top = std::max(1.0, *std::max_element(load.begin(), load.end()));
    for (std::size_t r = 0; r < load.size(); ++r) {
      prices[r] = packing_.prices[r] + kFloor / resources + std::exp(kSteep * (load[r] - top));
    }
    trees.push_back(pricer_->cheapest_tree(prices).tree);
    const std::vector<double> more = tree_load(problem_.occupation, trees.back());
    for (std::size_t r = 0; r < load.size(); ++r) load[r] += std::min(rate * more[r], 100.0);
  }
  return trees;
}

// The LP's rates; a tree that the LP dropped keeps a tenth of an equal share, so that the search
// does not lose it.
void FewTrees::spread_rates(TreeSet& set, const std::vector<RoutedTree>& trees,
                            const std::vector<PackedTree>& packed) const {
  const double equal = packing_.rate / static_cast<double>(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto same = std::find_if(packed.begin(), packed.end(),
                                   [&](const PackedTree& tree) { return tree.tree == trees[i]; });
    set.set_rate(i, same != packed.end() ? same->rate : 0.1 * equal);
  }
}

void FewTrees::search(const std::vector<RoutedTree>& start, std::size_t count) {
  const double unit_rate = packing_.rate;
  std::vector<PackedTree> packed = with_best_rates(problem_, start, unit_rate, options_.deadline);
  take(packed, count);
  if (good_enough() || start.empty()) return;
  if (!arcs_) arcs_ = arcs_to_search(problem_, packing_.prices, options_.deadline);
  if (!arcs_) return;
  constexpr std::uint64_t kEffort = 2'000'000;  // local-search moves evaluated, about
  const std::uint64_t effort = kEffort * std::max<std::size_t>(1, count / 8);
  TreeSet set(*arcs_, problem_.root);
  for (const RoutedTree& tree : start) {
    if (!set.add(tree, unit_rate / static_cast<double>(start.size()))) return;
  }
  for (const double beta : TreeSet::kBetas) {
    set.sweep_until(beta, effort, options_.deadline);
    const std::vector<RoutedTree> trees = set.trees();
    packed = with_best_rates(problem_, trees, unit_rate, options_.deadline);
    take(packed, count);
    seen_.insert(seen_.end(), packed.begin(), packed.end());
    if (good_enough() || set.moves_evaluated() > effort || out_of_time()) break;
    spread_rates(set, trees, packed);
  }
}

void FewTrees::try_count(std::size_t count) {
  search(split_best(count), count);
  if (!good_enough()) search(priced_in_turn(count), count);
  if (!good_enough() && count > 1 && options_.max_trees > 0) search(eliminated(count), count);
}

// These trees without those that can be dropped while the rate stays at least `enough`: the
// lightest ones; of many trees more and more together.
std::vector<PackedTree> FewTrees::trimmed(std::vector<PackedTree> trees, double enough) const {
  // A large set in which every tree is needed should not cost an LP for each of them.
  const std::size_t most_failures = std::max<std::size_t>(3, 200 / trees.size());
  constexpr std::size_t kMany = 64;
  std::size_t needed = 0;  // trees found to be needed; they are at the end, the lightest last
  std::size_t step = 1;    // trees to drop together
  while (trees.size() > needed + 1 && needed < most_failures && !out_of_time()) {
    std::stable_sort(trees.begin(), trees.end(),
                     [](const PackedTree& a, const PackedTree& b) { return a.rate > b.rate; });
    step = std::min(step, trees.size() - needed - 1);
    std::vector<PackedTree> fewer = trees;
    const auto end = fewer.end() - static_cast<std::ptrdiff_t>(needed);
    fewer.erase(end - static_cast<std::ptrdiff_t>(step), end);
    fewer = with_best_rates(problem_, trees_of(fewer), packing_.rate, options_.deadline);
    if (total_rate(fewer) >= enough) {
      trees = std::move(fewer);
      step = trees.size() < kMany ? 1 : 2 * step;
    } else if (step > 1) {
      step /= 2;
    } else {
      ++needed;
    }
  }
  return trees;
}

// Without a limit, larger counts are tried only while they are promising: near the optimum, and
// with twice as many trees at least twice as near as before; but all where the packing has few
// trees, because links shared by few trees waste less.
std::size_t FewTrees::next_count(std::size_t count, std::size_t most) {
  constexpr double kPromising = 0.02;
  constexpr std::size_t kNotMany = 16;
  const double missing = 1 - total_rate(best_) / packing_.bound;
  const double before = std::exchange(missing_, missing);
  const bool promising = count < 2 || missing <= std::min(kPromising, before / 2);
  const std::size_t all = packing_.trees.size();
  const bool goes_on = promising || options_.max_trees > 0 || all <= kNotMany;
  return goes_on ? std::min(2 * count, most) : all;
}

std::size_t FewTrees::resume(std::size_t most) {
  if (so_far_ == nullptr) return 0;
  const auto& by_count = so_far_->by_count;
  const auto after = by_count.upper_bound(most);
  if (after == by_count.begin()) return 0;
  const auto& [count, found] = *std::prev(after);
  const auto& seen = so_far_->seen;
  best_ = found.best;
  seen_.assign(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(found.seen));
  return count;
}

void FewTrees::leave_off(std::size_t count) const {
  if (so_far_ == nullptr || !complete_ || !std::has_single_bit(count)) return;
  so_far_->by_count[count] = {best_, seen_.size()};
  if (seen_.size() > so_far_->seen.size()) so_far_->seen = seen_;
}

TreesFound FewTrees::run() {
  const std::size_t all = packing_.trees.size();
  const std::size_t most = options_.max_trees > 0 ? std::min(options_.max_trees, all) : all;
  std::unique_lock<std::mutex> lock;
  if (so_far_ != nullptr) lock = std::unique_lock(so_far_->mutex);
  std::size_t tried = resume(most);
  if (tried == 0) try_single_trees();
  try {
    while (!good_enough() && tried != most && !out_of_time()) {
      const std::size_t count = tried == 0 ? 1 : next_count(tried, most);
      if (count >= all) break;
      try_count(count);
      leave_off(count);
      tried = count;
    }
  } catch (const LimitReached&) {
    complete_ = false;
  }
  if (!good_enough()) {
    take(trimmed(packing_.trees, packing_.rate * (1 - options_.gap / 2)), most);
  }
  if (!complete_ && most < all) {
    take(thinned(problem_, packing_.trees, packing_.rate, most, options_.deadline), most);
  }
  if (good_enough()) best_ = trimmed(best_, packing_.bound * (1 - options_.gap));
  return {best_, complete_};
}

// These trees with their rates multiplied by one factor, so that the busiest resource is full.
std::vector<PackedTree> filled(const PackingProblem& problem, std::vector<PackedTree> trees) {
  std::vector<double> load(static_cast<std::size_t>(problem.occupation.rows()), 0.0);
  for (const PackedTree& packed : trees) {
    const std::vector<double> more = tree_load(problem.occupation, packed.tree);
    for (std::size_t r = 0; r < load.size(); ++r) load[r] += packed.rate * more[r];
  }
  const double busiest = *std::max_element(load.begin(), load.end());
  for (PackedTree& packed : trees) packed.rate /= busiest;
  return trees;
}

}  // namespace

std::optional<HostArcs> arcs_to_search(const PackingProblem& problem,
                                       const std::vector<double>& prices,
                                       const Deadline& deadline) {
  constexpr std::size_t kMost = 1'000'000;
  constexpr double kTieBreak = 1e-9;
  const std::size_t hosts = problem.graph.host_count();
  if (problem.graph.has_relays() && hosts * hosts > kMost) return std::nullopt;
  std::vector<double> cost(problem.graph.arc_count(), 0.0);
  for (std::size_t arc = 0; arc < cost.size(); ++arc) {
    for (SparseMatrix::InnerIterator it(problem.occupation, static_cast<Eigen::Index>(arc)); it;
         ++it) {
      cost[arc] += it.value() * (prices[static_cast<std::size_t>(it.row())] + kTieBreak);
    }
  }
  return HostArcs(problem.graph, problem.occupation, cost, deadline);
}

std::vector<PackedTree> with_best_rates(const PackingProblem& problem,
                                        const std::vector<RoutedTree>& trees, double unit_rate,
                                        const Deadline& deadline) {
  constexpr double kNextToNothing = 1e-11;
  PackingMaster master({problem.graph, problem.root, problem.occupation}, unit_rate);
  for (const RoutedTree& tree : trees) master.add_tree(tree);
  std::vector<PackedTree> packed;
  if (master.solve(deadline) != LpStatus::kOptimal) {
    for (const RoutedTree& tree : trees) packed.push_back({tree, 1});
    return packed.empty() ? packed : filled(problem, std::move(packed));
  }
  for (std::size_t i = 0; i < master.tree_count(); ++i) {
    if (master.rates()[i] > kNextToNothing)
      packed.push_back({master.tree(i), master.rates()[i] * unit_rate});
  }
  return packed;
}

std::vector<PackedTree> thinned(const PackingProblem& problem, std::vector<PackedTree> trees,
                                double unit_rate, std::size_t count, const Deadline& deadline) {
  while (trees.size() > count) {
    std::stable_sort(trees.begin(), trees.end(),
                     [](const PackedTree& a, const PackedTree& b) { return a.rate > b.rate; });
    if (deadline.passed()) {
      trees.resize(count);
      return filled(problem, std::move(trees));
    }
    const std::size_t excess = trees.size() - count;
    trees.resize(trees.size() - std::max<std::size_t>(1, excess / 4));
    trees = with_best_rates(problem, trees_of(trees), unit_rate, deadline);
  }
  return trees;
}

TreesFound pack_few_trees(const PackingProblem& problem, const Packing& packing,
                          const FewTreesOptions& options) {
  return FewTrees(problem, packing, options).run();
}

TreesFound flatten_trees(const PackingProblem& problem, const Packing& packing,
                         const std::vector<PackedTree>& trees, const Deadline& deadline,
                         DepthIn depth) try {
  const std::optional<HostArcs> arcs = arcs_to_search(problem, packing.prices, deadline);
  if (!arcs) return {trees};
  TreeSet set(*arcs, problem.root);
  for (const PackedTree& packed : trees) {
    if (!set.add(packed.tree, packed.rate)) return {trees};
  }
  // Where relays allow several paths, the set's paths may differ from those of the trees and
  // overload a resource.
  constexpr double kFull = 1 + 1e-9;
  if (set.busiest_load() > kFull) return {trees};
  const bool complete = set.flatten(kFull, depth, deadline);
  // Flattening fills some resources and relieves others, so the old rates are no longer a basic
  // solution: there may be more trees than saturated resources.
  constexpr double kRounding = 1e-9;
  std::vector<PackedTree> basic = with_best_rates(problem, set.trees(), packing.rate, deadline);
  if (total_rate(basic) < total_rate(trees) * (1 - kRounding)) return {trees, complete};
  return {std::move(basic), complete};
} catch (const LimitReached&) {
  return {trees, false};
}

}  // namespace espalier::lp
