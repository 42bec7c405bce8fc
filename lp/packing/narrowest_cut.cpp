#include "lp/packing/narrowest_cut.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "lp/graph/thick_tree.hpp"

namespace espalier::lp {

namespace {

// The arcs whose head is at or below the node, and whose tail is not.
std::vector<std::uint32_t> arcs_into(const Digraph& graph, const ThickTree& tree,
                                     std::uint32_t top_of_part) {
  std::vector<char> inside(graph.node_count, 0);
  for (const std::uint32_t node : tree.nodes) {
    const std::uint32_t above = tree.above[node];
    inside[node] = node == top_of_part || (above != kNone && inside[above] != 0) ? 1 : 0;
  }
  std::vector<std::uint32_t> arcs;
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    if (inside[graph.head[arc]] != 0 && inside[graph.tail[arc]] == 0) arcs.push_back(arc);
  }
  return arcs;
}

}  // namespace

double rate_alone(const PackingProblem& problem, std::uint32_t arc) {
  double longest = 0;
  for (SparseMatrix::InnerIterator use(problem.occupation, static_cast<Eigen::Index>(arc)); use;
       ++use) {
    longest = std::max(longest, use.value());
  }
  return 1 / longest;
}

std::vector<std::uint32_t> narrowest_cut(const PackingProblem& problem) {
  const Digraph& graph = problem.graph;
  if (graph.host_count() == graph.node_count) return {};
  std::vector<double> rates;
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    rates.push_back(rate_alone(problem, arc));
  }
  const ThickTree tree = thick_tree(graph, rates, problem.root);
  // An arc enters each part that has its head and not its tail: those from its head upwards, to
  // below where its ends meet. So these sums over what is below a node are the part's arcs' rates.
  std::vector<double> into(graph.node_count, 0.0);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
    if (tail != problem.root && tree.above[tail] == kNone) continue;  // never reached
    into[head] += rates[arc];
    into[tree.meet(tail, head)] -= rates[arc];
  }
  std::vector<std::uint32_t> hosts(graph.node_count, 0);
  std::uint32_t narrowest = kNone;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = tree.nodes.size(); --i > 0;) {  // all but the root, from below
    const std::uint32_t node = tree.nodes[i];
    hosts[node] += graph.relay(node) ? 0 : 1;
    if (hosts[node] > 0 && into[node] < least) {
      least = into[node];
      narrowest = node;
    }
    hosts[tree.above[node]] += hosts[node];
    into[tree.above[node]] += into[node];
  }
  if (narrowest == kNone) return {};
  return arcs_into(graph, tree, narrowest);
}

}  // namespace espalier::lp
