#include "planner/solve/latency_clusters.hpp"

#include <algorithm>

#include "lp/graph/digraph.hpp"

namespace espalier::planner {

std::vector<HostCluster> latency_clusters(const AllRoots& problem, const lp::HostArcs& arcs) {
  constexpr double kNear = 0.1;
  double longest_s = 0;
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    longest_s = std::max(longest_s, arcs.latency_s(arc));
  }
  const auto is_near = [&](std::uint32_t host, std::uint32_t other) {
    const std::uint32_t arc = arcs.find(host, other);
    return arc != lp::kNone && arcs.latency_s(arc) <= kNear * longest_s;
  };
  std::vector<HostCluster> clusters;
  for (const platforms::NodeId node : problem.platform().hosts()) {
    const auto host = static_cast<std::uint32_t>(index_of(node));
    const auto own = std::ranges::find_if(
        clusters, [&](const HostCluster& cluster) { return is_near(host, cluster.front()); });
    if (own == clusters.end()) {
      clusters.push_back({host});
    } else {
      if (!std::ranges::all_of(*own, [&](auto other) { return is_near(host, other); })) return {};
      own->push_back(host);
    }
  }
  return clusters;
}

}  // namespace espalier::planner
