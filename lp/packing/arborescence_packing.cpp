#include "lp/packing/arborescence_packing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "lp/bounds/plain_bound.hpp"
#include "lp/graph/any_tree.hpp"
#include "lp/packing/packing_master.hpp"
#include "lp/packing/slow_arcs.hpp"
#include "lp/packing/tree_pricer.hpp"

namespace espalier::lp {

namespace {

double max_of(std::span<const double> values) {
  return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
}

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Multiplicative weights of the resources (Plotkin, Shmoys, Tardos, Math. Oper. Res. 20, 1995,
// doi:10.1287/moor.20.2.257): proportional to exp(step * load so far).
class MultiplicativeWeights {
 public:
  // start: logarithms of the first weights, one per resource.
  MultiplicativeWeights(std::vector<double> start, double step)
      : step_(step), exponent_(std::move(start)), weight_(exponent_.size()) {}

  // load * scale should be near 1 on a full resource; far larger values are capped.
  void add(std::span<const double> load, double scale) {
    constexpr double kFarAbove = 100;
    for (std::size_t r = 0; r < exponent_.size(); ++r) {
      exponent_[r] += step_ * std::min(load[r] * scale, kFarAbove);
    }
  }
  // Sum 1. Valid until the next call.
  std::span<const double> normalised() {
    const double top = max_of(exponent_);
    for (std::size_t r = 0; r < exponent_.size(); ++r) weight_[r] = std::exp(exponent_[r] - top);
    const double sum = sum_of(weight_);
    for (double& weight : weight_) weight /= sum;
    return weight_;
  }

 private:
  double step_;
  std::vector<double> exponent_;
  std::vector<double> weight_;
};

// Logarithms of the first prices. They reflect how much each resource can carry in total: a
// resource of many arcs (a port), by the bytes per second that it carries on average over its arcs.
// A resource of one arc (a link) alone limits little and starts low. With every sender saturated,
// as on clusters of heterogeneous senders, these prices are the optimal ones.
// arcs: per resource, how many arcs occupy it.
std::vector<double> first_weights(const SparseMatrix& occupation,
                                  std::span<const std::uint32_t> arcs) {
  constexpr double kSingleArc = -6;
  std::vector<double> sum(static_cast<std::size_t>(occupation.rows()), 0.0);
  for (Eigen::Index arc = 0; arc < occupation.outerSize(); ++arc) {
    for (SparseMatrix::InnerIterator it(occupation, arc); it; ++it) {
      sum[static_cast<std::size_t>(it.row())] += it.value();
    }
  }
  std::vector<double> weight(sum.size());
  for (std::size_t r = 0; r < sum.size(); ++r) {
    if (arcs[r] == 0) {
      weight[r] = -std::numeric_limits<double>::infinity();  // a row that no arc occupies
      continue;
    }
    weight[r] = std::log(arcs[r] / sum[r]) + (arcs[r] == 1 ? kSingleArc : 0);
  }
  return weight;
}

// How many trees are made between two solutions of the master.
struct Effort {
  std::size_t warm_rounds;   // of multiplicative weights
  std::size_t kept;          // of the trees made so far, the last ones
  std::size_t batch;         // trees priced at one solution's prices
  std::size_t forget_after;  // solutions without use, where there are many columns
};

// A tree of many parts is a column for each of them: few of them fill the master, whose solutions
// then take most of the time. Paths are found so fast that more rounds before it pay
// (plan_for_several_roots of bench/planning_bench.cpp).
Effort effort_for(const PackingProblem& problem) {
  if (part_count(problem) <= 2) return {60, SIZE_MAX, 15, 50};
  if (problem.routes != nullptr) return {60, 10, 2, 8};
  return {10, 4, 2, 8};
}

class Packer {
 public:
  Packer(const PackingProblem& problem, const PackingOptions& options)
      : problem_(problem),
        options_(options),
        effort_(effort_for(problem)),
        arcs_per_resource_(arcs_per_resource(problem.occupation)),
        best_prices_(static_cast<std::size_t>(problem.occupation.rows()), 0.0) {}

  Packing run();

 private:
  [[nodiscard]] bool out_of_time() const {
    return options_.deadline.passed() || result_.arborescences_priced >= options_.max_iterations;
  }
  [[nodiscard]] bool gap_reached() const {
    return result_.bound <= (1 + options_.gap) * result_.rate;
  }

  void start_from_plain_bound();
  void take_best(const std::vector<RoutedTree>& trees);
  RoutedTree price(std::span<const double> prices);
  void improve_bound(std::span<const double> prices, double bound);
  bool seeds_do();
  void warm_up(std::vector<RoutedTree>& trees);
  [[nodiscard]] std::vector<double> without_single_arcs(std::span<const double> prices) const;
  void generate_columns(PackingMaster& master, double unit_rate);
  bool add_trees(PackingMaster& master, double unit_rate);
  bool add(PackingMaster& master, RoutedTree tree) const;
  void take_solution(const PackingMaster& master, double unit_rate);
  void report();

  const PackingProblem& problem_;
  const PackingOptions& options_;
  const Effort effort_;
  std::optional<TreePricer> pricer_;  // made when first needed: with relays it holds hosts^2 arcs
  double last_report_ = 0;
  std::vector<std::uint32_t> arcs_per_resource_;
  std::vector<double> best_prices_;  // sum 1; the certificate of result_.bound
  std::optional<SlowArcs> slow_arcs_;
  Packing result_;
};

// Prices a tree and updates the bound from it. prices: >= 0, not all 0. Throws LimitReached.
RoutedTree Packer::price(std::span<const double> prices) {
  if (!pricer_) pricer_.emplace(problem_, options_.deadline);
  PricedTree priced = pricer_->cheapest_tree(prices);
  ++result_.arborescences_priced;
  const double least = priced.at_least.value_or(priced.cost);
  if (least > 0) improve_bound(prices, sum_of(prices) / least);
  return std::move(priced.tree);
}

void Packer::improve_bound(std::span<const double> prices, double bound) {
  if (!(bound < result_.bound)) return;
  result_.bound = bound;
  const double sum = sum_of(prices);
  for (std::size_t r = 0; r < prices.size(); ++r) best_prices_[r] = prices[r] / sum;
}

void Packer::start_from_plain_bound() {
  if (problem_.routes != nullptr || !problem_.is_member.empty()) return;
  const PlainBound plain = plain_bound(problem_);
  if (!plain.prices.empty()) improve_bound(plain.prices, plain.rate);
}

// The best single tree scales the master, and is the result if the time is up before the master is
// solved.
void Packer::take_best(const std::vector<RoutedTree>& trees) {
  for (const RoutedTree& tree : trees) {
    const double rate = 1 / max_of(tree_load(problem_.occupation, tree));
    if (rate <= result_.rate) continue;
    result_.rate = rate;
    result_.trees = {{tree, rate}};
  }
}

// Resources of one arc share little of what limits a large network, but among many small prices
// they make up for much of the sum.
std::vector<double> Packer::without_single_arcs(std::span<const double> prices) const {
  std::vector<double> kept(prices.begin(), prices.end());
  for (std::size_t r = 0; r < kept.size(); ++r) {
    if (arcs_per_resource_[r] == 1) kept[r] = 0;
  }
  return kept;
}

// Every round's tree is likely to be a useful column, and the weights approach good prices. The
// first round runs whatever the limits, unless it alone takes long, so that there is a tree.
void Packer::warm_up(std::vector<RoutedTree>& trees) {
  const auto evaluate = [&](const std::vector<double>& prices) {
    if (sum_of(prices) > 0 && !out_of_time()) trees.push_back(price(prices));
  };
  evaluate(options_.prices);
  evaluate(std::vector(best_prices_));  // the plain bound's: their cheapest tree may prove more
  MultiplicativeWeights weights(first_weights(problem_.occupation, arcs_per_resource_), 0.5);
  for (std::size_t round = 0; round < effort_.warm_rounds; ++round) {
    if (round > 0 && out_of_time()) break;
    trees.push_back(price(weights.normalised()));
    const std::vector<double> load = tree_load(problem_.occupation, trees.back());
    if (round == 0) evaluate(without_single_arcs(weights.normalised()));
    weights.add(load, 1 / max_of(load));
    report();
  }
  evaluate(without_single_arcs(best_prices_));
}

// Whether no other trees are needed: the best seed reaches a plain bound, or the prices of the
// seeds' own packing prove it. Then the result is complete.
bool Packer::seeds_do() {
  if (!options_.seeds_may_do || options_.seeds.empty()) return false;
  if (!gap_reached()) {
    PackingMaster master(problem_, result_.rate);
    for (const RoutedTree& tree : options_.seeds) master.add_tree(tree);
    if (master.solve(options_.deadline) != LpStatus::kOptimal) return false;
    take_solution(master, result_.rate);
    result_.master_solves = master.solves();
    if (!gap_reached()) price(master.prices());
  }
  if (!gap_reached()) return false;
  result_.prices = best_prices_;
  result_.pool = options_.seeds;
  return true;
}

Packing Packer::run() {
  std::vector<RoutedTree> trees = options_.seeds;
  start_from_plain_bound();
  take_best(trees);
  try {
    if (seeds_do()) return std::move(result_);
    warm_up(trees);
  } catch (const LimitReached&) {
    if (trees.empty()) trees.push_back(any_tree(problem_.graph, problem_.root));
  }
  take_best(trees);
  if (const std::size_t made = trees.size() - options_.seeds.size(); made > effort_.kept) {
    const auto first = trees.begin() + static_cast<std::ptrdiff_t>(options_.seeds.size());
    trees.erase(first, trees.end() - static_cast<std::ptrdiff_t>(effort_.kept));
  }
  const double unit_rate = result_.rate;
  slow_arcs_.emplace(problem_.occupation, unit_rate);
  PackingMaster master(problem_, unit_rate);
  for (RoutedTree& tree : trees) add(master, std::move(tree));
  try {
    generate_columns(master, unit_rate);
  } catch (const LimitReached&) {
    result_.end = gap_reached() ? PackingEnd::kGapReached : PackingEnd::kLimit;
  }
  result_.master_solves = master.solves();
  result_.prices = best_prices_;
  result_.pool = master.whole_trees();
  return std::move(result_);
}

void Packer::generate_columns(PackingMaster& master, double unit_rate) {
  for (;;) {
    const LpStatus status = master.solve(options_.deadline);
    if (status == LpStatus::kOptimal) take_solution(master, unit_rate);
    report();
    if (gap_reached()) {
      result_.end = PackingEnd::kGapReached;
      return;
    }
    if (status == LpStatus::kLimit || out_of_time()) {
      result_.end = PackingEnd::kLimit;
      return;
    }
    if (status != LpStatus::kOptimal || !add_trees(master, unit_rate)) {
      // The time may also have run out within the batch, before it found a new tree.
      const PackingEnd open = out_of_time() ? PackingEnd::kLimit : PackingEnd::kStalled;
      result_.end = gap_reached() ? PackingEnd::kGapReached : open;
      return;
    }
    master.forget(200 + 3 * master.row_count(), effort_.forget_after);
  }
}

// Adds a batch of trees. The first is priced at the master's own duals: if the master already has
// it, the duals are exact. The others are priced close to the best prices so far (smoothing after
// Wentges, Int. Trans. Opl. Res. 4, 1997), blended with weights that grow with the load of the
// batch and of the master's solution. Equally cheap trees differ most in the resources whose price
// is zero; the blend makes them share those instead of overloading one after the other. false: the
// master already had every tree of the batch.
bool Packer::add_trees(PackingMaster& master, double unit_rate) {
  constexpr double kBlend =
      0.03;  // share of the weights; a tenth of it for every second of the later trees of a batch
  constexpr double kTieBreak = 1e-9;  // share of the weights in the first tree
  const std::span<const double> duals = master.prices();
  const double dual_sum = sum_of(duals);
  if (!(dual_sum > 0)) return false;
  MultiplicativeWeights weights(std::vector<double>(duals.size(), 0.0), 0.3);
  weights.add(master.loads(), 33.0);
  bool added = false;
  std::vector<double> prices(duals.size());
  for (std::size_t k = 0; k < effort_.batch && !gap_reached() && !out_of_time(); ++k) {
    constexpr double kSmoothing = 0.8;  // weight of the best prices so far
    const double smoothing = k == 0 ? 0 : kSmoothing;
    const double blend = k == 0 ? kTieBreak : (k % 2 == 0 ? kBlend : kBlend / 10);
    const std::span<const double> weight = weights.normalised();
    for (std::size_t r = 0; r < duals.size(); ++r) {
      const double smooth = smoothing * best_prices_[r] + (1 - smoothing) * duals[r] / dual_sum;
      prices[r] = (1 - blend) * smooth + blend * weight[r];
    }
    RoutedTree tree = price(prices);
    weights.add(tree_load(problem_.occupation, tree), unit_rate);
    added |= add(master, std::move(tree));
  }
  if (added || gap_reached() || out_of_time()) return added;
  // Where rates are many decades apart, even the tie break outweighs a dual: the duals alone, with
  // prices that keep trees off slow arcs, decide whether a tree is missing.
  for (std::size_t r = 0; r < duals.size(); ++r) {
    prices[r] = std::max(duals[r], slow_arcs_->prices()[r]);
  }
  return add(master, price(prices));
}

bool Packer::add(PackingMaster& master, RoutedTree tree) const {
  // Parts may be so small that no arc is too slow for them.
  const bool is_slow = problem_.routes == nullptr && slow_arcs_->any_in(tree);
  return !is_slow && master.add_tree(std::move(tree));
}

void Packer::take_solution(const PackingMaster& master, double unit_rate) {
  const double rate = master.total() * unit_rate;
  if (rate <= result_.rate) return;
  result_.rate = rate;
  result_.trees = master.packed();
}

void Packer::report() {
  if (!options_.on_progress) return;
  const double now = options_.deadline.elapsed().value;
  if (now - last_report_ < 0.2) return;
  last_report_ = now;
  options_.on_progress({{now}, result_.arborescences_priced, {result_.rate}, {result_.bound}});
}

}  // namespace

std::uint32_t free_root_of(const RoutedTree& tree, std::uint32_t part_arcs,
                           std::uint32_t root_arcs) {
  if (root_arcs == 0) return 0;
  const std::uint32_t first = part_arcs - root_arcs;
  for (const std::uint32_t arc : tree.arcs) {
    if (arc % part_arcs >= first) return arc % part_arcs - first;
  }
  throw std::logic_error("a tree without a root");
}

double total_rate(std::span<const PackedTree> trees) {
  return std::accumulate(trees.begin(), trees.end(), 0.0,
                         [](double sum, const PackedTree& tree) { return sum + tree.rate; });
}

Packing pack_arborescences(const PackingProblem& problem, const PackingOptions& options) {
  return Packer(problem, options).run();
}

}  // namespace espalier::lp
