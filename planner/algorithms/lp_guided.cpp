// The LP-based heuristics (HBT, "LP-based heuristics"). n_uv, the number of messages that cross arc
// (u, v) per time unit in the optimal packing, shows which arcs make a good tree. One heuristic
// prunes the arcs of the communication graph that carry the fewest messages, the other grows a tree
// along those that carry the most. Of arcs with the same n_uv the lighter one is preferred.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/growing_tree.hpp"
#include "planner/algorithms/reachability.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

// By arc between hosts: -n_uv in bytes per second, then the weight, so that the least is the most
// preferred. All paths through relays between two hosts are added to the one arc that represents
// them.
using Ranks = std::vector<std::pair<double, double>>;
Ranks ranks_of(const lp::HostArcs& arcs, const lp::Packing& packing) {
  Ranks ranks(arcs.size());
  for (const lp::PackedTree& packed : packing.trees) {
    for (const std::uint32_t arc : arcs.arcs_of(packed.tree)) ranks[arc].first -= packed.rate;
  }
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) ranks[arc].second = arcs.weight(arc);
  return ranks;
}

// The optimal packing of the model that guides: the instance's own, unless the options name another
// one. HBT states its linear program with one-port constraints and uses it under multi-port, too.
class Guide {
 public:
  Guide(const Instance& instance, const AlgorithmOptions& options) : instance_(instance) {
    constexpr double kPackingShare = 0.75;  // of the time; the rest is for the tree
    AlgorithmOptions own = options;
    if (options.guided_by.value_or(instance.model()) != instance.model()) {
      other_.emplace(instance.platform(), instance.source(), *options.guided_by,
                     instance.options());
      own.packing = nullptr;
      known_ = options.packing;
    }
    packing_.emplace(solved(), own, kPackingShare);
  }

  [[nodiscard]] const lp::Packing& packing() const { return packing_->get(); }
  // The tree, with the bound of the instance's own model where that is known.
  [[nodiscard]] Outcome outcome(lp::RoutedTree tree) const {
    if (!other_) return outcome_of(packing_problem(instance_), packing(), std::move(tree));
    if (known_ != nullptr) {
      return outcome_of(packing_problem(instance_), *known_, std::move(tree));
    }
    return single_tree(instance_, std::move(tree));
  }
  // Where the deadline passed before there was a tree: the best one of the packing.
  [[nodiscard]] Outcome best_of_packing() const {
    Outcome best = best_tree_of(packing_problem(solved()), packing());
    if (!other_) return best;
    Outcome outcome = this->outcome(std::move(best.trees.front().tree));
    outcome.ends.search = best.ends.search;
    return outcome;
  }

 private:
  [[nodiscard]] const Instance& solved() const { return other_ ? *other_ : instance_; }

  const Instance& instance_;
  std::optional<Instance> other_;
  const lp::Packing* known_ = nullptr;
  std::optional<PackingInUse> packing_;
};

// make(arcs, ranks): the tree; none, or LimitReached, where the deadline passed first.
template <class Make>
Outcome guided(const Instance& instance, const AlgorithmOptions& options, Make make) {
  const Guide guide(instance, options);
  try {
    const HostArcsInUse arcs(instance, options);
    std::optional<lp::RoutedTree> tree = make(arcs.get(), ranks_of(arcs.get(), guide.packing()));
    if (tree) return guide.outcome(*std::move(tree));
  } catch (const LimitReached&) {
  }
  return guide.best_of_packing();
}

}  // namespace

Outcome lp_prune(const Instance& instance, const AlgorithmOptions& options) {
  return guided(instance, options,
                [&](const lp::HostArcs& arcs, const Ranks& ranks) -> std::optional<lp::RoutedTree> {
                  std::vector<std::uint32_t> least_wanted_first(arcs.size());
                  std::iota(least_wanted_first.begin(), least_wanted_first.end(), 0U);
                  std::ranges::sort(least_wanted_first, std::greater<>(),
                                    [&](std::uint32_t arc) { return std::pair(ranks[arc], arc); });
                  Reachability reachability(instance, arcs, least_wanted_first, options.deadline);
                  if (!reachability.drop_all(least_wanted_first, options.deadline)) return {};
                  return reachability.tree();
                });
}

Outcome lp_grow(const Instance& instance, const AlgorithmOptions& options) {
  const auto root = static_cast<std::uint32_t>(instance.source());
  return guided(instance, options, [&](const lp::HostArcs& arcs, const Ranks& ranks) {
    return std::optional(grow_tree(
        arcs, root, options.deadline, [&](std::uint32_t arc) { return ranks[arc]; },
        [](std::uint32_t) {}));
  });
}

}  // namespace espalier::planner::tree_algorithms
