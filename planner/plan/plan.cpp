#include "planner/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "planner/plan/schedule_fault.hpp"
#include "support/errors.hpp"

namespace espalier::planner {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr double kRateTolerance = 1e-6;

std::string with_article(Operation operation) {
  return fmt::format("{} {}", operation == Operation::kAllreduce ? "an" : "a", name_of(operation));
}

std::uint32_t find_source(const Plan& plan) {
  const auto found = std::find(plan.nodes.begin(), plan.nodes.end(), plan.source);
  return found == plan.nodes.end() ? kNone : static_cast<std::uint32_t>(found - plan.nodes.begin());
}

bool finite_and_positive(BytesPerSecond rate) {
  return std::isfinite(rate.value) && rate.value > 0;
}

std::optional<PlanFault> fault_of_nodes(const Plan& plan) {
  if (plan.nodes.empty()) return PlanFault{"/nodes", "a plan needs at least one node"};
  if (plan.nodes.size() >= kNone) return PlanFault{"/nodes", "too many nodes"};
  std::unordered_map<std::string_view, std::size_t> first_place;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (plan.nodes[i].empty()) return PlanFault{fmt::format("/nodes/{}", i), "empty name"};
    const auto [earlier, is_new] = first_place.emplace(plan.nodes[i], i);
    if (!is_new) {
      return PlanFault{fmt::format("/nodes/{}", i),
                       fmt::format("'{}' is already /nodes/{}", plan.nodes[i], earlier->second)};
    }
  }
  if (find_source(plan) == kNone) {
    return PlanFault{"/source", fmt::format("'{}' is not one of the plan's nodes", plan.source)};
  }
  return {};
}

// Every node but the source must have one parent and the source none. Fills parent_of up to the
// first fault.
std::optional<PlanFault> fault_of_parents(const Plan& plan, const PlanTree& tree, bool up,
                                          const std::string& place,
                                          std::vector<std::uint32_t>& parent_of) {
  const std::uint32_t source = find_source(plan);
  for (std::size_t i = 0; i < tree.edges.size(); ++i) {
    const auto [parent, child] = tree.edges[i];
    const auto fault = [&](const std::string& reason) {
      return PlanFault{fmt::format("{}/edges/{}", place, i), reason};
    };
    const std::size_t largest = std::max(parent, child);
    if (largest >= plan.nodes.size()) {
      return fault(fmt::format("node {} is out of range: the plan has {} nodes", largest,
                               plan.nodes.size()));
    }
    const std::string& name = plan.nodes[child];
    if (parent == child) return fault(fmt::format("edge from '{}' to itself", name));
    if (child == source)
      return fault(fmt::format("edge {} the source '{}'", up ? "out of" : "into", name));
    if (parent_of[child] != kNone) {
      return fault(fmt::format("node '{}' has two parents, '{}' and '{}'", name,
                               plan.nodes[parent_of[child]], plan.nodes[parent]));
    }
    parent_of[child] = parent;
  }
  for (std::uint32_t node = 0; node < plan.nodes.size(); ++node) {
    if (node != source && parent_of[node] == kNone) {
      return PlanFault{
          place + "/edges",
          fmt::format("node '{}' is missing: no edge leads {} it ({} edges, {} needed)",
                      plan.nodes[node], up ? "from" : "to", tree.edges.size(),
                      plan.nodes.size() - 1)};
    }
  }
  return {};
}

// Precondition: every node but the source has one parent. Then a node whose ancestors do not
// include the source leads into a cycle.
std::optional<PlanFault> fault_of_cycles(const Plan& plan, const std::string& place,
                                         const std::vector<std::uint32_t>& parent_of) {
  constexpr std::uint32_t kReachesSource = kNone - 1;
  std::vector<std::uint32_t> walk_of(plan.nodes.size(), kNone);
  walk_of[find_source(plan)] = kReachesSource;
  for (std::uint32_t start = 0; start < plan.nodes.size(); ++start) {
    std::uint32_t node = start;
    while (walk_of[node] == kNone) {
      walk_of[node] = start;
      node = parent_of[node];
    }
    if (walk_of[node] == start && start != find_source(plan)) {
      std::string names = plan.nodes[node];
      for (std::uint32_t up = parent_of[node]; up != node; up = parent_of[up]) {
        names.insert(0, plan.nodes[up] + " -> ");
      }
      return PlanFault{place + "/edges", fmt::format("cycle {} -> {}", plan.nodes[node], names)};
    }
  }
  return {};
}

