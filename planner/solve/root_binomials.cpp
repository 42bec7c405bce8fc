#include "planner/solve/root_binomials.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/graph/host_arcs.hpp"
#include "planner/plan/send_windows.hpp"
#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "planner/solve/dense_roots.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/latency_clusters.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

// Pairs of hosts, each with an arc of its own. Among more the chains of root_chains.hpp, which need
// no arcs, are found in a tenth of the time.
constexpr std::size_t kMostPairs = 250'000;

bool has_distant_clusters(const AllRoots& problem, const lp::HostArcs& arcs) {
  const std::size_t clusters = latency_clusters(problem, arcs).size();
  return clusters != 1 && clusters != problem.spread().host_count();
}

// Nothing where some edge cannot be.
std::optional<std::vector<BlockOfTrees>> binomial_blocks(const AllRoots& problem,
                                                         const lp::HostArcs& arcs) {
  const auto hosts = problem.platform().hosts();
  const ObliviousTree shape = binomial_shape(static_cast<std::uint32_t>(hosts.size())).front();
  std::vector<BlockOfTrees> blocks;
  for (std::uint32_t root = 0; root < hosts.size(); ++root) {
    const double share = problem.shares()[root];
    if (share == 0) continue;
    const auto node_of = [&](std::uint32_t relative) {
      return static_cast<std::uint32_t>(index_of(hosts[(relative + root) % hosts.size()]));
    };
    for (const BlockKind kind : {BlockKind::kCombine, BlockKind::kSpread}) {
      if (!has_blocks_of(kind, problem.operation())) continue;
      lp::RoutedTree tree;
      for (const RankEdge edge : shape.edges) {
        if (!arcs.add_edge(node_of(edge.parent), node_of(edge.child), kind == BlockKind::kCombine,
                           tree)) {
          return std::nullopt;
        }
      }
      blocks.push_back({kind, root, {{std::move(tree), {share}}}});
    }
  }
  return blocks;
}

}  // namespace

std::optional<Outcome> along_binomial_trees(const AllRoots& problem,
                                            const AlgorithmOptions& options) try {
  const std::size_t hosts = problem.spread().host_count();
  if (hosts - 1 <= kFewNeighbours || hosts * hosts > kMostPairs) return std::nullopt;
  if (problem.options().money_per_s) return std::nullopt;
  const lp::HostArcs arcs = problem.spread().fastest_host_arcs(options.deadline.share(kSeedShare));
  if (has_distant_clusters(problem, arcs)) return std::nullopt;
  auto blocks = binomial_blocks(problem, arcs);
  if (!blocks) return std::nullopt;
  const double gap = problem.has_free_roots() ? gap_near_enough(options) : options.gap;
  return proven_blocks(problem, *std::move(blocks), plain_bound_of(problem), gap);
} catch (const LimitReached&) {
  return std::nullopt;
}

}  // namespace espalier::planner
