#include "simulate/search/central_hosts.hpp"

#include <algorithm>
#include <numeric>

#include "planner/problem/fastest_paths.hpp"

namespace espalier::simulate {

std::vector<platforms::NodeId> central_hosts(const platforms::Platform& platform, Seconds overhead,
                                             std::size_t most) {
  std::vector<double> arc_s;
  for (const platforms::Arc& arc : platform.arcs()) {
    arc_s.push_back(arc.latency.value + arc.overhead.value + overhead.value +
                    1 / arc.bandwidth.value);
  }
  const auto farthest = planner::farthest_hosts(platform, std::move(arc_s));
  std::vector<std::size_t> order(farthest.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t host) { return farthest[host].time_s; });
  order.resize(std::min(order.size(), most));
  std::vector<platforms::NodeId> central;
  for (const std::size_t host : order) central.push_back(platform.hosts()[host]);
  return central;
}

}  // namespace espalier::simulate
