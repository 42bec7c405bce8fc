#include "planner/problem/all_roots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "lp/packing/few_trees.hpp"
#include "lp/packing/low_latency_trees.hpp"
#include "lp/packing/shallow_trees.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "planner/algorithms/optimal.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/reach.hpp"
#include "planner/problem/shares.hpp"
#include "planner/solve/cluster_chains.hpp"
#include "planner/solve/dense_roots.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/first_root.hpp"
#include "planner/solve/ring_order.hpp"
#include "planner/solve/root_binomials.hpp"
#include "planner/solve/root_chains.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

NodeId first_host(Operation operation, const Platform& platform) {
  require_hosts(platform, with_article(operation));
  return platform.hosts().front();
}

// Sum 1.
std::vector<double> shares_for(std::vector<double> shares, Operation operation,
                               const Platform& platform) {
  if (!shares.empty() && !has_parts(operation)) {
    throw InputError(fmt::format("{} has no shares of hosts", with_article(operation)));
  }
  return normalised_shares(std::move(shares), platform.hosts().size(), 1);
}

lp::PartsProblem parts_of(Operation operation, const Instance& spread,
                          std::span<const double> shares) {
  const lp::Digraph& graph = spread.digraph();
  const lp::SparseMatrix& occupation = spread.occupation().seconds_per_byte;
  if (!has_parts(operation)) return lp::PartsProblem::with_any_root(graph, occupation);
  const bool reversed = has_blocks_of(BlockKind::kCombine, operation);
  const auto hosts = spread.platform().hosts();
  std::vector<lp::Part> parts;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (shares[i] == 0) continue;
    parts.push_back({static_cast<std::uint32_t>(index_of(hosts[i])), reversed, shares[i]});
  }
  return {graph, occupation, std::move(parts)};
}

