#include "lp/fabric/rings.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "lp/fabric/fabric_tree.hpp"
#include "lp/fabric/host_order.hpp"
#include "lp/fabric/routing.hpp"

namespace espalier::lp {

namespace {

constexpr std::array<std::size_t, 6> kRingCounts{1, 2, 4, 8, 16, 32};

// The rate, in bytes per second, at which every host can send and receive at the same time, if each
// has one link.
double rate_of_slowest(const PackingProblem& problem) {
  const Digraph& graph = problem.graph;
  std::map<std::pair<std::uint32_t, Eigen::Index>, double> seconds;  // per host and resource
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    for (const std::uint32_t end : {graph.tail[arc], graph.head[arc]}) {
      if (graph.relay(end)) continue;
      for (auto use = uses_of(problem.occupation, arc); use; ++use) {
        seconds[{end, use.row()}] += use.value();
      }
    }
  }
  double most_s = 0;
  for (const auto& [resource, of_host] : seconds) most_s = std::max(most_s, of_host);
  return 1 / most_s;
}

HostTree ring_along(const std::vector<std::uint32_t>& hosts) {
  HostTree edges;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    edges.push_back({hosts[i], hosts[(i + 1) % hosts.size()]});
  }
  return edges;
}

std::vector<HostRing> with_ways(const std::vector<std::uint32_t>& hosts, const Routes& routes) {
  std::vector<HostRing> rings;
  for (RoutedTree& ways : routes.trees()) rings.push_back({hosts, std::move(ways)});
  return rings;
}

}  // namespace

HostRings fabric_rings(const PackingProblem& problem, const Deadline& deadline) {
  HostRings best;
  const double rate = rate_of_slowest(problem);
  const std::optional<FabricTree> fabric = fabric_tree(problem, rate);
  if (!fabric || fabric->hosts.empty()) return best;
  const WalkOrder walk(*fabric);
  const BisectionOrder bisection(problem, *fabric);
  double least_load = std::numeric_limits<double>::infinity();
  for (const std::size_t count : kRingCounts) {
    for (const HostOrder* order :
         {static_cast<const HostOrder*>(&walk), static_cast<const HostOrder*>(&bisection)}) {
      std::vector<std::uint32_t> hosts{problem.root};
      hosts.insert(hosts.end(), order->hosts().begin(), order->hosts().end());
      Routes routes(problem, *fabric, std::vector(count, ring_along(hosts)),
                    rate / static_cast<double>(count));
      if (!routes.place(std::numeric_limits<double>::infinity(), deadline)) return best;
      routes.make_way(deadline);
      if (routes.load() >= least_load * (1 - kFabricRounding)) continue;
      least_load = routes.load();
      best = {with_ways(hosts, routes), routes.excess() == 0};
      if (best.fill_hosts || deadline.passed()) return best;
    }
  }
  return best;
}

}  // namespace espalier::lp
