#include "lp/graph/host_graph.hpp"

#include <algorithm>
#include <limits>

namespace espalier::lp {

namespace {
constexpr double kUnreached = std::numeric_limits<double>::infinity();
}  // namespace

HostGraph::HostGraph(const Digraph& graph, const Deadline& deadline)
    : graph_(&graph), watch_(deadline), entry_index_(graph.node_count, kNone) {
  const std::uint32_t arcs = static_cast<std::uint32_t>(graph.arc_count());
  first_out_.assign(graph.node_count + 1, 0);
  for (std::uint32_t arc = 0; arc < arcs; ++arc) ++first_out_[graph.tail[arc] + 1];
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    first_out_[node + 1] += first_out_[node];
  }
  out_.resize(arcs);
  std::vector<std::uint32_t> next(first_out_.begin(), first_out_.end() - 1);
  for (std::uint32_t arc = 0; arc < arcs; ++arc) {
    const std::uint32_t tail = graph.tail[arc];
    const std::uint32_t head = graph.head[arc];
    out_[next[tail]++] = {arc, head};
    if (graph.relay(tail)) continue;
    if (!graph.relay(head)) {
      tail_.push_back(tail);
      head_.push_back(head);
      direct_.push_back(arc);
    } else if (entry_index_[head] == kNone) {
      entry_index_[head] = static_cast<std::uint32_t>(entry_relays_.size());
      entry_relays_.push_back(head);
    }
  }
  if (!entry_relays_.empty()) find_relay_reach();
  watch_.require(tail_.size());
  cost_.resize(tail_.size());
}

// Which pairs of hosts are connected through relays does not depend on prices.
void HostGraph::find_relay_reach() {
  const std::size_t nodes = graph_->node_count;
  distance_.resize(entry_relays_.size() * nodes);
  last_arc_.resize(distance_.size());
  arc_cost_.assign(graph_->arc_count(), 1.0);
  for (std::uint32_t entry = 0; entry < entry_relays_.size(); ++entry) {
    run_dijkstra(entry, arc_cost_);
  }
  for (std::uint32_t host = 0; host < nodes; ++host) {
    if (graph_->relay(host)) continue;
    watch_.require(nodes);
    for (std::uint32_t other = 0; other < nodes; ++other) {
      if (other == host || graph_->relay(other)) continue;
      if (best_entry_arc(host, other, nullptr) == kNone) continue;
      tail_.push_back(host);
      head_.push_back(other);
    }
  }
}

void HostGraph::run_dijkstra(std::uint32_t entry, std::span<const double> arc_cost) {
  const std::size_t nodes = graph_->node_count;
  double* distance = distance_.data() + entry * nodes;
  std::uint32_t* last_arc = last_arc_.data() + entry * nodes;
  std::fill_n(distance, nodes, kUnreached);
  std::fill_n(last_arc, nodes, kNone);
  watch_.require(nodes + arc_cost.size());
  frontier_.clear();
  distance[entry_relays_[entry]] = 0;
  frontier_.emplace_back(0.0, entry_relays_[entry]);
  const auto later = [](const auto& a, const auto& b) { return a > b; };
  while (!frontier_.empty()) {
    std::pop_heap(frontier_.begin(), frontier_.end(), later);
    const auto [reached, node] = frontier_.back();
    frontier_.pop_back();
    if (reached > distance[node]) continue;
    for (std::uint32_t i = first_out_[node]; i < first_out_[node + 1]; ++i) {
      const auto [arc, head] = out_[i];
      const double candidate = reached + arc_cost[arc];
      if (candidate >= distance[head]) continue;
      distance[head] = candidate;
      last_arc[head] = arc;
      if (!graph_->relay(head)) continue;  // a host ends the path
      frontier_.emplace_back(candidate, head);
      std::push_heap(frontier_.begin(), frontier_.end(), later);
    }
  }
}

// The first arc, from `tail` to a relay, of the cheapest relay path to `head`; kNone: there is no
// such path.
std::uint32_t HostGraph::best_entry_arc(std::uint32_t tail, std::uint32_t head,
                                        double* cost) const {
  std::uint32_t best = kNone;
  double best_cost = kUnreached;
  for (std::uint32_t i = first_out_[tail]; i < first_out_[tail + 1]; ++i) {
    const auto [arc, relay] = out_[i];
    if (!graph_->relay(relay)) continue;
    const double candidate =
        arc_cost_[arc] +
        distance_[static_cast<std::size_t>(entry_index_[relay]) * graph_->node_count + head];
    if (candidate < best_cost) {
      best_cost = candidate;
      best = arc;
    }
  }
  if (cost != nullptr) *cost = best_cost;
  return best;
}

std::span<const double> HostGraph::reprice(std::span<const double> arc_cost) {
  for (std::size_t i = 0; i < direct_.size(); ++i) cost_[i] = arc_cost[direct_[i]];
  if (!entry_relays_.empty()) {
    arc_cost_.assign(arc_cost.begin(), arc_cost.end());
    for (std::uint32_t entry = 0; entry < entry_relays_.size(); ++entry) {
      run_dijkstra(entry, arc_cost_);
    }
    for (std::size_t i = direct_.size(); i < tail_.size(); ++i) {
      watch_.require(1);
      static_cast<void>(best_entry_arc(tail_[i], head_[i], &cost_[i]));
    }
  }
  return cost_;
}

void HostGraph::append_path(std::uint32_t logical_arc, std::vector<std::uint32_t>& path) const {
  if (logical_arc < direct_.size()) {
    path.push_back(direct_[logical_arc]);
    return;
  }
  const std::uint32_t first = best_entry_arc(tail_[logical_arc], head_[logical_arc], nullptr);
  path.push_back(first);
  const std::uint32_t relay = graph_->head[first];
  const std::uint32_t* last_arc =
      last_arc_.data() + static_cast<std::size_t>(entry_index_[relay]) * graph_->node_count;
  const auto begin = static_cast<std::ptrdiff_t>(path.size());
  for (std::uint32_t node = head_[logical_arc]; node != relay; node = graph_->tail[path.back()]) {
    path.push_back(last_arc[node]);
  }
  std::reverse(path.begin() + begin, path.end());
}

}  // namespace espalier::lp
