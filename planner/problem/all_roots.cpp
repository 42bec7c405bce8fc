#include "planner/problem/all_roots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "lp/graph/host_arcs.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/reach.hpp"
#include "planner/solve/walk_tree.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

constexpr std::uint32_t kNoArc = UINT32_MAX;

NodeId first_host(Operation operation, const Platform& platform) {
  const auto hosts = platform.hosts();
  if (hosts.size() >= 2) return hosts.front();
  throw InputError(fmt::format("{}: has {}; {} needs at least two", platform.name(),
                               counted(hosts.size(), "host"), with_article(operation)));
}

// As the first host reaches all others, each reaches every other where all reach the first.
void require_return(const Platform& platform) {
  const auto hosts = platform.hosts();
  for (const NodeId host : hosts) {
    if (reached_from(platform, host)[index_of(hosts.front())] != 0) continue;
    throw InfeasibleError(fmt::format("{}: '{}' cannot reach '{}'", platform.name(),
                                      platform.node(host).name, platform.node(hosts.front()).name));
  }
}

std::vector<lp::Part> parts_of(Operation operation, const Platform& platform) {
  const bool reversed = kind_of_blocks(operation) == BlockKind::kCombine;
  const double share = 1 / static_cast<double>(platform.hosts().size());
  std::vector<lp::Part> parts;
  for (const NodeId host : platform.hosts()) {
    parts.push_back({static_cast<std::uint32_t>(index_of(host)), reversed, share});
  }
  return parts;
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

// Always on to the host that the fastest arc leads to; empty where none is left.
HostOrder fastest_order(const AllRoots& problem, const lp::HostArcs& arcs) {
  HostOrder order{static_cast<std::uint32_t>(problem.spread().source())};
  std::vector<bool> passed(arcs.node_count());
  passed[order.front()] = true;
  while (order.size() < problem.spread().host_count()) {
    std::uint32_t best = kNoArc;
    for (const std::uint32_t arc : arcs.out_of(order.back())) {
      if (passed[arcs.head(arc)]) continue;
      if (best == kNoArc || arcs.weight(arc) < arcs.weight(best)) best = arc;
    }
    if (best == kNoArc) return {};
    order.push_back(arcs.head(best));
    passed[order.back()] = true;
  }
  return order;
}

// A chain for each root along the same ring of hosts, which together keep all of its arcs busy;
// unset where the ring has no arc between two successive hosts.
std::optional<lp::RoutedTree> ring(const AllRoots& problem, const lp::HostArcs& arcs,
                                   const HostOrder& order) {
  const std::size_t hosts = problem.spread().host_count();
  if (order.size() != hosts) return std::nullopt;
  std::vector<std::uint32_t> next;  // the arc from each place of the ring to the next
  for (std::size_t i = 0; i < hosts; ++i) {
    next.push_back(arcs.find(order[i], order[(i + 1) % hosts]));
    if (next.back() == kNoArc) return std::nullopt;
  }
  std::vector<lp::RoutedTree> chains;
  for (const lp::Part& part : problem.parts().parts()) {
    const auto at = static_cast<std::size_t>(std::ranges::find(order, part.root) - order.begin());
    lp::RoutedTree chain;
    for (std::size_t i = 0; i + 1 < hosts; ++i) {
      // Parents' edges first: backwards from the root where the data goes to it.
      arcs.add_edge(next[part.reversed ? (at + hosts - 1 - i) % hosts : (at + i) % hosts], chain);
    }
    chains.push_back(std::move(chain));
  }
  return problem.parts().join(chains);
}

void add_rings(const AllRoots& problem, const Deadline& deadline,
               std::vector<lp::RoutedTree>& seeds) {
  try {
    const lp::HostArcs arcs = problem.spread().fastest_host_arcs(deadline);
    for (const HostOrder& order : {walk_order(problem, arcs), fastest_order(problem, arcs)}) {
      if (auto whole = ring(problem, arcs, order)) seeds.push_back(std::move(*whole));
    }
  } catch (const LimitReached&) {  // the solver starts without them
  }
}

// Whole trees that contain every tree of every block.
void add_joined(const AllRoots& problem, const BlockTrees& start,
                std::vector<lp::RoutedTree>& seeds) {
  std::size_t most = 0;
  for (const auto& block : start) {
    if (block.empty()) return;
    most = std::max(most, block.size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    std::vector<lp::RoutedTree> trees;
    for (const auto& block : start) trees.push_back(block[i % block.size()]);
    seeds.push_back(problem.parts().join(trees));
  }
}

void add(lp::RoutedTree tree, double rate, std::vector<WeightedTree>& trees) {
  const auto same = std::ranges::find(trees, tree, &WeightedTree::tree);
  if (same == trees.end()) {
    trees.push_back({std::move(tree), {rate}});
  } else {
    same->rate.value += rate;
  }
}

// Of host `i`.
Collective block_of(const AllRoots& problem, std::size_t i) {
  const bool combine = kind_of_blocks(problem.operation()) == BlockKind::kCombine;
  return {combine ? Operation::kReduce : Operation::kBroadcast, problem.platform(),
          problem.platform().hosts()[i], problem.model(), problem.options()};
}

}  // namespace

AllRoots::AllRoots(Operation operation, const Platform& platform, platforms::Model model,
                   const platforms::OccupationOptions& options)
    : operation_(operation),
      spread_(platform, first_host(operation, platform), model, options),
      parts_(spread_.digraph(), spread_.occupation().seconds_per_byte,
             parts_of(operation, platform)) {
  require_return(platform);
}

bool is_for(const Algorithm& algorithm, const AllRoots& problem) {
  if (algorithm.entry->refusal == nullptr) return true;
  for (std::size_t i = 0; i < problem.spread().host_count(); ++i) {
    if (!is_for(algorithm, block_of(problem, i))) return false;
  }
  return true;
}

Outcome run(const Algorithm& algorithm, const AllRoots& problem, const AlgorithmOptions& options) {
  if (algorithm.entry->name == kOptimal) return solve(problem, options, Purpose::kPlan);
  const bool combine = kind_of_blocks(problem.operation()) == BlockKind::kCombine;
  const auto hosts = problem.platform().hosts();
  Outcome outcome;
  std::vector<double> load(static_cast<std::size_t>(problem.occupation().seconds_per_byte.rows()));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    AlgorithmOptions own = options;
    own.deadline = options.deadline.share(1 / static_cast<double>(hosts.size() - i));
    Outcome one = run(algorithm, block_of(problem, i), own);
    std::vector<WeightedTree>& trees = combine ? one.reduce_trees : one.trees;
    const double sum = sum_of_rates(trees).value;
    for (WeightedTree& tree : trees) {
      tree.rate.value /= sum * static_cast<double>(hosts.size());
      tree.colors.clear();  // of one block alone
      const std::vector<double> of_tree =
          lp::tree_load(problem.occupation().seconds_per_byte, tree.tree);
      for (std::size_t r = 0; r < load.size(); ++r) load[r] += tree.rate.value * of_tree[r];
    }
    outcome.blocks.push_back(std::move(trees));
    outcome.ends = outcome.ends.with(one.ends);
    outcome.iterations += one.iterations;
  }
  const double rate = 1 / std::ranges::max(load);
  for (auto& block : outcome.blocks) {
    for (WeightedTree& tree : block) tree.rate.value *= rate;
  }
  return outcome;
}

Outcome solve(const AllRoots& problem, const AlgorithmOptions& options, Purpose purpose,
              const BlockTrees& start) {
  lp::PackingOptions packing{options};
  add_joined(problem, start, packing.seeds);
  add_rings(problem, options.deadline.share(kSeedShare), packing.seeds);
  packing.seeds_may_do = purpose != Purpose::kPlan;
  Outcome outcome = outcome_of(lp::pack_arborescences(problem.parts().problem(), packing));
  const std::vector<lp::Part>& parts = problem.parts().parts();
  outcome.blocks.resize(parts.size());
  for (const WeightedTree& whole : outcome.trees) {
    std::vector<lp::RoutedTree> trees = problem.parts().split(whole.tree);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      add(std::move(trees[p]), whole.rate.value * parts[p].share, outcome.blocks[p]);
    }
  }
  outcome.trees.clear();
  return outcome;
}

}  // namespace espalier::planner
