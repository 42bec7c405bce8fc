#include "planner/problem/host_groups.hpp"

#include "planner/problem/bandwidth_clusters.hpp"
#include "support/prefix_numbers.hpp"

namespace espalier::planner {

HostGroups host_groups(const platforms::Platform& platform, GroupLevels levels) {
  HostGroups groups(platform.nodes().size());
  PrefixNumbers numbers;
  for (const platforms::NodeId host : platform.hosts()) {
    std::vector<std::uint32_t>& own = groups[index_of(host)];
    own = numbers.of(platform.node(host).group);
    if (own.size() < 2 || levels == GroupLevels::kAll) continue;
    own = {levels == GroupLevels::kFinest ? own.back() : own.front()};
  }
  if (!numbers.none()) return groups;
  const std::vector<std::uint32_t> clusters = bandwidth_clusters(platform);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    groups[index_of(platform.hosts()[i])] = {clusters[i]};
  }
  return groups;
}

}  // namespace espalier::planner