// Whole trees that contain each tree of these blocks, with any tree of each.
void add_joined(const lp::PartsProblem& parts, std::span<const BlockOfTrees> blocks,
                std::vector<lp::RoutedTree>& seeds) {
  std::size_t most = 0;
  for (const BlockOfTrees& block : blocks) {
    if (block.trees.empty()) return;
    most = std::max(most, block.trees.size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    std::vector<lp::RoutedTree> trees;
    for (const BlockOfTrees& block : blocks) {
      trees.push_back(block.trees[i % block.trees.size()].tree);
    }
    seeds.push_back(parts.join(trees, blocks.front().root));
  }
}

// The blocks of an operation whose roots are free come in pairs, others all together.
void add_start(const AllRoots& problem, std::span<const BlockOfTrees> blocks,
               std::vector<lp::RoutedTree>& seeds) {
  if (blocks.empty()) return;
  const std::size_t together = problem.has_free_roots() ? 2 : blocks.size();
  for (std::size_t i = 0; i + together <= blocks.size(); i += together) {
    add_joined(problem.parts(), blocks.subspan(i, together), seeds);
  }
}

// At most options.max_trees whole trees, each of which has a tree for every root. One of the seeds
// alone, such as a ring, may be better than what is left of the packing.
void keep_few(const lp::PackingProblem& problem, const lp::PackingOptions& seeded,
              const AlgorithmOptions& options, lp::Packing& packed) {
  const double rate = lp::total_rate(packed.trees);
  if (packed.trees.size() <= options.max_trees || !(rate > 0)) return;
  packed.trees =
      lp::thinned(problem, std::move(packed.trees), rate, options.max_trees, options.deadline);
  for (const lp::RoutedTree& seed : seeded.seeds) {
    std::vector<lp::PackedTree> alone =
        lp::with_best_rates(problem, {seed}, rate, options.deadline);
    if (lp::total_rate(alone) > lp::total_rate(packed.trees)) packed.trees = std::move(alone);
  }
}

// Trees within the limit of depth or latency, and of their number. Throws as few_shallow_trees.
Termination keep_shallow(const AllRoots& problem, const AlgorithmOptions& options,
                         lp::Packing& packed) {
  lp::TreesFound found = lp::pack_shallow_trees(problem.parts().problem(), packed,
                                                tree_algorithms::shallow_options(options));
  if (found.trees.empty()) {
    tree_algorithms::refuse_limit(problem.platform(),
                                  problem.has_free_roots() ? "any host" : "each host",
                                  found.complete, options);
  }
  packed.trees = std::move(found.trees);
  return tree_algorithms::end_of(found.complete);
}

// Whether each root can cross to distant hosts by itself at no cost; then these trees.
bool cross_from_each_root(const AllRoots& problem, const lp::PackingProblem& whole,
                          const AlgorithmOptions& options, lp::Packing& packed) {
  const auto tree = chains_through_clusters(problem, options.deadline);
  if (!tree) return false;
  std::vector<lp::PackedTree> alone =
      lp::with_best_rates(whole, {*tree}, packed.rate, options.deadline);
  const double enough = lp::enough_instead(packed, lp::total_rate(packed.trees), options);
  if (lp::total_rate(alone) < enough) return false;
  packed.trees = std::move(alone);
  return true;
}

// Whether there are trees of lower latency at no cost; then these.
bool lower_latency(const lp::PackingProblem& problem, const AlgorithmOptions& options,
                   lp::Packing& packed) {
  lp::TreesFound found = lp::lower_latency(problem, packed, packed.trees, options);
  if (std::ranges::equal(found.trees, packed.trees, {}, &lp::PackedTree::tree,
                         &lp::PackedTree::tree)) {
    return false;
  }
  packed.trees = std::move(found.trees);
  return true;
}

// One for all roots; empty: the algorithm has no use for it.
std::vector<std::uint32_t> ring_for(const Algorithm& algorithm, const AllRoots& problem,
                                    const AlgorithmOptions& options) {
  if (algorithm.entry->name != "ring") return {};
  const Deadline search = options.deadline.share(kSeedShare);
  return ring_order(problem.spread().fastest_host_arcs(search), problem.platform().hosts(), false,
                    search);
}

std::vector<BlockOfTrees> blocks_with_free_roots(const AllRoots& problem,
                                                 std::span<const WeightedTree> packed) {
  const std::size_t hosts = problem.spread().host_count();
  std::vector<BlockOfTrees> blocks;
  for (std::uint32_t root = 0; root < hosts; ++root) {
    blocks.push_back({BlockKind::kCombine, root});
    blocks.push_back({BlockKind::kSpread, root});
  }
  for (const WeightedTree& whole : packed) {
    std::vector<lp::RoutedTree> trees = problem.parts().split(whole.tree);
    const std::size_t first = 2 * std::size_t{problem.parts().root_of(whole.tree)};
    for (std::size_t p = 0; p < trees.size(); ++p) {
      add_tree(std::move(trees[p]), whole.rate.value, blocks[first + p].trees);
    }
  }
  std::erase_if(blocks, [](const BlockOfTrees& block) { return block.trees.empty(); });
  return blocks;
}

std::vector<BlockOfTrees> blocks_with_all_roots(const AllRoots& problem,
                                                std::span<const WeightedTree> packed) {
  const bool combines = has_blocks_of(BlockKind::kCombine, problem.operation());
  const std::vector<lp::Part>& parts = problem.parts().parts();
  std::vector<BlockOfTrees> blocks;
  for (std::uint32_t root = 0; root < problem.shares().size(); ++root) {
    if (problem.shares()[root] == 0) continue;
    blocks.push_back({combines ? BlockKind::kCombine : BlockKind::kSpread, root});
  }
  for (const WeightedTree& whole : packed) {
    std::vector<lp::RoutedTree> trees = problem.parts().split(whole.tree);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      add_tree(std::move(trees[p]), whole.rate.value * parts[p].share, blocks[p].trees);
    }
  }
  return blocks;
}

Outcome outcome_in_blocks(const AllRoots& problem, const lp::Packing& packed, const Ends& ends) {
  Outcome outcome = outcome_of(packed);
  outcome.ends = outcome.ends.with(ends);
  outcome.blocks = problem.has_free_roots() ? blocks_with_free_roots(problem, outcome.trees)
                                            : blocks_with_all_roots(problem, outcome.trees);
  outcome.trees.clear();
  return outcome;
}

