#include "planner/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "support/choice.hpp"
#include "support/errors.hpp"

namespace espalier::planner {
namespace {

constexpr std::array<Choice<Operation>, 9> kOperationNames{
    {{"broadcast", Operation::kBroadcast},
     {"reduce", Operation::kReduce},
     {"allreduce", Operation::kAllreduce},
     {"allgather", Operation::kAllgather},
     {"reduce-scatter", Operation::kReduceScatter},
     {"scatter", Operation::kScatter},
     {"gather", Operation::kGather},
     {"alltoall", Operation::kAlltoall},
     {"barrier", Operation::kBarrier}}};
constexpr std::array<Choice<BlockKind>, 3> kBlockKindNames{{{"spread", BlockKind::kSpread},
                                                            {"combine", BlockKind::kCombine},
                                                            {"route", BlockKind::kRoute}}};

// The length of the longest path from the source to a leaf, where edge i has length(i).
template <class Length>
auto longest_path(const PlanTree& tree, std::uint32_t source, Length length) {
  using Distance = decltype(length(std::size_t{0}));
  std::uint32_t nodes = source + 1;
  for (const auto [parent, child] : tree.edges) nodes = std::max({nodes, parent + 1, child + 1});
  std::vector<std::size_t> edge_to(nodes);
  for (std::size_t i = 0; i < tree.edges.size(); ++i) edge_to[tree.edges[i].child] = i;

  std::vector<std::optional<Distance>> distance(nodes);
  distance[source] = Distance{};
  Distance longest{};
  std::vector<std::size_t> edges_up;
  for (const auto edge : tree.edges) {
    std::uint32_t node = edge.child;
    for (; !distance[node]; node = tree.edges[edge_to[node]].parent)
      edges_up.push_back(edge_to[node]);
    for (Distance so_far = *distance[node]; !edges_up.empty(); edges_up.pop_back()) {
      so_far += length(edges_up.back());
      distance[tree.edges[edges_up.back()].child] = so_far;
      longest = std::max(longest, so_far);
    }
  }
  return longest;
}

}  // namespace

std::string_view name_of(Operation operation) {
  return espalier::name_of(kOperationNames, operation);
}

std::string_view name_of(BlockKind kind) {
  return espalier::name_of(kBlockKindNames, kind);
}

Operation parse_operation(std::string_view name) {
  return choice_named("operation", kOperationNames, name).value;
}

std::string with_article(Operation operation) {
  return fmt::format("{} {}", name_of(operation).front() == 'a' ? "an" : "a", name_of(operation));
}

void require_operation(const Plan& plan, Operation wanted, const std::string& file) {
  if (plan.operation == wanted) return;
  throw InputError(file, "/operation",
                   fmt::format("the plan is for {}, not for {}", with_article(plan.operation),
                               with_article(wanted)));
}

bool Plan::helps(std::uint32_t node) const {
  return has_helpers() && node != blocks.front().root &&
         !std::ranges::binary_search(blocks.front().members, node);
}

void take_blocks_of_one_root(Plan& plan) {
  plan.source = plan.nodes[plan.blocks.front().root];
  for (PlanBlock& block : plan.blocks) {
    const bool combines = block.kind == BlockKind::kCombine;
    (combines ? plan.reduce_trees : plan.broadcast_trees) = std::move(block.trees);
  }
  plan.blocks.clear();
}

std::vector<PlanTrees> trees_by_kind(const Plan& plan) {
  std::vector<PlanTrees> kinds;
  for (const PlanBlock& block : plan.blocks) {
    kinds.push_back({fmt::format("blocks/{}/trees", kinds.size()), &block.trees,
                     block.kind == BlockKind::kCombine, block.root, block.share, block.after,
                     block.to, block.members});
  }
  if (!kinds.empty()) return kinds;
  const std::uint32_t source = source_index(plan);
  const auto after = goes_both_ways(plan.operation) ? std::optional<std::size_t>(0) : std::nullopt;
  return {{"reduce_trees", &plan.reduce_trees, true, source, 1, std::nullopt},
          {"broadcast_trees", &plan.broadcast_trees, false, source, 1, after}};
}

std::vector<PlanTrees> blocks_of(const Plan& plan) {
  std::vector<PlanTrees> blocks = trees_by_kind(plan);
  std::erase_if(blocks, [](const PlanTrees& block) { return block.trees->empty(); });
  return blocks;
}

std::vector<DirectedTree> trees_in_order(const Plan& plan) {
  std::vector<DirectedTree> trees;
  for (const PlanTree& tree : plan.reduce_trees) trees.push_back({&tree, true});
  for (const PlanTree& tree : plan.broadcast_trees) trees.push_back({&tree, false});
  return trees;
}

std::vector<double> shares_of(const Plan& plan) {
  if (!has_parts(plan.operation)) return {};
  const std::size_t nodes = plan.nodes.size();
  const bool from_each = plan.operation == Operation::kAlltoall;
  const bool by_receiver = plan.operation == Operation::kScatter;
  std::vector<double> shares(from_each ? nodes * nodes : nodes, 0.0);
  double left = from_each ? static_cast<double>(nodes) : 1;  // what roots have for themselves
  for (const PlanBlock& block : plan.blocks) {
    const std::size_t part = by_receiver ? *block.to : block.root;
    shares[from_each ? part * nodes + *block.to : part] = block.share;
    left -= block.share;
  }
  left = std::max(left, 0.0);
  if (from_each) {
    for (std::size_t i = 0; i < nodes; ++i) {
      shares[i * nodes + i] = left / static_cast<double>(nodes);
    }
  } else if (routes(plan.operation)) {
    shares[source_index(plan)] = left;
  }
  return shares;
}

bool has_sequence(std::span<const PlanTrees> blocks) {
  return std::ranges::any_of(blocks,
                             [](const PlanTrees& block) { return block.after.has_value(); });
}

std::size_t tree_count(const Plan& plan) {
  return tree_count(plan, true) + tree_count(plan, false);
}

std::size_t tree_count(const Plan& plan, bool up) {
  std::size_t count = 0;
  for (const PlanTrees& kind : trees_by_kind(plan)) count += kind.up == up ? kind.trees->size() : 0;
  return count;
}

bool is_colored(std::span<const PlanTree> trees) {
  return std::ranges::all_of(
      trees, [](const PlanTree& tree) { return tree.colors.size() == tree.edges.size(); });
}

std::uint32_t source_index(const Plan& plan) {
  const auto found = std::ranges::find(plan.nodes, plan.source);
  return found == plan.nodes.end() ? UINT32_MAX
                                   : static_cast<std::uint32_t>(found - plan.nodes.begin());
}

std::size_t depth_of(const PlanTree& tree, std::uint32_t source) {
  return longest_path(tree, source, [](std::size_t) { return std::size_t{1}; });
}

Seconds latency_of(const PlanTree& tree, std::uint32_t source) {
  if (tree.latencies.empty()) return {};
  return {longest_path(tree, source, [&](std::size_t edge) { return tree.latency(edge).value; })};
}

std::size_t out_degree_of(const PlanTree& tree) {
  std::unordered_map<std::uint32_t, std::size_t> children;
  std::size_t largest = 0;
  for (const PlanEdge edge : tree.edges) largest = std::max(largest, ++children[edge.parent]);
  return largest;
}

TreeFigures figures_of(const Plan& plan) {
  TreeFigures figures;
  for (const PlanTrees& kind : trees_by_kind(plan)) {
    for (const PlanTree& tree : *kind.trees) {
      figures.depth = std::max(figures.depth, depth_of(tree, kind.root));
      figures.out_degree = std::max(figures.out_degree, out_degree_of(tree));
    }
  }
  return figures;
}

// Those of one kind of trees: the other kind, if there is one, carries the same.
std::uint64_t segments_in_period(const Plan& plan, const PlanSchedule& schedule) {
  const std::vector<std::uint64_t>& segments = schedule.segments;
  const std::size_t trees = plan.reduce_trees.empty() ? segments.size() : plan.reduce_trees.size();
  return std::accumulate(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(trees),
                         std::uint64_t{0});
}

std::size_t step_count(const PlanSchedule& schedule) {
  constexpr double kRounding = 1e-12;
  std::vector<double> moments{0, schedule.period.value};
  for (const ScheduledSend& send : schedule.sends) {
    moments.push_back(send.start.value);
    moments.push_back(send.start.value + send.time.value);
  }
  std::sort(moments.begin(), moments.end());
  std::size_t steps = 0;
  for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
    if (moments[i + 1] - moments[i] > kRounding * schedule.period.value) ++steps;
  }
  return steps;
}

}  // namespace espalier::planner
