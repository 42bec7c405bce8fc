#include "lp/dense/proportional_trees.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/dense/cheapest_from.hpp"
#include "lp/graph/rooted_tree.hpp"
#include "lp/random_numbers.hpp"

namespace espalier::lp {

namespace {

// Of all turns; unset: there are several.
std::optional<std::uint32_t> only_root(std::span<const Turn> turns) {
  const std::uint32_t first = turns.front().root;
  const bool is_only = std::ranges::all_of(turns, [&](const Turn& t) { return t.root == first; });
  return is_only ? std::optional(first) : std::nullopt;
}

// Rates are multiples of the bound, and a resource's capacity is 1.
class ProportionalTrees {
 public:
  ProportionalTrees(const PackingProblem& problem, const HostArcs& arcs,
                    std::span<const double> prices, double bound,
                    std::span<const double> least_uses, std::span<const Turn> turns,
                    const ProportionalOptions& options, const Deadline& deadline);

  std::vector<PackedTree> run();

 private:
  // What the tree under construction would leave of a resource, in units of the tree's rate: more
  // than its proportion (target), and than the trees after it cannot do without (least). Both sink
  // as the tree loads it.
  struct Left {
    double target;
    double least;
    float if_more;  // weights of the square of target where it is positive: 0 or 1
    float if_less;  // and where it is negative
  };
  struct Use {
    std::uint32_t resource;
    double load;  // by a tree of rate 1
  };
  // The arcs into a host and their uses lie next to each other: the search reads little else.
  struct InArc {
    std::uint32_t arc;
    std::uint32_t tail;
    std::uint32_t first_use;
    std::uint32_t last_use;
    double cost;  // at the prices: a cheapest tree costs 1
  };
  struct Made {
    std::uint32_t root;
    double rate;
    std::vector<std::uint32_t> arcs;  // per host but the root
  };

  [[nodiscard]] std::span<const Use> uses(const InArc& in) const {
    return {uses_.data() + in.first_use, in.last_use - in.first_use};
  }
  static double penalty(const Left& left, double target, double least) {
    constexpr double kOfOverload = 400;
    const double over = std::min(least, 0.0);
    return (target < 0 ? left.if_less : left.if_more) * target * target + kOfOverload * over * over;
  }
  void list_arcs();
  void aim(double rate, double rest_after);
  void load(const InArc& in, double sign);
  [[nodiscard]] double growth(const InArc& in) const;
  [[nodiscard]] std::span<const std::uint32_t> first_tree(const Made& made, double rest);
  void measure_depths(const RootedTree& tree);
  bool improve(RootedTree& tree);
  bool rehang(RootedTree& tree, std::uint32_t host);
  bool make(std::span<const std::uint32_t> start, double rest_after, Made& made);
  void use(const Made& made, double sign);
  [[nodiscard]] double busiest() const { return 1 - std::ranges::min(free_); }
  [[nodiscard]] bool is_too_dear() const;
  void improve_again();
  [[nodiscard]] std::vector<PackedTree> filled() const;