class RootsSolver {
 public:
  RootsSolver(const AllRoots& problem, const AlgorithmOptions& options, Purpose purpose)
      : problem_(problem),
        options_(options),
        limits_depth_(tree_algorithms::limits_depth(options)),
        plans_(purpose == Purpose::kPlan),
        // For fewer and nearer trees, except behind many switches, where it takes long: 90 s for
        // 1,024 hosts, and none were found.
        improves_(plans_ && !is_for_direct_trees(problem.spread().digraph())) {}

  Outcome run(std::span<const BlockOfTrees> start) {
    if (plans_ && !limits_depth_) {
      if (auto outcome = along_binomial_trees(problem_, options_)) return *std::move(outcome);
    }
    if (problem_.has_free_roots()) {
      FirstRoot first = prove_from_first_root(problem_, options_);
      rooted_ = std::move(first.outcome);
      rooted_is_enough_ = first.is_enough && options_.max_trees == 0 && !limits_depth_;
      const bool goes_on = improves_ && lp::tries_lower_latency(problem_.parts().problem().graph);
      if (rooted_is_enough_ && !goes_on) return improved(*std::move(rooted_));
    }
    const Deadline seeding = options_.deadline.share(kSeedShare);
    const lp::HostRings rings = direct_rings(problem_, seeding);
    if (!limits_depth_) {
      const Purpose purpose = plans_ ? Purpose::kPlan : Purpose::kProof;
      if (auto outcome = along_rings(problem_, rings, options_, purpose))
        return *std::move(outcome);
      if (dense_roots_ == DenseRoots::kAtOnce) return along_dense_trees();
    }
    lp::PackingOptions packing{options_};
    add_start(problem_, start, packing.seeds);
    add_rings(problem_, rings, seeding, packing.seeds);
    return along_columns(std::move(packing));
  }

 private:
  [[nodiscard]] Outcome improved(Outcome found) const {
    return improves_ ? these_or_from_first_root(problem_, std::move(found), options_) : found;
  }

  Outcome along_dense_trees() const {
    auto outcome = dense_roots(problem_, options_);
    if (!outcome) throw options_.deadline.ended_before("there were trees from every host");
    return *std::move(outcome);
  }

  Outcome along_columns(lp::PackingOptions packing) {
    const lp::PackingProblem whole = problem_.parts().problem();
    if (rooted_) {
      add_start(problem_, rooted_->blocks, packing.seeds);
      packing.prices = prices_by_row(rooted_->prices, problem_.spread().resource_count());
    }
    packing.seeds_may_do = !plans_;
    if (limits_depth_) {
      packing.deadline = options_.deadline.share(tree_algorithms::packing_share(options_));
    }
    if (limits_depth_ || dense_roots_ == DenseRoots::kNever) {
      return chosen(whole, packing, lp::pack_arborescences(whole, packing));
    }
    constexpr std::size_t kFewColumns = 80;
    constexpr double kNear = 1e-2;  // a gap that more columns soon close
    lp::PackingOptions at_first = packing;
    at_first.far_after = kFewColumns;
    at_first.far_gap = kNear;
    lp::Packing packed = lp::pack_arborescences(whole, at_first);
    if (packed.end == lp::PackingEnd::kGapReached || options_.deadline.passed()) {
      return chosen(whole, packing, std::move(packed));
    }
    AlgorithmOptions half = options_;
    half.deadline = options_.deadline.share(0.5);
    auto dense = dense_roots(problem_, half);
    if (dense && dense->ends.packing == Termination::kDone) return *std::move(dense);
    packed = pack_from(packed, whole, packing);
    Outcome outcome = chosen(whole, packing, std::move(packed));
    return dense && is_slower(outcome, *dense, options_.gap) ? *std::move(dense) : outcome;
  }

