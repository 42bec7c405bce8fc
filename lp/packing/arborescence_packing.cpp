#include "lp/packing/arborescence_packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/dense/filling_trees.hpp"
#include "lp/dense/proportional_trees.hpp"
#include "lp/graph/any_tree.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/packing_master.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "lp/prices/multiplicative_weights.hpp"
#include "lp/prices/price_descent.hpp"
#include "lp/prices/slow_arcs.hpp"

namespace espalier::lp {

namespace {

double max_of(std::span<const double> values) {
  return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
}

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
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
        gap_(options.gap),
        arcs_per_resource_(arcs_per_resource(problem)),
        best_prices_(static_cast<std::size_t>(problem.occupation.rows()), 0.0) {}

  Packing run();

 private:
  [[nodiscard]] bool out_of_time() const {
    return options_.deadline.passed() || result_.arborescences_priced >= options_.max_iterations ||
           (result_.arborescences_priced >= options_.far_after && gap() > options_.far_gap);
  }
  [[nodiscard]] bool gap_reached() const { return result_.bound <= (1 + gap_) * result_.rate; }

  void start_from_plain_bound();
  void take_best(const std::vector<RoutedTree>& trees);
  RoutedTree price(std::span<const double> prices);
  void improve_bound(std::span<const double> prices, double bound);
  bool seeds_do();
  void warm_up(std::vector<RoutedTree>& trees);
  [[nodiscard]] std::vector<double> without_single_arcs(std::span<const double> prices) const;
  [[nodiscard]] double gap() const { return result_.bound / result_.rate - 1; }
  [[nodiscard]] bool is_dense() const;
  void descend_prices();
  void pack_proportionally(PackingMaster& master);
  void generate_columns(PackingMaster& master, double unit_rate);
  bool add_trees(PackingMaster& master, double unit_rate);
  bool add(PackingMaster& master, RoutedTree tree) const;
  void take_solution(const PackingMaster& master, double unit_rate);
  void report() { progress_(result_.arborescences_priced, result_.rate, result_.bound); }

  const PackingProblem& problem_;
  const PackingOptions& options_;
  const Effort effort_;
  double gap_;  // accepted
  bool was_slow_ = false;
  std::optional<TreePricer> pricer_;  // made when first needed: with relays it holds hosts^2 arcs
  ProgressReport progress_{options_};
  std::vector<std::uint32_t> arcs_per_resource_;
  std::vector<double> best_prices_;  // sum 1; the certificate of result_.bound
  std::vector<double> least_uses_;   // per resource: of any tree
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
  PlainBound plain = plain_bound(problem_);
  if (!plain.prices.empty()) improve_bound(plain.prices, plain.rate);
  least_uses_ = std::move(plain.least_uses);
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

// Where trees made one after the other are worth trying: among few hosts columns do better.
bool Packer::is_dense() const {
  constexpr std::uint32_t kManyHosts = 128;
  return !problem_.graph.has_relays() && problem_.graph.node_count >= kManyHosts &&
         problem_.is_member.empty() && problem_.routes == nullptr && problem_.root_arcs == 0 &&
         part_count(problem_) <= 2;
}

void Packer::descend_prices() {
  PriceDescent(first_weights(problem_.occupation, arcs_per_resource_), arcs_per_resource_)
      .run(
          [&](std::span<const double> prices) {
            report();
            return tree_load(problem_.occupation, price(prices));
          },
          [&] { return result_.bound; }, [&] { return !out_of_time(); });
}

// Few trees of large shares first, then more (docs/methods.md, "Dense networks", on the
// parameters). Whole trees make a small linear program of their own;
// they become columns of the master only where that is not enough.
void Packer::pack_proportionally(PackingMaster& master) {
  descend_prices();
  const HostArcs arcs(problem_.graph, problem_.occupation,
                      std::vector<double>(problem_.graph.arc_count(), 0.0), options_.deadline);
  const auto take = [&](const std::vector<PackedTree>& trees) {
    const double rate = total_rate(trees);
    if (rate <= result_.rate) return;
    result_.rate = rate;
    result_.trees = trees;
  };
  if (suits_filling_trees(arcs, problem_.root, result_.bound)) {
    const std::vector<PackedTree> trees =
        filling_trees(problem_, arcs, best_prices_, result_.bound,
                      std::array{PartRoot{problem_.root, 1}}, gap_, options_.deadline);
    take(trees);
    report();
    if (gap_reached() || out_of_time()) return;
    for (const PackedTree& packed : trees) add(master, RoutedTree(packed.tree));
    return;
  }
  const double enough = 1 / (1 + gap_);
  const auto turns = [&](std::size_t trees, double share) {
    return falling_turns(problem_.root, trees, share);
  };
  for (const auto& [made, proportional] :
       {std::pair{
            turns(30, 0.25),
            ProportionalOptions{.loss = 1e-4, .of_cost = 30, .of_depth = 0.1, .enough = enough}},
        std::pair{
            turns(110, 0.06),
            ProportionalOptions{.loss = 5e-4, .of_cost = 50, .of_depth = 0, .enough = enough}},
        std::pair{
            turns(160, 0.04),
            ProportionalOptions{.loss = 3e-4, .of_cost = 50, .of_depth = 0, .enough = enough}}}) {
    const std::vector<PackedTree> trees =
        proportional_trees(problem_, arcs, best_prices_, result_.bound, least_uses_, made,
                           proportional, options_.deadline);
    take(trees);
    report();
    if (gap_reached() || out_of_time()) return;
    std::vector<RoutedTree> whole;
    for (const PackedTree& packed : trees) whole.push_back(packed.tree);
    take(with_best_rates(problem_, whole, result_.rate, options_.deadline));
    if (gap_reached() || out_of_time()) return;
    for (RoutedTree& tree : whole) add(master, std::move(tree));
  }
}

void Packer::generate_columns(PackingMaster& master, double unit_rate) {
  constexpr std::size_t kBatches = 5;  // before trees of another kind are tried
  constexpr double kStalled = 0.9;     // of the gap is left after another batch
  double last_gap = Packing::kUnbounded;
  for (std::size_t batch = 0;; ++batch) {
    const LpStatus status = master.solve(options_.deadline);
    if (status == LpStatus::kOptimal) take_solution(master, unit_rate);
    report();
    if (gap_reached()) break;
    if (status == LpStatus::kLimit || out_of_time()) {
      result_.end = PackingEnd::kLimit;
      return;
    }
    const bool is_slow = batch >= kBatches || (batch > 1 && gap() > kStalled * last_gap);
    if (is_slow && !std::exchange(was_slow_, is_slow) && is_dense()) {
      gap_ = std::max(gap_, options_.dense_gap);
      if (!gap_reached()) pack_proportionally(master);
      if (gap_reached()) break;
      continue;
    }
    last_gap = gap();
    if (status != LpStatus::kOptimal || !add_trees(master, unit_rate)) {
      // The time may also have run out within the batch, before it found a new tree.
      const PackingEnd open = out_of_time() ? PackingEnd::kLimit : PackingEnd::kStalled;
      result_.end = gap_reached() ? PackingEnd::kGapReached : open;
      return;
    }
    master.forget(200 + 3 * master.row_count(), effort_.forget_after);
  }
  result_.end = PackingEnd::kGapReached;
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

}  // namespace

std::uint32_t free_root_of(const RoutedTree& tree, std::uint32_t part_arcs,
                           std::uint32_t root_arcs) {
  if (root_arcs == 0) return 0;
  for (const std::uint32_t arc : tree.arcs) {
    const std::uint32_t number = root_number(arc, part_arcs, root_arcs);
    if (number != kNone) return number;
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
