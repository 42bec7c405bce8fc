#include "planner/problem/bandwidth_clusters.hpp"

#include <algorithm>
#include <numeric>

namespace espalier::planner {

namespace {

using platforms::Platform;

// Disjoint sets of a platform's nodes, with the number of hosts in each set.
class NodeSets {
 public:
  explicit NodeSets(const Platform& platform) : parent_(platform.nodes().size()), hosts_(parent_) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      hosts_[i] = platform.nodes()[i].relay ? 0 : 1;
    }
  }
  std::uint32_t find(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  // Returns whether hosts of two different sets were merged.
  bool merge(std::uint32_t one, std::uint32_t other) {
    one = find(one);
    other = find(other);
    if (one == other) return false;
    const bool joins_hosts = hosts_[one] > 0 && hosts_[other] > 0;
    parent_[other] = one;
    hosts_[one] += hosts_[other];
    return joins_hosts;
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> hosts_;
};

// Bytes per second of each arc, limited by the narrowest shared link that it crosses.
std::vector<double> arc_bandwidths(const Platform& platform) {
  std::vector<double> bandwidth;
  for (const platforms::Arc& arc : platform.arcs()) bandwidth.push_back(arc.bandwidth.value);
  for (const platforms::SharedLink& link : platform.shared_links()) {
    for (const platforms::ArcId arc : link.arcs) {
      bandwidth[index_of(arc)] = std::min(bandwidth[index_of(arc)], link.bandwidth.value);
    }
  }
  return bandwidth;
}

NodeSets merged(const Platform& platform, const std::vector<std::uint32_t>& arcs,
                std::vector<std::uint32_t>* joining) {
  NodeSets sets(platform);
  for (const std::uint32_t id : arcs) {
    const platforms::Arc& arc = platform.arcs()[id];
    const bool joins_hosts =
        sets.merge(static_cast<std::uint32_t>(arc.from), static_cast<std::uint32_t>(arc.to));
    if (joins_hosts && joining != nullptr) joining->push_back(id);
  }
  return sets;
}

// The least bandwidth that still joins hosts into one cluster.
double cut_bandwidth(const std::vector<double>& bandwidth,
                     const std::vector<std::uint32_t>& joining) {
  double largest_ratio = kLeastClusterRatio;
  double cut = 0;
  for (std::size_t i = 1; i < joining.size(); ++i) {
    const double ratio = bandwidth[joining[i - 1]] / bandwidth[joining[i]];
    if (ratio < largest_ratio) continue;
    largest_ratio = ratio;
    cut = bandwidth[joining[i - 1]];
  }
  return cut;
}

}  // namespace

std::vector<std::uint32_t> bandwidth_clusters(const Platform& platform) {
  const std::vector<double> bandwidth = arc_bandwidths(platform);
  std::vector<std::uint32_t> order(bandwidth.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return bandwidth[a] > bandwidth[b]; });
  std::vector<std::uint32_t> joining;  // the arcs of the spanning tree that join hosts
  merged(platform, order, &joining);
  const double cut = cut_bandwidth(bandwidth, joining);
  std::erase_if(order, [&](std::uint32_t arc) { return bandwidth[arc] < cut; });
  NodeSets sets = merged(platform, order, nullptr);

  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> number_of(platform.nodes().size(), kNone);
  std::vector<std::uint32_t> cluster;
  std::uint32_t clusters = 0;
  for (const platforms::NodeId host : platform.hosts()) {
    std::uint32_t& number = number_of[sets.find(static_cast<std::uint32_t>(host))];
    if (number == kNone) number = clusters++;
    cluster.push_back(number);
  }
  return cluster;
}

}  // namespace espalier::planner
