#include "planner/solve/root_chains.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/graph/digraph.hpp"
#include "lp/graph/host_arcs.hpp"
#include "planner/problem/collective.hpp"
#include "planner/solve/dense_roots.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/ring_order.hpp"
#include "planner/solve/solve_packing.hpp"
#include "planner/solve/walk_tree.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

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
    if (!arcs.add_edge(order[i], order[(i + 1) % order.size()], false, ring.ways)) {
      return std::nullopt;
    }
  }
  return ring;
}

// The chain of all hosts that begins at the root, or that ends there. Parents' edges first.
lp::RoutedTree chain_of(const lp::HostRing& ring, std::uint32_t root, bool to_root) {
  const std::size_t hosts = ring.hosts.size();
  const auto at =
      static_cast<std::size_t>(std::ranges::find(ring.hosts, root) - ring.hosts.begin());
  lp::RoutedTree tree;
  for (std::size_t i = 0; i + 1 < hosts; ++i) {
    tree.add_edge(ring.ways.path((at + (to_root ? hosts - 1 - i : i)) % hosts));
  }
  return tree;
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

// Through the thickest links.
std::vector<lp::HostRing> thick_rings(const AllRoots& problem, const Deadline& deadline) try {
  std::vector<lp::HostRing> rings;
  const lp::HostArcs arcs = problem.spread().fastest_host_arcs(deadline);
  for (const HostOrder& order :
       {walk_order(problem, arcs), ring_order(arcs, problem.platform().hosts(), false, deadline)}) {
    if (order.size() != problem.spread().host_count()) continue;
    if (auto ring = ring_along(order, arcs)) rings.push_back(*std::move(ring));
  }
  return rings;
} catch (const LimitReached&) {  // the solver starts without them
  return {};
}

}  // namespace

lp::HostRings direct_rings(const AllRoots& problem, const Deadline& deadline) {
  if (!is_for_direct_trees(problem.spread().digraph())) return {};
  return lp::fabric_rings(packing_problem(problem.spread()), deadline);
}

std::optional<Outcome> along_rings(const AllRoots& problem, const lp::HostRings& direct,
                                   const AlgorithmOptions& options, Purpose purpose) {
  if (!direct.fill_hosts || problem.has_free_roots()) return std::nullopt;
  const lp::PlainBound bound = plain_bound_of(problem);
  const auto chains = [&](bool each_along_all, double gap) {
    return proven_blocks(problem, blocks_along(problem, direct.rings, each_along_all), bound, gap);
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
  for (const lp::HostRing& ring : thick_rings(problem, deadline)) add_chains(problem, ring, seeds);
}

std::optional<Outcome> along_thick_ring(const AllRoots& problem, const Deadline& deadline) {
  std::optional<Outcome> fastest;
  for (lp::HostRing& ring : thick_rings(problem, deadline)) {
    Outcome outcome;
    outcome.blocks = blocks_along(problem, {std::move(ring)}, false);
    fill_first_resource(outcome, problem.occupation());
    if (!fastest || throughput_of(*fastest).value < throughput_of(outcome).value) {
      fastest = std::move(outcome);
    }
  }
  return fastest;
}

}  // namespace espalier::planner