  // The plan that is made of the packing.
  Outcome chosen(const lp::PackingProblem& whole, const lp::PackingOptions& packing,
                 lp::Packing packed) {
    Ends ends;
    if (plans_ && limits_depth_) {
      ends.shallow = keep_shallow(problem_, options_, packed);
    } else if (options_.max_trees > 0) {
      keep_few(whole, packing, options_, packed);
    } else if (plans_ && !cross_from_each_root(problem_, whole, options_, packed) &&
               !lower_latency(whole, options_, packed) && rooted_is_enough_) {
      return improved(*std::move(rooted_));
    }
    if (plans_ && lp::total_rate(packed.trees) * (1 + options_.gap) < packed.bound) {
      if (options_.max_trees > 0) ends.few = Termination::kTreeLimit;
      if (limits_depth_) ends.shallow = std::max(ends.shallow, Termination::kTreeLimit);
    }
    Outcome outcome = outcome_in_blocks(problem_, packed, ends);
    if (!rooted_ || limits_depth_) return outcome;
    move_roots_to_middles(problem_, outcome);
    const bool is_limited = options_.max_trees > 0;
    const bool rooted_is_as_fast = !is_slower(*rooted_, outcome, options_.gap);
    if (!is_limited && is_slower(outcome, *rooted_, options_.gap)) {  // the time was too short
      outcome.blocks = std::move(rooted_->blocks);
    }
    return is_limited || rooted_is_as_fast ? improved(std::move(outcome)) : outcome;
  }

  const AllRoots& problem_;
  const AlgorithmOptions& options_;
  const bool limits_depth_;
  const bool plans_;
  const bool improves_;
  const DenseRoots dense_roots_{dense_roots_for(problem_)};
  std::optional<Outcome> rooted_;  // of free roots: from the first host alone
  bool rooted_is_enough_ = false;
};

}  // namespace

AllRoots::AllRoots(Operation operation, const Platform& platform, platforms::Model model,
                   const platforms::OccupationOptions& options, std::vector<double> shares)
    : operation_(operation),
      spread_(platform, first_host(operation, platform), model, options),
      shares_(shares_for(std::move(shares), operation, platform)) {
  // As the first host reaches all others, each reaches every other where all reach the first.
  require_return(platform, spread_.source());
}

const lp::PartsProblem& AllRoots::parts() const {
  if (!parts_) parts_.emplace(parts_of(operation_, spread_, shares_));
  return *parts_;
}

bool is_for(const Algorithm& algorithm, const AllRoots& problem) {
  if (algorithm.entry->refusal == nullptr) return true;
  for (std::size_t i = 0; i < problem.spread().host_count(); ++i) {
    if (!is_for(algorithm, rooted_at(problem, i))) return false;
  }
  return true;
}

Outcome run(const Algorithm& algorithm, const AllRoots& problem, const AlgorithmOptions& options) {
  if (algorithm.entry->name == kOptimal) return solve(problem, options, Purpose::kPlan);
  const std::size_t hosts = problem.spread().host_count();
  const std::vector<std::uint32_t> ring = ring_for(algorithm, problem, options);
  Outcome outcome;
  const auto add_block = [&](BlockKind kind, std::uint32_t root, std::vector<WeightedTree> trees) {
    if (trees.empty()) return;
    const double sum = sum_of_rates(trees).value;
    for (WeightedTree& tree : trees) {
      tree.rate.value *= problem.shares()[root] / sum;
      tree.colors.clear();  // of one block alone
    }
    outcome.blocks.push_back({kind, root, std::move(trees)});
  };
  for (std::uint32_t root = 0; root < hosts; ++root) {
    if (problem.shares()[root] == 0) continue;
    AlgorithmOptions own = options;
    own.deadline = options.deadline.share(1 / static_cast<double>(hosts - root));
    if (!ring.empty()) own.ring = &ring;
    Outcome one = run(algorithm, rooted_at(problem, root), own);
    add_block(BlockKind::kCombine, root, std::move(one.reduce_trees));
    add_block(BlockKind::kSpread, root, std::move(one.trees));
    outcome.ends = outcome.ends.with(one.ends);
    outcome.iterations += one.iterations;
  }
  fill_first_resource(outcome, problem.occupation());
  return outcome;
}

Outcome solve(const AllRoots& problem, const AlgorithmOptions& options, Purpose purpose,
              std::span<const BlockOfTrees> start) {
  return RootsSolver(problem, options, purpose).run(start);
}

}  // namespace espalier::planner
