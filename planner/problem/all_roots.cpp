#include "planner/problem/all_roots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/fabric/rings.hpp"
#include "lp/graph/host_arcs.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/reach.hpp"
#include "planner/problem/shares.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/ring_order.hpp"
#include "planner/solve/walk_tree.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

constexpr std::uint32_t kNoArc = UINT32_MAX;

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

// As a problem with one root: the blocks of host `root`.
Collective rooted_at(const AllRoots& problem, std::size_t root) {
  const Operation operation = problem.operation();
  const bool combines = has_blocks_of(BlockKind::kCombine, operation);
  const bool spreads = has_blocks_of(BlockKind::kSpread, operation);
  return {combines && spreads ? Operation::kAllreduce
          : combines          ? Operation::kReduce
                              : Operation::kBroadcast,
          problem.platform(), problem.platform().hosts()[root], problem.model(), problem.options()};
}

using HostOrder = std::vector<std::uint32_t>;  // nodes

// The order in which a walk along the thickest links comes to the hosts.
HostOrder walk_order(const AllRoots& problem, const lp::HostArcs& arcs) {
  HostOrder order{static_cast<std::uint32_t>(problem.spread().source())};
  const std::optional<lp::RoutedTree> walk = walk_tree(problem.spread());
  if (!walk) return {};
  for (std::size_t edge = 0; edge < walk->edge_count(); ++edge) {
    order.push_back(arcs.ends_of(walk->path(edge)).child);
  }
  return order;
}

// Nothing where two successive hosts have no arc.
std::optional<lp::HostRing> ring_along(const HostOrder& order, const lp::HostArcs& arcs) {
  lp::HostRing ring{order, {}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t arc = arcs.find(order[i], order[(i + 1) % order.size()]);
    if (arc == kNoArc) return std::nullopt;
    arcs.add_edge(arc, ring.ways);
  }
  return ring;
}

// The chain of all hosts that begins at the root, or that ends there. Parents' edges first.
lp::RoutedTree chain_of(const lp::HostRing& ring, std::uint32_t root, bool to_root) {
  const std::size_t hosts = ring.hosts.size();
  const auto at =
      static_cast<std::size_t>(std::ranges::find(ring.hosts, root) - ring.hosts.begin());
  lp::RoutedTree chain;
  for (std::size_t i = 0; i + 1 < hosts; ++i) {
    chain.add_edge(ring.ways.path((at + (to_root ? hosts - 1 - i : i)) % hosts));
  }
  return chain;
}

// Chains for all roots, which together keep all links of the ring busy.
void add_chains(const AllRoots& problem, const lp::HostRing& ring,
                std::vector<lp::RoutedTree>& seeds) {
  const lp::PartsProblem& parts = problem.parts();
  std::vector<lp::RoutedTree> chains;
  if (!problem.has_free_roots()) {
    for (const lp::Part& part : parts.parts()) {
      chains.push_back(chain_of(ring, part.root, part.reversed));
    }
    seeds.push_back(parts.join(chains));
    return;
  }
  const auto hosts = problem.platform().hosts();
  for (std::uint32_t root = 0; root < hosts.size(); ++root) {
    const auto node = static_cast<std::uint32_t>(index_of(hosts[root]));
    seeds.push_back(
        parts.join(std::array{chain_of(ring, node, true), chain_of(ring, node, false)}, root));
  }
}

lp::HostRings direct_rings(const AllRoots& problem, const Deadline& deadline) {
  if (!is_for_direct_trees(problem.spread().digraph())) return {};
  return lp::fabric_rings(packing_problem(problem.spread()), deadline);
}

// Chains for all roots along all rings, or for each root along the ring that carries least so far.
std::vector<BlockOfTrees> blocks_along(const AllRoots& problem,
                                       const std::vector<lp::HostRing>& rings,
                                       bool each_along_all) {
  const bool combines = has_blocks_of(BlockKind::kCombine, problem.operation());
  std::vector<double> carried(rings.size(), 0.0);
  std::vector<BlockOfTrees> blocks;
  for (std::uint32_t root = 0; root < problem.shares().size(); ++root) {
    const double share = problem.shares()[root];
    if (share == 0) continue;
    const auto node = static_cast<std::uint32_t>(index_of(problem.platform().hosts()[root]));
    const auto least =
        static_cast<std::size_t>(std::ranges::min_element(carried) - carried.begin());
    carried[least] += share;
    const std::span<const lp::HostRing> all(rings);
    BlockOfTrees& block = blocks.emplace_back();
    block.kind = combines ? BlockKind::kCombine : BlockKind::kSpread;
    block.root = root;
    for (const lp::HostRing& ring : each_along_all ? all : all.subspan(least, 1)) {
      block.trees.push_back({chain_of(ring, node, combines), {share}});
    }
  }
  return blocks;
}

