#include "lp/bounds/narrowest_cut.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace espalier::lp {

namespace {

std::vector<double> rates_alone(const PackingProblem& problem) {
  std::vector<double> rates;
  for (std::uint32_t arc = 0; arc < problem.graph.arc_count(); ++arc) {
    rates.push_back(rate_alone(problem, arc));
  }
  return rates;
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

std::vector<std::uint32_t> arcs_into(const Digraph& graph, std::span<const char> inside) {
  std::vector<std::uint32_t> arcs;
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    if (inside[graph.head[arc]] != 0 && inside[graph.tail[arc]] == 0) arcs.push_back(arc);
  }
  return arcs;
}

NetworkParts::NetworkParts(const PackingProblem& problem) : graph_(&problem.graph) {
  const Digraph& graph = problem.graph;
  const std::vector<double> rates = rates_alone(problem);
  tree_ = thick_tree(graph, rates, problem.root);
  // An arc enters each part that has its head and not its tail: those from its head upwards, to
  // below where its ends meet. So these sums over what is below a node are the part's arcs' rates.
  std::vector<double> into(graph.node_count, 0.0);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
    if (tail != problem.root && tree_.above[tail] == kNone) continue;  // never reached
    into[head] += rates[arc];
    into[tree_.meet(tail, head)] -= rates[arc];
  }
  std::vector<std::uint32_t> hosts(graph.node_count, 0);
  for (std::size_t i = tree_.nodes.size(); --i > 0;) {  // all but the root, from below
    const std::uint32_t node = tree_.nodes[i];
    hosts[node] += graph.relay(node) ? 0 : 1;
    if (hosts[node] > 0) parts_.push_back({node, hosts[node], into[node]});
    hosts[tree_.above[node]] += hosts[node];
    into[tree_.above[node]] += into[node];
  }
}

std::vector<char> NetworkParts::nodes_of(const Part& part) const {
  std::vector<char> inside(graph_->node_count, 0);
  for (const std::uint32_t node : tree_.nodes) {
    const std::uint32_t above = tree_.above[node];
    inside[node] = node == part.top || (above != kNone && inside[above] != 0) ? 1 : 0;
  }
  return inside;
}

std::vector<std::uint32_t> narrowest_cut(const PackingProblem& problem) {
  if (!problem.graph.has_relays()) return {};
  const NetworkParts parts(problem);
  const auto narrowest = std::ranges::min_element(parts.all(), {}, &NetworkParts::Part::into);
  if (narrowest == parts.all().end()) return {};
  return arcs_into(problem.graph, parts.nodes_of(*narrowest));
}

}  // namespace espalier::lp