std::optional<PlanFault> fault_of_colors(const PlanTree& tree, const std::string& place) {
  if (tree.colors.empty()) return {};
  if (tree.colors.size() != tree.edges.size()) {
    return PlanFault{place + "/colors",
                     fmt::format("{} colors for {} edges", tree.colors.size(), tree.edges.size())};
  }
  for (std::size_t i = 0; i < tree.colors.size(); ++i) {
    if (tree.colors[i] <= 1) continue;
    return PlanFault{fmt::format("{}/colors/{}", place, i),
                     fmt::format("a color is 0 or 1, not {}", tree.colors[i])};
  }
  return {};
}

std::optional<PlanFault> fault_of_latencies(const PlanTree& tree, const std::string& place) {
  if (tree.latencies.empty()) return {};
  if (tree.latencies.size() != tree.edges.size()) {
    return PlanFault{place + "/latencies_s", fmt::format("{} latencies for {} edges",
                                                         tree.latencies.size(), tree.edges.size())};
  }
  for (std::size_t i = 0; i < tree.latencies.size(); ++i) {
    const double latency_s = tree.latencies[i].value;
    if (std::isfinite(latency_s) && latency_s >= 0) continue;
    return PlanFault{fmt::format("{}/latencies_s/{}", place, i),
                     fmt::format("a latency is finite and not negative, not {}", latency_s)};
  }
  return {};
}

std::optional<PlanFault> fault_of_exchange(const Plan& plan, const PlanTree& tree,
                                           const std::string& place,
                                           const std::vector<std::uint32_t>& parent_of) {
  std::vector<bool> is_named(plan.nodes.size());
  for (std::size_t i = 0; i < tree.exchange.size(); ++i) {
    const auto [parent, child] = tree.exchange[i];
    const std::string here = fmt::format("{}/exchange/{}", place, i);
    if (child >= parent_of.size() || parent_of[child] != parent) {
      return PlanFault{here, fmt::format("this tree has no edge [{}, {}]", parent, child)};
    }
    if (is_named[child]) {
      return PlanFault{here, fmt::format("edge [{}, {}] is named twice", parent, child)};
    }
    is_named[child] = true;
  }
  return {};
}

std::optional<PlanFault> fault_of_tree(const Plan& plan, const PlanTree& tree, bool up,
                                       const std::string& place) {
  if (!finite_and_positive(tree.rate)) {
    return PlanFault{place + "/rate_Bps",
                     fmt::format("a rate is finite and positive, not {}", tree.rate.value)};
  }
  std::vector<std::uint32_t> parent_of(plan.nodes.size(), kNone);
  if (auto fault = fault_of_parents(plan, tree, up, place, parent_of)) return fault;
  if (auto fault = fault_of_cycles(plan, place, parent_of)) return fault;
  for (const auto& [edge, relays] : tree.via) {
    const auto [parent, child] = edge;
    if (child >= parent_of.size() || parent_of[child] != parent) {
      // In the file's order: the direction of the data.
      return PlanFault{fmt::format("{}/via/{}-{}", place, up ? child : parent, up ? parent : child),
                       "this tree has no such edge"};
    }
  }
  if (auto fault = fault_of_colors(tree, place)) return fault;
  if (auto fault = fault_of_latencies(tree, place)) return fault;
  return fault_of_exchange(plan, tree, place, parent_of);
}

std::optional<PlanFault> fault_of_rates(const Plan& plan) {
  if (!finite_and_positive(plan.throughput)) {
    return PlanFault{"/throughput_Bps", fmt::format("a throughput is finite and positive, not {}",
                                                    plan.throughput.value)};
  }
  if (plan.optimum && !finite_and_positive(*plan.optimum)) {
    return PlanFault{"/optimum_Bps",
                     fmt::format("an optimum is finite and positive, not {}", plan.optimum->value)};
  }
  for (const auto& [key, trees, up] : trees_by_kind(plan)) {
    if (trees->empty()) continue;
    const double sum = std::accumulate(
        trees->begin(), trees->end(), 0.0,
        [](double so_far, const PlanTree& tree) { return so_far + tree.rate.value; });
    if (!(std::abs(sum - plan.throughput.value) <= kRateTolerance * plan.throughput.value)) {
      return PlanFault{"/throughput_Bps",
                       fmt::format("the {} rates sum to {}, not to {}",
                                   up ? "reduce trees'" : "trees'", sum, plan.throughput.value)};
    }
  }
  return {};
}

