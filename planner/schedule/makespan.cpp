#include "planner/schedule/makespan.hpp"

#include <algorithm>
#include <queue>
#include <vector>

#include "planner/schedule/list_schedule.hpp"

namespace espalier::planner {

namespace {

// A tree's edge, with the next edge of the same sender.
struct Edge {
  std::uint32_t parent;
  std::uint32_t child;
  std::uint32_t next_sibling;
  double latency;
  std::vector<lp::HostArcs::Use> uses;
};
constexpr std::uint32_t kNoEdge = UINT32_MAX;

struct Waiting {
  double start;  // lower bound on when the edge's send can begin
  std::uint32_t edge;
};
struct Later {
  bool operator()(const Waiting& a, const Waiting& b) const {
    return a.start > b.start || (a.start == b.start && a.edge > b.edge);
  }
};

class TreeSchedule {
 public:
  TreeSchedule(const Instance& instance, const lp::RoutedTree& tree, Bytes message)
      : schedule_(instance, message), first_child_(instance.platform().nodes().size(), kNoEdge) {
    const lp::Digraph& graph = instance.digraph();
    for (std::size_t i = 0; i < tree.edge_count(); ++i) {
      const std::span<const std::uint32_t> path = tree.path(i);
      Edge& edge = edges_.emplace_back(Edge{graph.tail[path.front()],
                                            graph.head[path.back()],
                                            kNoEdge,
                                            path_latency(instance, path),
                                            {}});
      lp::HostArcs::append_uses(instance.occupation().seconds_per_byte, path, edge.uses);
    }
    for (std::uint32_t i = static_cast<std::uint32_t>(edges_.size()); i-- > 0;) {
      std::uint32_t& first = first_child_[edges_[i].parent];
      edges_[i].next_sibling = first;
      first = i;
    }
    wait(first_child_[index_of(instance.source())]);
  }

  Seconds run() {
    double makespan = 0;
    while (!waiting_.empty()) {
      const Waiting first = waiting_.top();
      waiting_.pop();
      const Edge& edge = edges_[first.edge];
      // Resources only get busier, so an outdated start is too early: reinsert it.
      if (schedule_.earliest(edge.parent, edge.uses, edge.latency).start > first.start) {
        wait(first.edge);
        continue;
      }
      const ListSchedule::Send send =
          schedule_.add(edge.parent, edge.child, edge.uses, edge.latency);
      makespan = std::max(makespan, send.completion);
      wait(edge.next_sibling);
      wait(first_child_[edge.child]);
    }
    return {makespan};
  }

 private:
  void wait(std::uint32_t edge) {
    if (edge == kNoEdge) return;
    const Edge& next = edges_[edge];
    waiting_.push({schedule_.earliest(next.parent, next.uses, next.latency).start, edge});
  }

  ListSchedule schedule_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> first_child_;  // per node, an edge
  std::priority_queue<Waiting, std::vector<Waiting>, Later> waiting_;
};

}  // namespace

Seconds atomic_makespan(const Instance& instance, const lp::RoutedTree& tree, Bytes message) {
  return TreeSchedule(instance, tree, message).run();
}

std::optional<Seconds> makespan_of(const Outcome& outcome, const Collective& collective,
                                   Bytes message) {
  if (outcome.trees.size() != 1 || !outcome.reduce_trees.empty()) return std::nullopt;
  return atomic_makespan(*collective.broadcast(), outcome.trees.front().tree, message);
}

}  // namespace espalier::planner
