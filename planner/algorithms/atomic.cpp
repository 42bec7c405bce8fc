// Trees for one unsegmented message that minimise its makespan, by scheduling sends one by one
// (planner/schedule/list_schedule.hpp). A are the hosts that have the message, B the others.
//
//   FNF  (Banikazemi, Moorthy, Panda): the next receiver is the host of B with the least send time
//        per byte; its sender is the host of A that reaches it earliest.
//   ECEF (Bhat, Raghavendra, Prasanna): the pair of A x B whose send completes earliest is next.
//   ECEF with look-ahead (the same): adds what the receiver j would need for its cheapest send to
//        another host of B, min_k C_jk; hosts without a link to any other host of B come last.
#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/growing_tree.hpp"
#include "planner/schedule/list_schedule.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A tree under construction, and the schedule of its sends.
class Broadcast {
 public:
  // Keeps a reference to `arcs`, the instance's own.
  Broadcast(const Instance& instance, const lp::HostArcs& arcs, const AlgorithmOptions& options)
      : arcs_(arcs),
        watch_(options.deadline),
        schedule_(instance, options.message),
        in_tree_(instance.platform().nodes().size(), 0) {
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      lp::RoutedTree path;
      arcs_.add_edge(arc, path);
      watch_.require(32);
      latency_.push_back(path_latency(instance, path.path(0)));
    }
    in_tree_[index_of(instance.source())] = 1;
  }

  [[nodiscard]] const lp::HostArcs& arcs() const { return arcs_; }
  [[nodiscard]] bool in_tree(std::uint32_t node) const { return in_tree_[node] != 0; }
  // When the arc's receiver would have the message. Precondition: its sender has it.
  [[nodiscard]] double completion(std::uint32_t arc) const {
    return schedule_.earliest(arcs_.tail(arc), arcs_.uses(arc), latency_[arc]).completion;
  }
  // C_ij: the time of a send when all resources are free.
  [[nodiscard]] double cost(std::uint32_t arc) const {
    return arcs_.weight(arc) * schedule_.message_bytes() + latency_[arc];
  }
  void take(std::uint32_t arc) {
    schedule_.add(arcs_.tail(arc), arcs_.head(arc), arcs_.uses(arc), latency_[arc]);
    arcs_.add_edge(arc, tree_);
    in_tree_[arcs_.head(arc)] = 1;
  }
  [[nodiscard]] const lp::RoutedTree& tree() const { return tree_; }
  // Of the deadline; for the loops over candidates.
  [[nodiscard]] DeadlineWatch& watch() { return watch_; }

 private:
  const lp::HostArcs& arcs_;
  DeadlineWatch watch_;
  ListSchedule schedule_;
  std::vector<double> latency_;  // per arc
  std::vector<char> in_tree_;
  lp::RoutedTree tree_;
};

// look_ahead(receiver): seconds added to a send's completion; never decreases as hosts are added.
template <class LookAhead>
Outcome earliest_first(const Instance& instance, const AlgorithmOptions& options,
                       Broadcast& broadcast, LookAhead look_ahead) {
  const auto score = [&](std::uint32_t arc) {
    const double completion = broadcast.completion(arc);
    return std::pair(completion + look_ahead(broadcast.arcs().head(arc)), completion);
  };
  return single_tree(
      instance,
      grow_tree(broadcast.arcs(), static_cast<std::uint32_t>(instance.source()), options.deadline,
                score, [&](std::uint32_t arc) { broadcast.take(arc); }));
}

// min_k C_jk over the hosts k that are not in the tree. Amortised O(1) after sorting.
class CheapestNextSend {
 public:
  explicit CheapestNextSend(const Broadcast& broadcast)
      : broadcast_(broadcast), cheapest_first_(broadcast.arcs().node_count()) {
    const lp::HostArcs& arcs = broadcast.arcs();
    std::vector<double> cost(arcs.size());
    for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
      cost[arc] = broadcast.cost(arc);
      cheapest_first_[arcs.tail(arc)].push_back(arc);
    }
    // Kept in descending order, so that arcs are dropped at the end.
    for (std::vector<std::uint32_t>& out : cheapest_first_) {
      std::sort(out.begin(), out.end(),
                [&](std::uint32_t a, std::uint32_t b) { return cost[a] > cost[b]; });
    }
  }
  double operator()(std::uint32_t host) {
    std::vector<std::uint32_t>& out = cheapest_first_[host];
    while (!out.empty() && broadcast_.in_tree(broadcast_.arcs().head(out.back()))) out.pop_back();
    return out.empty() ? kInfinity : broadcast_.cost(out.back());
  }

 private:
  const Broadcast& broadcast_;
  std::vector<std::vector<std::uint32_t>> cheapest_first_;
};

// A host's send time per byte: that of its lightest arc.
double send_time(const lp::HostArcs& arcs, std::uint32_t host) {
  double least = kInfinity;
  for (const std::uint32_t arc : arcs.out_of(host)) least = std::min(least, arcs.weight(arc));
  return least;
}

std::uint32_t earliest_arc_into(std::uint32_t host, const Broadcast& broadcast) {
  std::uint32_t earliest = UINT32_MAX;
  double completion = kInfinity;
  for (const std::uint32_t arc : broadcast.arcs().into(host)) {
    if (!broadcast.in_tree(broadcast.arcs().tail(arc))) continue;
    const double its_completion = broadcast.completion(arc);
    if (its_completion >= completion) continue;
    completion = its_completion;
    earliest = arc;
  }
  return earliest;
}

}  // namespace

Outcome fnf(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse in_use(instance, options);
  const lp::HostArcs& arcs = in_use.get();
  Broadcast broadcast(instance, arcs, options);
  struct Receiver {
    double send_time;
    std::uint32_t host;
  };
  const auto slower = [](const Receiver& a, const Receiver& b) {
    return std::tie(a.send_time, a.host) > std::tie(b.send_time, b.host);
  };
  // Hosts with a link from one that has the message.
  std::priority_queue<Receiver, std::vector<Receiver>, decltype(slower)> next(slower);
  std::vector<char> known(arcs.node_count(), 0);
  const auto add_sender = [&](std::uint32_t node) {
    known[node] = 1;
    for (const std::uint32_t arc : arcs.out_of(node)) {
      const std::uint32_t host = arcs.head(arc);
      if (known[host] != 0) continue;
      known[host] = 1;
      next.push({send_time(arcs, host), host});
    }
  };
  add_sender(static_cast<std::uint32_t>(instance.source()));
  while (!next.empty()) {
    const std::uint32_t fastest = next.top().host;
    next.pop();
    broadcast.watch().require(32 * (arcs.into(fastest).size() + arcs.out_of(fastest).size()));
    broadcast.take(earliest_arc_into(fastest, broadcast));
    add_sender(fastest);
  }
  return single_tree(instance, broadcast.tree());
}

Outcome ecef(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse arcs(instance, options);
  Broadcast broadcast(instance, arcs.get(), options);
  return earliest_first(instance, options, broadcast, [](std::uint32_t) { return 0.0; });
}

Outcome ecef_lookahead(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse arcs(instance, options);
  Broadcast broadcast(instance, arcs.get(), options);
  return earliest_first(instance, options, broadcast, CheapestNextSend(broadcast));
}

}  // namespace espalier::planner::tree_algorithms
