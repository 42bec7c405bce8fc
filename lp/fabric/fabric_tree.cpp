#include "lp/fabric/fabric_tree.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "lp/bounds/narrowest_cut.hpp"
#include "lp/fabric/planes.hpp"
#include "lp/problem/both_ways.hpp"

namespace espalier::lp {

namespace {

// Per arc, of the slower direction of its link and at most `wanted`; 0 where there is one only.
std::vector<double> link_rates(const PackingProblem& problem,
                               std::span<const std::uint32_t> reverse, double wanted) {
  std::vector<double> rates;
  for (std::uint32_t arc = 0; arc < reverse.size(); ++arc) {
    const bool is_link = reverse[arc] != kNone;
    rates.push_back(
        is_link ? std::min({wanted, rate_alone(problem, arc), rate_alone(problem, reverse[arc])})
                : 0);
  }
  return rates;
}

// The arcs of each host, which must be one out and one in, to and from a switch.
std::optional<NoFabric> find_host_arcs(const Digraph& graph, FabricTree& tree) {
  using Reason = NoFabric::Reason;
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
    if (graph.relay(tail) && graph.relay(head)) continue;
    if (!graph.relay(tail) && !graph.relay(head))
      return NoFabric{Reason::kNoSwitch, std::min(tail, head)};
    const std::uint32_t host = graph.relay(tail) ? head : tail;
    (graph.relay(tail) ? tree.arc_in : tree.arc_out)[host] = arc;
  }
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (graph.relay(node)) continue;
    const auto [in, out] = std::pair(tree.arc_in[node], tree.arc_out[node]);
    if (in == kNone && out == kNone) return NoFabric{Reason::kNoSwitch, node};
    if (in == kNone || out == kNone || graph.tail[in] != graph.head[out]) {
      return NoFabric{Reason::kOneWay, node};
    }
  }
  return std::nullopt;
}

void walk(const Digraph& graph, std::uint32_t root, std::uint32_t top, FabricTree& tree) {
  std::vector<std::vector<std::uint32_t>> below(graph.node_count);
  for (std::uint32_t node = graph.node_count; node-- > 0;) {  // so that the first is taken first
    if (tree.above[node] != kNone) below[tree.above[node]].push_back(node);
  }
  std::vector<std::uint32_t> open{top};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (!graph.relay(node) && node != root) tree.hosts.push_back(node);
    open.insert(open.end(), below[node].begin(), below[node].end());
  }
}

// The root's switch begins a group, and each link of less than `wanted` between switches does.
void find_groups(const Digraph& graph, std::span<const double> rates, double wanted,
                 FabricTree& tree) {
  for (const std::uint32_t node : tree.nodes) {
    const std::uint32_t arc = tree.arc_down[node];
    const bool joins = arc != kNone && (!graph.relay(node) || rates[arc] >= wanted);
    tree.group[node] = joins ? tree.group[tree.above[node]] : tree.group_count++;
  }
}

FabricTree empty_tree(const Digraph& graph) {
  const auto none = std::vector<std::uint32_t>(graph.node_count, kNone);
  return {{}, {}, none, none, none, {}, none, 0};
}

// Without groups. Hosts that were not reached are not in the tree.
void span_hosts(const PackingProblem& problem, std::span<const double> rates, FabricTree& tree) {
  const Digraph& graph = problem.graph;
  const std::uint32_t top = graph.head[tree.arc_out[problem.root]];
  static_cast<ThickTree&>(tree) = thick_tree(graph, rates, top);
  for (const std::uint32_t node : tree.nodes) {
    if (node != top) tree.arc_up[node] = tree.reverse[tree.arc_down[node]];
  }
  walk(graph, problem.root, top, tree);
}

}  // namespace

double excess_of(std::span<const double> loads) {
  double excess = 0;
  for (const double load : loads) {
    if (load > 1 + kFabricRounding) excess += load - 1;
  }
  return excess;
}

std::optional<NoFabric> why_no_fabric(const PackingProblem& problem) {
  const Digraph& graph = problem.graph;
  if (links_of_hosts(graph) == HostLinks::kSeveralSwitches) {
    for (const Plane& plane : planes_of(problem)) {
      if (const auto fault = why_no_fabric(plane.problem())) return fault;
    }
    return std::nullopt;
  }
  FabricTree tree = empty_tree(graph);
  if (const auto fault = find_host_arcs(graph, tree)) return fault;
  tree.reverse = reverse_arcs(graph);
  span_hosts(problem, link_rates(problem, tree.reverse, 1), tree);
  if (tree.hosts.size() + 1 == graph.host_count()) return std::nullopt;
  std::vector<char> reached(graph.node_count, 0);
  for (const std::uint32_t host : tree.hosts) reached[host] = 1;
  std::uint32_t host = 0;
  while (graph.relay(host) || host == problem.root || reached[host] != 0) ++host;
  return NoFabric{NoFabric::Reason::kUnreached, host};
}

std::optional<FabricTree> fabric_tree(const PackingProblem& problem, double rate) {
  const Digraph& graph = problem.graph;
  FabricTree tree = empty_tree(graph);
  if (links_of_hosts(graph) != HostLinks::kOneSwitch) return std::nullopt;
  if (find_host_arcs(graph, tree)) return std::nullopt;
  tree.reverse = reverse_arcs(graph);
  const std::vector<double> rates = link_rates(problem, tree.reverse, rate);
  span_hosts(problem, rates, tree);
  if (tree.hosts.size() + 1 != graph.host_count()) return std::nullopt;
  find_groups(graph, rates, rate, tree);
  return tree;
}

}  // namespace espalier::lp
