#include "planner/solve/dense_roots.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lp/dense/packing_from_roots.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/root_chains.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner {

OnePart::OnePart(const AllRoots& problem) : all_(problem), graph_(problem.spread().digraph()) {
  if (has_blocks_of(BlockKind::kCombine, problem.operation())) std::swap(graph_.tail, graph_.head);
  const auto hosts = problem.platform().hosts();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (problem.shares()[i] == 0) continue;
    roots_.push_back({static_cast<std::uint32_t>(index_of(hosts[i])), problem.shares()[i]});
  }
}

lp::PackingProblem OnePart::problem() const {
  return {graph_, roots_.front().root, all_.occupation().seconds_per_byte};
}

lp::PlainBound plain_bound_of(const AllRoots& problem) {
  if (problem.has_free_roots() || problem.spread().digraph().has_relays()) {
    return lp::plain_bound(problem.parts().problem());
  }
  const OnePart part(problem);
  return lp::plain_bound(part.problem(), part.roots());
}

DenseRoots dense_roots_for(const AllRoots& problem) {
  constexpr std::size_t kManyHosts = 128;
  constexpr std::size_t kManyArcs = 2'000'000;  // in the graphs of all roots
  const lp::Digraph& graph = problem.spread().digraph();
  if (problem.has_free_roots() || graph.has_relays() || graph.node_count < kManyHosts) {
    return DenseRoots::kNever;
  }
  return graph.arc_count() * graph.node_count < kManyArcs ? DenseRoots::kNext : DenseRoots::kAtOnce;
}

std::optional<Outcome> dense_roots(const AllRoots& problem, const AlgorithmOptions& options) {
  auto ring = along_thick_ring(problem, options.deadline.share(kSeedShare));
  if (ring) {
    auto proven = proven_blocks(problem, ring->blocks, plain_bound_of(problem), options.gap);
    if (proven) return proven;
  }
  const OnePart part(problem);
  const lp::PackingFromRoots found =
      lp::pack_from_roots(part.problem(), part.roots(), {options, options.max_trees});
  if (ring && throughput_of(*ring).value > found.packing.rate) {  // the time was too short
    Outcome outcome = outcome_of(found.packing);
    outcome.trees.clear();
    outcome.blocks = std::move(ring->blocks);
    return outcome;
  }
  if (found.packing.trees.empty()) return std::nullopt;
  const bool combines = has_blocks_of(BlockKind::kCombine, problem.operation());
  std::vector<BlockOfTrees> blocks;
  for (std::uint32_t root = 0; root < problem.shares().size(); ++root) {
    if (problem.shares()[root] == 0) continue;
    blocks.push_back({combines ? BlockKind::kCombine : BlockKind::kSpread, root});
  }
  Outcome outcome = outcome_of(found.packing);
  for (std::size_t i = 0; i < outcome.trees.size(); ++i) {
    blocks[found.roots[i]].trees.push_back(std::move(outcome.trees[i]));
  }
  outcome.trees.clear();
  outcome.blocks = std::move(blocks);
  return outcome;
}

}  // namespace espalier::planner
