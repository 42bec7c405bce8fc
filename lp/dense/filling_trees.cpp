#include "lp/dense/filling_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "lp/bounds/plain_bound.hpp"
#include "lp/dense/cheapest_from.hpp"

namespace espalier::lp {

namespace {

// Rates are multiples of the bound, and a resource's capacity is 1.
class FillingTrees {
 public:
  FillingTrees(const PackingProblem& problem, const HostArcs& arcs, std::span<const double> prices,
               double bound, std::span<const PartRoot> roots, const Deadline& deadline)
      : arcs_(arcs),
        bound_(bound),
        prices_(prices),
        price_sum_(std::accumulate(prices.begin(), prices.end(), 0.0)),
        hosts_(arcs.node_count()),
        arcs_of_(arcs_per_resource(problem)),
        free_(prices.size(), 1.0),
        room_(hosts_),
        slack_(prices.size()),
        widest_(arcs.size()),
        cost_(arcs.size()),
        rest_of_(roots.begin(), roots.end()),
        cheapest_(problem.graph,
                  roots.size() == 1 ? std::optional(roots.front().root) : std::nullopt, deadline),
        watch_(deadline) {}

  std::vector<PackedTree> run(double gap) try {
    constexpr double kShare = 0.05;   // of the rate that is left, for each tree at most
    constexpr double kGrowth = 1.1;   // of the rate from tree to tree
    constexpr double kSmaller = 0.8;  // of the rate, where no tree of that rate is left
    constexpr double kLeast = 1e-3;   // of the gap: what a tree must carry
    constexpr double kTiny = 1e-9;    // or so much, where no gap is accepted
    double rate = kShare;
    while (rest_ > gap / (1 + gap) && rate > std::max(kLeast * gap, kTiny)) {
      PartRoot& root = *std::ranges::max_element(rest_of_, {}, &PartRoot::share);
      const double most = std::min(rate, root.share);
      if (!add_tree(root, most)) {
        rate = most * kSmaller;
      } else {
        rate = std::min(kGrowth * rate, kShare * rest_);
      }
    }
    return std::move(trees_);
  } catch (const LimitReached&) {
    return std::move(trees_);
  }

 private:
  [[nodiscard]] double load(const HostArcs::Use& use) const {
    return use.seconds_per_byte * bound_;  // of a tree of rate 1
  }

  // How much an arc may still carry.
  void measure_widths() {
    watch_.require(2 * arcs_.all_uses().size());
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      widest_[arc] = std::numeric_limits<double>::infinity();
      for (const HostArcs::Use& use : arcs_.uses(arc)) {
        widest_[arc] = std::min(widest_[arc], free_[use.resource] / load(use));
      }
    }
  }

  // What resources have left beyond what the rest needs of them, in multiples of that: of a link,
  // what comes into a host over all its links, and of others, what another edge needs.
  void measure_slack() {
    constexpr std::uint32_t kBothWays = 2;  // arcs of a link
    std::ranges::fill(room_, 0.0);
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      room_[arcs_.head(arc)] += widest_[arc] / rest_;
    }
    std::ranges::fill(slack_, std::numeric_limits<double>::infinity());
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      for (const HostArcs::Use& use : arcs_.uses(arc)) {
        const bool is_link = arcs_of_[use.resource] <= kBothWays;
        double& slack = slack_[use.resource];
        slack = std::min(
            slack, is_link ? room_[arcs_.head(arc)] : free_[use.resource] / (rest_ * load(use)));
      }
    }
  }

  [[nodiscard]] bool fits(std::uint32_t arc, double rate) const {
    constexpr double kRounding = 1e-9;
    return widest_[arc] >= rate * (1 - kRounding);
  }

  // A tree costs least that uses what is cheap, what has much left, and hosts with room. An arc's
  // terms count as often as it is wider than the rate, and as much as its slack.
  void set_costs(double rate) {
    constexpr double kOfPrice = 5;  // of a cheapest tree's mean arc
    constexpr double kMostSlack = 4;
    constexpr double kTooDear = 1e9;
    const double hosts = static_cast<double>(hosts_);
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      double slack = kMostSlack;
      double price = 0;
      for (const HostArcs::Use& use : arcs_.uses(arc)) {
        slack = std::min(slack, slack_[use.resource]);
        price += prices_[use.resource] / price_sum_ * load(use);
      }
      cost_[arc] = kOfPrice * hosts * price - widest_[arc] / rate - slack;
      if (!fits(arc, rate)) cost_[arc] += kTooDear;
    }
  }

  // One of at most that rate; false: there is none, or it would have to be much smaller.
  bool add_tree(PartRoot& root, double rate) {
    constexpr double kMuchSmaller = 0.5;
    measure_widths();
    measure_slack();
    set_costs(rate);
    const std::span<const std::uint32_t> tree = cheapest_.solve(root.root, cost_);
    if (tree.empty() || !std::ranges::all_of(tree, [&](auto arc) { return fits(arc, rate); })) {
      return false;
    }
    const double carried = std::min(rate, most_on(tree));
    if (carried < kMuchSmaller * rate) return false;
    for (const std::uint32_t arc : tree) {
      for (const HostArcs::Use& use : arcs_.uses(arc)) {
        free_[use.resource] = std::max(0.0, free_[use.resource] - carried * load(use));
      }
    }
    root.share -= carried;
    rest_ -= carried;
    trees_.push_back({{{tree.begin(), tree.end()}, {}}, carried * bound_});
    return true;
  }

  double most_on(std::span<const std::uint32_t> tree) {
    std::ranges::fill(slack_, 0.0);  // here the tree's load
    for (const std::uint32_t arc : tree) {
      for (const HostArcs::Use& use : arcs_.uses(arc)) slack_[use.resource] += load(use);
    }
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < slack_.size(); ++r) {
      if (slack_[r] > 0) most = std::min(most, free_[r] / slack_[r]);
    }
    return most;
  }

  const HostArcs& arcs_;
  double bound_;
  std::span<const double> prices_;
  double price_sum_;
  std::uint32_t hosts_;
  std::vector<std::uint32_t> arcs_of_;  // per resource
  std::vector<double> free_;            // per resource
  std::vector<double> room_;            // per node
  std::vector<double> slack_;           // per resource
  std::vector<double> widest_;          // per arc
  std::vector<double> cost_;            // per arc
  std::vector<PartRoot> rest_of_;       // what is left of each root's share
  CheapestFrom cheapest_;
  DeadlineWatch watch_;
  double rest_ = 1;
  std::vector<PackedTree> trees_;
};

}  // namespace

bool suits_filling_trees(const HostArcs& arcs, std::uint32_t root, double bound) {
  constexpr double kSingleTree = 0.25;                 // of the bound
  std::vector<double> widest(arcs.node_count(), 0.0);  // per node: the best arc into it, bytes/s
  widest[root] = bound;
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    double& into = widest[arcs.head(arc)];
    into = std::max(into, 1 / arcs.weight(arc));
  }
  return std::ranges::min(widest) < kSingleTree * bound;
}

std::vector<PackedTree> filling_trees(const PackingProblem& problem, const HostArcs& arcs,
                                      std::span<const double> prices, double bound,
                                      std::span<const PartRoot> roots, double gap,
                                      const Deadline& deadline) {
  return FillingTrees(problem, arcs, prices, bound, roots, deadline).run(gap);
}

}  // namespace espalier::lp
