#include "lp/fabric/host_order.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace espalier::lp {

namespace {

// Distances in links among the switches of a part.
class Distances {
 public:
  Distances(const Digraph& graph, const FabricTree& fabric)
      : graph_(graph),
        fabric_(fabric),
        out_(graph.node_count),
        hosts_at_(graph.node_count, 0),
        far_(graph.node_count, kNone) {
    for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
      if (graph.relay(graph.tail[arc]) && graph.relay(graph.head[arc])) {
        out_[graph.tail[arc]].push_back(graph.head[arc]);
      }
    }
  }
  [[nodiscard]] std::uint32_t switch_of(std::uint32_t host) const {
    return graph_.head[fabric_.arc_out[host]];
  }
  // Per node, the distance from the host's switch; kNone where no host of the part is as near. The
  // search ends when it has reached all of them, so that small parts cost little.
  const std::vector<std::uint32_t>& from(std::uint32_t host, std::span<const std::uint32_t> part) {
    for (const std::uint32_t node : reached_) far_[node] = kNone;
    for (const std::uint32_t other : part) ++hosts_at_[switch_of(other)];
    reached_.assign(1, switch_of(host));
    far_[reached_.front()] = 0;
    std::size_t left = part.size();
    for (std::size_t i = 0; left > hosts_at_[reached_[i]]; ++i) {
      left -= hosts_at_[reached_[i]];
      for (const std::uint32_t next : out_[reached_[i]]) {
        if (far_[next] != kNone) continue;
        far_[next] = far_[reached_[i]] + 1;
        reached_.push_back(next);
      }
    }
    for (const std::uint32_t other : part) hosts_at_[switch_of(other)] = 0;
    return far_;
  }

 private:
  const Digraph& graph_;
  const FabricTree& fabric_;
  std::vector<std::vector<std::uint32_t>> out_;  // per switch, its neighbours
  std::vector<std::size_t> hosts_at_;            // per switch, of the part
  std::vector<std::uint32_t> far_;
  std::vector<std::uint32_t> reached_;  // nodes whose distance is known
};

// Sorts the part so that its first half is nearer to one end. The ends are the host farthest from
// the first, and the host farthest from that.
void bisect(std::span<std::uint32_t> part, Distances& distances) {
  const auto farthest = [&](const std::vector<std::uint32_t>& far) {
    return *std::ranges::max_element(
        part, {}, [&](std::uint32_t host) { return far[distances.switch_of(host)]; });
  };
  const std::uint32_t one = farthest(distances.from(part.front(), part));
  const std::vector<std::uint32_t>& from_one = distances.from(one, part);
  const std::uint32_t other = farthest(from_one);
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;  // per host of the part
  for (const std::uint32_t host : part) {
    order.emplace_back(from_one[distances.switch_of(host)], host);
  }
  const std::vector<std::uint32_t>& from_other = distances.from(other, part);
  for (auto& [far, host] : order) far -= from_other[distances.switch_of(host)];
  std::ranges::stable_sort(order, {}, [](const auto& place) { return place.first; });
  std::ranges::transform(order, part.begin(), [](const auto& place) { return place.second; });
}

}  // namespace

BisectionOrder::BisectionOrder(const PackingProblem& problem, const FabricTree& fabric)
    : position_(problem.graph.node_count, 0) {
  constexpr std::size_t kSmallest = 4;  // hosts of a part that is not divided
  Distances distances(problem.graph, fabric);
  all_ = fabric.hosts;
  all_.push_back(problem.root);
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, all_.size()}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    if (last - first <= kSmallest) continue;
    bisect(std::span(all_).subspan(first, last - first), distances);
    const std::size_t middle = first + (last - first) / 2;
    open.emplace_back(first, middle);
    open.emplace_back(middle, last);
  }
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    position_[all_[i]] = i;
    if (all_[i] != problem.root) hosts_.push_back(all_[i]);
  }
}

std::uint32_t BisectionOrder::depth_of_boundary(std::uint32_t a, std::uint32_t b) const {
  std::size_t first = 0;
  std::size_t last = all_.size();
  std::uint32_t depth = 0;
  while (last - first > 1) {
    const std::size_t middle = first + (last - first) / 2;
    const bool a_is_before = position_[a] < middle;
    if (a_is_before != (position_[b] < middle)) break;
    (a_is_before ? last : first) = middle;
    ++depth;
  }
  return depth;
}

}  // namespace espalier::lp