// Chains along rings that reach a plain bound. Unset: they do not. A linear program over the chains
// of a thousand roots would take minutes. A plan has one for each root, if that costs no more than
// a thousandth.
std::optional<Outcome> along_rings(const AllRoots& problem, const lp::HostRings& direct,
                                   const AlgorithmOptions& options, Purpose purpose) {
  if (!direct.fill_hosts || problem.has_free_roots()) return std::nullopt;
  const lp::PlainBound bound = lp::plain_bound(problem.parts().problem());
  const auto chains = [&](bool each_along_all, double gap) -> std::optional<Outcome> {
    Outcome found;
    found.blocks = blocks_along(problem, direct.rings, each_along_all);
    fill_first_resource(found, problem.occupation());
    lp::Packing packing;
    packing.rate = throughput_of(found).value;
    if (!prove(packing, bound, gap)) return std::nullopt;
    Outcome proven = outcome_of(packing);
    proven.blocks = std::move(found.blocks);
    return proven;
  };
  if (purpose == Purpose::kPlan) {
    if (auto few = chains(false, gap_near_enough(options))) return few;
  }
  if (options.max_trees > 0 && direct.rings.size() > options.max_trees) return std::nullopt;
  return chains(true, options.gap);
}

void add_rings(const AllRoots& problem, const lp::HostRings& direct, const Deadline& deadline,
               std::vector<lp::RoutedTree>& seeds) {
  for (const lp::HostRing& ring : direct.rings) add_chains(problem, ring, seeds);
  if (direct.fill_hosts) return;
  try {
    const lp::HostArcs arcs = problem.spread().fastest_host_arcs(deadline);
    for (const HostOrder& order : {walk_order(problem, arcs),
                                   ring_order(arcs, problem.platform().hosts(), false, deadline)}) {
      if (order.size() != problem.spread().host_count()) continue;
      if (const auto ring = ring_along(order, arcs)) add_chains(problem, *ring, seeds);
    }
  } catch (const LimitReached&) {  // the solver starts without them
  }
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

// The optimum with the first host as the only root, with the bound that its prices prove for any.
Outcome from_one_root(const AllRoots& problem, const AlgorithmOptions& options) {
  AlgorithmOptions limits = options;
  limits.deadline = options.deadline.share(kSeedShare);
  Outcome rooted = prove_optimum(rooted_at(problem, 0), limits);
  rooted.blocks.push_back({BlockKind::kCombine, 0, std::exchange(rooted.reduce_trees, {})});
  rooted.blocks.push_back({BlockKind::kSpread, 0, std::exchange(rooted.trees, {})});
  rooted.bound.reset();
  const std::vector<double> prices =
      prices_by_row(rooted.prices, problem.spread().resource_count());
  const double sum = std::accumulate(prices.begin(), prices.end(), 0.0);
  if (!(sum > 0)) return rooted;
  const lp::PackingProblem packing = problem.parts().problem();
  try {
    const double cost = lp::TreePricer(packing, options.deadline).cheapest_tree(prices).cost;
    if (cost > 0) rooted.bound = BytesPerSecond{sum / cost};
  } catch (const LimitReached&) {  // there are trees, but no bound
  }
  return rooted;
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

// Whether other roots would gain next to nothing.
bool is_enough(const Outcome& rooted, const AllRoots& problem, const AlgorithmOptions& options) {
  const bool is_direct = is_for_direct_trees(problem.spread().digraph());
  const double gap = is_direct ? gap_near_enough(options) : options.gap;
  return rooted.bound && rooted.bound->value <= throughput_of(rooted).value * (1 + gap);
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

}  // namespace

AllRoots::AllRoots(Operation operation, const Platform& platform, platforms::Model model,
                   const platforms::OccupationOptions& options, std::vector<double> shares)
    : operation_(operation),
      spread_(platform, first_host(operation, platform), model, options),
      shares_(shares_for(std::move(shares), operation, platform)),
      parts_(parts_of(operation, spread_, shares_)) {
  // As the first host reaches all others, each reaches every other where all reach the first.
  require_return(platform, spread_.source());
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
  std::optional<Outcome> rooted;
  if (problem.has_free_roots()) {
    rooted = from_one_root(problem, options);
    if (options.max_trees == 0 && is_enough(*rooted, problem, options)) return *std::move(rooted);
  }
  const Deadline seeding = options.deadline.share(kSeedShare);
  const lp::HostRings rings = direct_rings(problem, seeding);
  if (auto outcome = along_rings(problem, rings, options, purpose)) return *std::move(outcome);
  lp::PackingOptions packing{options};
  add_start(problem, start, packing.seeds);
  add_rings(problem, rings, seeding, packing.seeds);
  if (rooted) {
    add_joined(problem.parts(), rooted->blocks, packing.seeds);
    packing.prices = prices_by_row(rooted->prices, problem.spread().resource_count());
  }
  packing.seeds_may_do = purpose != Purpose::kPlan;
  lp::Packing packed = lp::pack_arborescences(problem.parts().problem(), packing);
  if (options.max_trees > 0) keep_few(problem.parts().problem(), packing, options, packed);
  Outcome outcome = outcome_of(packed);
  const bool has_few = options.max_trees > 0 && purpose == Purpose::kPlan;
  if (has_few && lp::total_rate(packed.trees) * (1 + options.gap) < packed.bound) {
    outcome.ends.few = Termination::kTreeLimit;
  }
  outcome.blocks = problem.has_free_roots() ? blocks_with_free_roots(problem, outcome.trees)
                                            : blocks_with_all_roots(problem, outcome.trees);
  outcome.trees.clear();
  return outcome;
}

}  // namespace espalier::planner
