#include "planner/schedule/barrier_bound.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "planner/problem/fastest_paths.hpp"
#include "planner/problem/reach.hpp"

namespace espalier::planner {

void require_barrier(const platforms::Platform& platform) {
  require_hosts(platform, "a barrier");
  require_reachable(platform, platform.hosts().front());
  require_return(platform, platform.hosts().front());
}

BarrierBound barrier_bound(const platforms::Platform& platform, platforms::Model model) {
  require_barrier(platform);
  const auto hosts = platform.hosts();
  std::vector<double> latency_s;
  Seconds overhead{std::numeric_limits<double>::infinity()};
  for (const platforms::Arc& arc : platform.arcs()) {
    latency_s.push_back(arc.latency.value);
    overhead = std::min(overhead, arc.overhead);
  }
  const std::vector<FarthestHost> farthest = farthest_hosts(platform, std::move(latency_s));
  const auto last = std::ranges::max_element(farthest, {}, &FarthestHost::time_s);
  BarrierBound bound{
      {0}, hosts[static_cast<std::size_t>(last - farthest.begin())], last->host, {last->time_s}};
  const auto doublings = static_cast<double>(std::bit_width(hosts.size() - 1));
  bound.time = Seconds{bound.latency.value + overhead.value};
  if (platforms::is_one_port(model)) {
    bound.time = std::max(bound.time, Seconds{doublings * overhead.value});
  }
  return bound;
}

}  // namespace espalier::planner
