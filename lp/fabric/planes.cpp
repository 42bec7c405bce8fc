#include "lp/fabric/planes.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <utility>

namespace espalier::lp {

namespace {

using SwitchParts = boost::disjoint_sets_with_storage<>;  // the connected parts of the switches

// Per host, the switches that it is linked to in either direction: by the part that they are in,
// then by number.
std::vector<std::vector<std::uint32_t>> switches_of_hosts(const Digraph& graph,
                                                          SwitchParts& parts) {
  std::vector<std::vector<std::uint32_t>> switches(graph.node_count);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
    if (graph.relay(tail) && graph.relay(head)) parts.union_set(tail, head);
    if (!graph.relay(tail)) switches[tail].push_back(head);
    if (!graph.relay(head)) switches[head].push_back(tail);
  }
  const auto place = [&](std::uint32_t node) { return std::pair(parts.find_set(node), node); };
  for (std::vector<std::uint32_t>& its : switches) {
    std::ranges::sort(its, {}, place);
    its.erase(std::unique(its.begin(), its.end()), its.end());
  }
  return switches;
}

}  // namespace

Plane::Plane(const PackingProblem& whole, std::vector<std::uint32_t> arcs)
    : arcs_(std::move(arcs)), root_(whole.root) {
  graph_.node_count = whole.graph.node_count;
  graph_.is_relay = whole.graph.is_relay;
  std::vector<Eigen::Triplet<double>> entries;
  for (const std::uint32_t arc : arcs_) {
    for (auto use = uses_of(whole.occupation, arc); use; ++use) {
      entries.emplace_back(use.row(), static_cast<Eigen::Index>(graph_.arc_count()), use.value());
    }
    graph_.tail.push_back(whole.graph.tail[arc]);
    graph_.head.push_back(whole.graph.head[arc]);
    if (!whole.graph.latency_s.empty()) graph_.latency_s.push_back(whole.graph.latency_s[arc]);
  }
  occupation_.resize(whole.occupation.rows(), static_cast<Eigen::Index>(arcs_.size()));
  occupation_.setFromTriplets(entries.begin(), entries.end());
}

RoutedTree Plane::restore(RoutedTree tree) const {
  for (std::uint32_t& arc : tree.arcs) arc = arcs_[arc];
  return tree;
}

HostLinks links_of_hosts(const Digraph& graph) {
  std::vector<std::uint32_t> only(graph.node_count, kNone);
  HostLinks links = HostLinks::kOneSwitch;
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
    if (graph.relay(tail) && graph.relay(head)) continue;
    if (!graph.relay(tail) && !graph.relay(head)) return HostLinks::kHosts;
    const auto [host, node] = graph.relay(tail) ? std::pair(head, tail) : std::pair(tail, head);
    if (only[host] == kNone) only[host] = node;
    if (only[host] != node) links = HostLinks::kSeveralSwitches;
  }
  return links;
}

std::vector<Plane> planes_of(const PackingProblem& problem) {
  const Digraph& graph = problem.graph;
  SwitchParts parts(graph.node_count);
  const auto switches = switches_of_hosts(graph, parts);
  std::size_t most = 0;
  for (const auto& its : switches) most = std::max(most, its.size());
  std::vector<Plane> planes;
  for (std::size_t plane = 0; plane < most; ++plane) {
    std::vector<std::uint32_t> switch_of(graph.node_count, kNone);  // per host
    std::vector<char> has_hosts(graph.node_count, 0);               // per part
    for (std::uint32_t host = 0; host < graph.node_count; ++host) {
      if (switches[host].empty()) continue;
      switch_of[host] = switches[host][plane % switches[host].size()];
      has_hosts[parts.find_set(switch_of[host])] = 1;
    }
    std::vector<std::uint32_t> arcs;
    for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
      const auto [tail, head] = std::pair(graph.tail[arc], graph.head[arc]);
      const bool is_its =
          graph.relay(tail)
              ? graph.relay(head) ? has_hosts[parts.find_set(tail)] != 0 : switch_of[head] == tail
              : switch_of[tail] == head;
      if (is_its) arcs.push_back(arc);
    }
    planes.emplace_back(problem, std::move(arcs));
  }
  return planes;
}

void share_among(std::span<Plane> planes, std::span<const double> weights) {
  std::vector<double> sum;  // per resource, of the planes that use it
  std::vector<std::size_t> last_user;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const SparseMatrix& occupation = planes[i].occupation_;
    sum.resize(static_cast<std::size_t>(occupation.rows()), 0.0);
    last_user.resize(sum.size(), planes.size());
    for (std::uint32_t arc = 0; arc < planes[i].arcs_.size(); ++arc) {
      for (auto use = uses_of(occupation, arc); use; ++use) {
        const auto row = static_cast<std::size_t>(use.row());
        if (std::exchange(last_user[row], i) != i) sum[row] += weights[i];
      }
    }
  }
  for (std::size_t i = 0; i < planes.size(); ++i) {
    for (std::uint32_t arc = 0; arc < planes[i].arcs_.size(); ++arc) {
      for (auto use = uses_of(planes[i].occupation_, arc); use; ++use) {
        use.valueRef() *= sum[static_cast<std::size_t>(use.row())] / weights[i];
      }
    }
  }
}

}  // namespace espalier::lp