std::optional<PlanFault> fault_of_trees(const Plan& plan, const PlanTrees& kind) {
  const auto& [key, trees, up] = kind;
  const bool wanted = up ? reduces(plan.operation) : broadcasts(plan.operation);
  if (trees->empty() == wanted) {
    return PlanFault{fmt::format("/{}", key), wanted ? std::string("a plan needs at least one tree")
                                                     : fmt::format("a plan for {} has no {} trees",
                                                                   with_article(plan.operation),
                                                                   up ? "reduce" : "broadcast")};
  }
  for (std::size_t i = 0; i < trees->size(); ++i) {
    const PlanTree& tree = (*trees)[i];
    const std::string place = fmt::format("/{}/{}", key, i);
    if (auto fault = fault_of_tree(plan, tree, up, place)) return fault;
    if (tree.colors.empty() != trees->front().colors.empty()) {
      return PlanFault{place, "either all trees have colors or none; tree 0 differs"};
    }
  }
  return {};
}

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
  switch (operation) {
    case Operation::kReduce:
      return "reduce";
    case Operation::kAllreduce:
      return "allreduce";
    case Operation::kBroadcast:
      break;
  }
  return "broadcast";
}

void require_operation(const Plan& plan, Operation wanted, const std::string& file) {
  if (plan.operation == wanted) return;
  throw InputError(file, "/operation",
                   fmt::format("the plan is for {}, not for {}", with_article(plan.operation),
                               with_article(wanted)));
}

std::array<PlanTrees, 2> trees_by_kind(const Plan& plan) {
  return {{{"reduce_trees", &plan.reduce_trees, true},
           {"broadcast_trees", &plan.broadcast_trees, false}}};
}

std::size_t tree_count(const Plan& plan) {
  return plan.reduce_trees.size() + plan.broadcast_trees.size();
}

std::optional<PlanFault> structural_fault(const Plan& plan) {
  if (auto fault = fault_of_nodes(plan)) return fault;
  if (plan.segment.value == 0) return PlanFault{"/slice_bytes", "a segment has at least one byte"};
  for (const PlanTrees& kind : trees_by_kind(plan)) {
    if (auto fault = fault_of_trees(plan, kind)) return fault;
  }
  if (auto fault = fault_of_rates(plan)) return fault;
  if (plan.schedule && plan.operation != Operation::kBroadcast) {
    return PlanFault{"/schedule", "only a broadcast has a schedule"};
  }
  return schedule_fault(plan);
}

bool is_colored(const Plan& plan) {
  return std::all_of(plan.broadcast_trees.begin(), plan.broadcast_trees.end(),
                     [](const PlanTree& tree) { return tree.colors.size() == tree.edges.size(); });
}

std::optional<PlanFault> color_fault(const Plan& plan) {
  // By node, direction and color: whether there is such an edge.
  std::vector<bool> taken(plan.nodes.size() * 4);
  for (std::size_t t = 0; t < plan.broadcast_trees.size(); ++t) {
    const PlanTree& tree = plan.broadcast_trees[t];
    for (std::size_t i = 0; i < tree.colors.size(); ++i) {
      const auto [parent, child] = tree.edges[i];
      for (const bool receives : {false, true}) {
        const std::uint32_t node = receives ? child : parent;
        const std::size_t at = std::size_t{node} * 4 + (receives ? 2 : 0) + tree.colors[i];
        if (taken[at]) {
          return PlanFault{fmt::format("/broadcast_trees/{}/colors/{}", t, i),
                           fmt::format("node '{}' {} on two edges of color {}", plan.nodes[node],
                                       receives ? "receives" : "sends", tree.colors[i])};
        }
        taken[at] = true;
      }
    }
  }
  return {};
}

std::uint32_t source_index(const Plan& plan) {
  return find_source(plan);
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

}  // namespace espalier::planner
