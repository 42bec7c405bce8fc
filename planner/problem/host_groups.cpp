#include "planner/problem/host_groups.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "planner/problem/bandwidth_clusters.hpp"

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

// Numbers group paths, and every prefix of one, in order of appearance.
class GroupNumbers {
 public:
  std::vector<std::uint32_t> of(std::string_view path) {
    std::vector<std::uint32_t> numbers;
    std::string prefix;
    for (std::size_t start = 0; start < path.size();) {
      const std::size_t end = std::min(path.find('/', start), path.size());
      if (end > start) {
        prefix += '/';
        prefix += path.substr(start, end - start);
        const auto next = static_cast<std::uint32_t>(known_.size());
        numbers.push_back(known_.try_emplace(prefix, next).first->second);
      }
      start = end + 1;
    }
    return numbers;
  }
  [[nodiscard]] bool none() const { return known_.empty(); }

 private:
  std::map<std::string, std::uint32_t> known_;
};

}  // namespace

HostGroups host_groups(const Platform& platform, GroupLevels levels) {
  HostGroups groups(platform.nodes().size());
  GroupNumbers numbers;
  for (const NodeId host : platform.hosts()) {
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
