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
#include <tuple>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
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

// A candidate for the next send. Times only get later, so an outdated candidate is too early.
struct Candidate {
  double score;
  double completion;
  std::uint32_t arc;
};
struct Worse {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return std::tie(a.score, a.completion, a.arc) > std::tie(b.score, b.completion, b.arc);
  }
};

// look_ahead(receiver): seconds added to a send's completion; never decreases as hosts are added.
template <class LookAhead>
void earliest_first(std::uint32_t source, Broadcast& broadcast, LookAhead look_ahead) {
  const lp::HostArcs& arcs = broadcast.arcs();
  std::vector<Candidate> heap;
  const auto candidate = [&](std::uint32_t arc) {
    const double completion = broadcast.completion(arc);
    return Candidate{completion + look_ahead(arcs.head(arc)), completion, arc};
  };
  const auto push = [&](const Candidate& next) {
    heap.push_back(next);
    std::push_heap(heap.begin(), heap.end(), Worse{});
  };
  const auto add_sender = [&](std::uint32_t node) {
    broadcast.watch().require(32 * arcs.out_of(node).size());
    for (const std::uint32_t arc : arcs.out_of(node)) {
      if (!broadcast.in_tree(arcs.head(arc))) push(candidate(arc));
    }
  };
  add_sender(source);
  while (!heap.empty()) {
    broadcast.watch().require(64);
    std::pop_heap(heap.begin(), heap.end(), Worse{});
    const Candidate best = heap.back();
    heap.pop_back();
    if (broadcast.in_tree(arcs.head(best.arc))) continue;
    const Candidate now = candidate(best.arc);
    if (Worse{}(now, best)) {
      push(now);
      continue;
    }
    broadcast.take(best.arc);
    add_sender(arcs.head(best.arc));
  }
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
  std::vector<Receiver> heap;  // hosts with a link from one that has the message
  std::vector<char> known(arcs.node_count(), 0);
  const auto add_sender = [&](std::uint32_t node) {
    known[node] = 1;
    for (const std::uint32_t arc : arcs.out_of(node)) {
      const std::uint32_t host = arcs.head(arc);
      if (known[host] != 0) continue;
      known[host] = 1;
      heap.push_back({send_time(arcs, host), host});
      std::push_heap(heap.begin(), heap.end(), slower);
    }
  };
  add_sender(static_cast<std::uint32_t>(instance.source()));
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), slower);
    const std::uint32_t fastest = heap.back().host;
    heap.pop_back();
    broadcast.watch().require(32 * (arcs.into(fastest).size() + arcs.out_of(fastest).size()));
    broadcast.take(earliest_arc_into(fastest, broadcast));
    add_sender(fastest);
  }
  return single_tree(instance, broadcast.tree());
}

Outcome ecef(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse arcs(instance, options);
  Broadcast broadcast(instance, arcs.get(), options);
  earliest_first(static_cast<std::uint32_t>(instance.source()), broadcast,
                 [](std::uint32_t) { return 0.0; });
  return single_tree(instance, broadcast.tree());
}

Outcome ecef_lookahead(const Instance& instance, const AlgorithmOptions& options) {
  const HostArcsInUse arcs(instance, options);
  Broadcast broadcast(instance, arcs.get(), options);
  earliest_first(static_cast<std::uint32_t>(instance.source()), broadcast,
                 CheapestNextSend(broadcast));
  return single_tree(instance, broadcast.tree());
}

}  // namespace espalier::planner::tree_algorithms
