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
      : graph_(graph), fabric_(fabric), out_(graph.node_count), far_(graph.node_count) {
    for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
      if (graph.relay(graph.tail[arc]) && graph.relay(graph.head[arc])) {
        out_[graph.tail[arc]].push_back(graph.head[arc]);
      }
    }
  }
  [[nodiscard]] std::uint32_t switch_of(std::uint32_t host) const {
    return graph_.head[fabric_.arc_out[host]];
  }
  // Per node, the distance from the host's switch.
  const std::vector<std::uint32_t>& from(std::uint32_t host) {
    std::ranges::fill(far_, kNone);
    std::vector<std::uint32_t> open{switch_of(host)};
    far_[open.front()] = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (const std::uint32_t next : out_[open[i]]) {
        if (far_[next] != kNone) continue;
        far_[next] = far_[open[i]] + 1;
        open.push_back(next);
      }
    }
    return far_;
  }

 private:
  const Digraph& graph_;
  const FabricTree& fabric_;
  std::vector<std::vector<std::uint32_t>> out_;  // per switch, its neighbours
  std::vector<std::uint32_t> far_;
};

// Sorts the part so that its first half is nearer to one end. The ends are the host farthest from
// the first, and the host farthest from that.
void bisect(std::span<std::uint32_t> part, Distances& distances) {
  const auto farthest = [&](const std::vector<std::uint32_t>& far) {
    return *std::ranges::max_element(
        part, {}, [&](std::uint32_t host) { return far[distances.switch_of(host)]; });
  };
  const std::uint32_t one = farthest(distances.from(part.front()));
  const std::vector<std::uint32_t> from_one = distances.from(one);
  const std::vector<std::uint32_t>& from_other = distances.from(farthest(from_one));
  std::ranges::stable_sort(part, {}, [&](std::uint32_t host) {
    const std::uint32_t at = distances.switch_of(host);
    return static_cast<std::int64_t>(from_one[at]) - static_cast<std::int64_t>(from_other[at]);
  });
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