  const HostArcs& arcs_;
  double bound_;
  std::span<const Turn> turns_;
  const ProportionalOptions& options_;
  double total_;               // rate of all trees
  std::vector<double> price_;  // per resource, sum 1
  std::vector<double> least_;  // per resource: the load of any tree of rate 1
  std::vector<Use> uses_;
  std::vector<InArc> in_arcs_;           // by head
  std::vector<std::uint32_t> first_in_;  // per node, and the end of the last one
  std::vector<std::uint32_t> in_of_;     // per arc: its place in in_arcs_
  std::vector<double> free_;             // per resource: what the trees made so far leave
  std::vector<Left> left_;
  std::vector<double> depth_;  // per node, before the current sweep or after a move in it
  std::vector<std::uint32_t> walk_;
  std::uint32_t root_;                // of the current tree
  std::vector<std::uint32_t> hosts_;  // all others
  CheapestFrom cheapest_;
  RandomNumbers random_{1};
  DeadlineWatch watch_;
  std::vector<double> cost_;  // per arc, of the search for a first tree
  std::vector<Made> made_;
  double excess_ = 0;  // of the cost of trees made so far, beyond that of cheapest ones
};

ProportionalTrees::ProportionalTrees(const PackingProblem& problem, const HostArcs& arcs,
                                     std::span<const double> prices, double bound,
                                     std::span<const double> least_uses,
                                     std::span<const Turn> turns,
                                     const ProportionalOptions& options, const Deadline& deadline)
    : arcs_(arcs),
      bound_(bound),
      turns_(turns),
      options_(options),
      total_(1 - options.loss),
      price_(prices.begin(), prices.end()),
      least_(least_uses.begin(), least_uses.end()),
      in_of_(arcs.size()),
      free_(price_.size(), 1.0),
      left_(price_.size()),
      depth_(arcs.node_count(), 0.0),
      root_(turns.front().root),
      cheapest_(problem.graph, only_root(turns), deadline),
      watch_(deadline),
      cost_(arcs.size()) {
  constexpr double kPriced = 1e-6;
  const double sum = std::accumulate(price_.begin(), price_.end(), 0.0);
  for (double& price : price_) price /= sum;
  for (double& least : least_) least *= bound;
  list_arcs();
  const std::vector<std::uint32_t> arcs_of = arcs_per_resource(problem);
  for (std::size_t r = 0; r < left_.size(); ++r) {
    left_[r].if_more = price_[r] > kPriced ? 1 : 0;
    left_[r].if_less = price_[r] > kPriced || arcs_of[r] > 1 ? 1 : 0;
  }
}

void ProportionalTrees::list_arcs() {
  for (std::uint32_t node = 0; node < arcs_.node_count(); ++node) {
    if (node != root_) hosts_.push_back(node);
    first_in_.push_back(static_cast<std::uint32_t>(in_arcs_.size()));
    for (const std::uint32_t arc : arcs_.into(node)) {
      const auto first = static_cast<std::uint32_t>(uses_.size());
      double cost = 0;
      for (const auto& [resource, seconds] : arcs_.uses(arc)) {
        uses_.push_back({resource, seconds * bound_});
        cost += price_[resource] * seconds * bound_;
      }
      in_of_[arc] = static_cast<std::uint32_t>(in_arcs_.size());
      in_arcs_.push_back(
          {arc, arcs_.tail(arc), first, static_cast<std::uint32_t>(uses_.size()), cost});
    }
  }
  first_in_.push_back(static_cast<std::uint32_t>(in_arcs_.size()));
}

// Sets left_ for a tree of `rate` without arcs; rest_after: of the rate, for the trees after it.
void ProportionalTrees::aim(double rate, double rest_after) {
  const double scale = total_ / rate;
  for (std::size_t r = 0; r < left_.size(); ++r) {
    left_[r].target = (free_[r] - rest_after / total_) * scale;
    left_[r].least = (free_[r] - rest_after * least_[r]) * scale;
  }
}

void ProportionalTrees::load(const InArc& in, double sign) {
  for (const auto& [resource, load] : uses(in)) {
    left_[resource].target -= sign * total_ * load;
    left_[resource].least -= sign * total_ * load;
  }
}

// Of the objective, if the tree gets this arc.
double ProportionalTrees::growth(const InArc& in) const {
  double sum = options_.of_cost * static_cast<double>(hosts_.size()) * in.cost;
  for (const auto& [resource, load] : uses(in)) {
    const Left& left = left_[resource];
    const double more = total_ * load;
    sum += penalty(left, left.target - more, left.least - more) -
           penalty(left, left.target, left.least);
  }
  return sum;
}

// The cheapest at prices that are higher where less than its proportion is left, without arcs that
// have not enough left.
std::span<const std::uint32_t> ProportionalTrees::first_tree(const Made& made, double rest) {
  constexpr double kNoise = 1e-3;
  constexpr double kTooDear = 1e3;  // times the cheapest tree
  for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
    double cost = 0;
    bool fits = true;
    for (const auto& [r, load] : uses(in_arcs_[in_of_[arc]])) {
      const double missing = std::clamp(1 - free_[r] * total_ / rest, -1.0, 1.0);
      cost += price_[r] * (1 + missing) * load;
      fits = fits && made.rate * load <= free_[r] - (rest - made.rate) * least_[r];
    }
    cost_[arc] = cost * (1 + kNoise * random_.share()) + (fits ? 0 : kTooDear);
  }
  watch_.require(8 * arcs_.size());
  return cheapest_.solve(made.root, cost_);
}

// Of all nodes, in edges from the root.
void ProportionalTrees::measure_depths(const RootedTree& tree) {
  depth_[root_] = 0;
  walk_.assign(1, root_);
  for (std::size_t i = 0; i < walk_.size(); ++i) {
    const std::uint32_t node = walk_[i];
    for (std::uint32_t child = tree.first_child(node); child != kNone;
         child = tree.next_sibling(child)) {
      depth_[child] = depth_[node] + 1;
      walk_.push_back(child);
    }
  }
}

bool ProportionalTrees::rehang(RootedTree& tree, std::uint32_t host) {
  constexpr double kRounding = 1e-9;
  const InArc& old = in_arcs_[in_of_[tree.parent_arc(host)]];
  load(old, -1);
  const InArc* best = &old;
  double least = growth(old) + options_.of_depth * depth_[old.tail];
  least -= kRounding * std::abs(least);
  for (std::uint32_t i = first_in_[host]; i < first_in_[host + 1]; ++i) {
    const InArc& in = in_arcs_[i];
    const double grown = growth(in) + options_.of_depth * depth_[in.tail];
    if (grown >= least || tree.is_below(in.tail, host)) continue;
    best = &in;
    least = grown;
  }
  load(*best, 1);
  if (best == &old) return false;
  tree.move(best->arc);
  depth_[host] = depth_[best->tail] + 1;
  return true;
}

// One sweep over all hosts; false: the tree is as before.
bool ProportionalTrees::improve(RootedTree& tree) {
  for (std::size_t i = hosts_.size(); i > 1; --i) {
    std::swap(hosts_[i - 1], hosts_[random_.below(i)]);
  }
  measure_depths(tree);
  bool changed = false;
  for (const std::uint32_t host : hosts_) {
    watch_.require(std::size_t{8} * (first_in_[host + 1] - first_in_[host]));
    changed |= rehang(tree, host);
  }
  return changed;
}

bool ProportionalTrees::make(std::span<const std::uint32_t> start, double rest_after, Made& made) {
  if (start.size() != hosts_.size()) return false;
  std::ranges::replace(hosts_, made.root, std::exchange(root_, made.root));
  RootedTree tree(arcs_, root_);
  aim(made.rate, rest_after);
  for (const std::uint32_t arc : start) {
    tree.attach(arc);
    load(in_arcs_[in_of_[arc]], 1);
  }
  for (int sweep = 0; sweep < options_.sweeps && improve(tree); ++sweep) {
  }
  made.arcs.clear();
  for (std::uint32_t node = 0; node < arcs_.node_count(); ++node) {
    if (node != root_) made.arcs.push_back(tree.parent_arc(node));
  }
  return true;
}

void ProportionalTrees::use(const Made& made, double sign) {
  double cost = 0;
  for (const std::uint32_t arc : made.arcs) {
    cost += in_arcs_[in_of_[arc]].cost;
    for (const auto& [resource, load] : uses(in_arcs_[in_of_[arc]])) {
      free_[resource] -= sign * made.rate * load;
    }
  }
  excess_ += sign * made.rate * (cost - options_.least_cost);
}

// The priced load of all trees is the sum of their costs, and the busiest resource has no less.
bool ProportionalTrees::is_too_dear() const {
  return options_.gives_up && excess_ > (1 / options_.enough - options_.least_cost) * total_;
}

std::vector<PackedTree> ProportionalTrees::filled() const {
  const double most = busiest();
  std::vector<PackedTree> trees;
  for (const Made& made : made_) {
    trees.push_back({{made.arcs, {}}, made.rate * bound_ / most});
  }
  return trees;
}

// The last tree first.
void ProportionalTrees::improve_again() {
  for (std::size_t k = made_.size(); k-- > 0;) {
    Made& made = made_[k];
    use(made, -1);
    const std::vector<std::uint32_t> start = made.arcs;
    make(start, 0, made);
    use(made, 1);
  }
}

std::vector<PackedTree> ProportionalTrees::run() {
  double rest = total_;
  for (const auto& [root, share] : turns_) {
    Made made{root, share * total_, {}};
    const double rest_after = std::max(0.0, rest - made.rate);
    if (!make(first_tree(made, rest), rest_after, made)) return {};
    use(made, 1);
    if (is_too_dear()) return {};
    made_.push_back(std::move(made));
    rest = rest_after;
  }
  double before = 0;
  for (int pass = 0; pass < options_.passes; ++pass) {
    const double reached = total_ / busiest();
    if (reached >= options_.enough || reached <= before) break;
    before = reached;
    improve_again();
  }
  return filled();
}

}  // namespace

std::vector<Turn> falling_turns(std::uint32_t root, std::size_t trees, double share) {
  std::vector<Turn> turns;
  double rest = 1;
  for (std::size_t k = 1; k <= trees; ++k) {
    turns.push_back({root, k < trees ? share * rest : rest});
    rest -= turns.back().rate;
  }
  return turns;
}

std::vector<PackedTree> proportional_trees(const PackingProblem& problem, const HostArcs& arcs,
                                           std::span<const double> prices, double bound,
                                           std::span<const double> least_uses,
                                           std::span<const Turn> turns,
                                           const ProportionalOptions& options,
                                           const Deadline& deadline) try {
  return ProportionalTrees(problem, arcs, prices, bound, least_uses, turns, options, deadline)
      .run();
} catch (const LimitReached&) {
  return {};
}

}  // namespace espalier::lp
