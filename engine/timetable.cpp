#include "engine/timetable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "support/errors.hpp"

namespace espalier::engine {

namespace {

// Each slot takes a few bytes on a rank.
constexpr double kMostSlots = 8 << 20;
// Segments in an assignment's table. Well above trees / loss of the schedules that espalier makes.
constexpr double kMostSegments = 1 << 20;

double slots_of(const planner::Plan& plan) {
  double slots = 0;
  for (std::size_t k = 0; k < plan.broadcast_trees.size(); ++k) {
    slots += static_cast<double>(plan.schedule->segments[k]) *
             static_cast<double>(plan.broadcast_trees[k].edges.size());
  }
  return slots;
}

}  // namespace

void require_timetable(const planner::Plan& plan, const std::string& file) {
  if (!plan.schedule) {
    throw InputError(file, "/schedule",
                     "this plan has no schedule; make one with espalier plan --schedule");
  }
  double segments = 0;
  for (const std::uint64_t count : plan.schedule->segments) segments += static_cast<double>(count);
  if (segments > kMostSegments || slots_of(plan) > kMostSlots) {
    throw InputError(
        file, "/schedule/slices",
        fmt::format(
            "a period has {:.0f} segments in {:.0f} sends; at most {:.0f} and {:.0f} can be run",
            segments, slots_of(plan), kMostSegments, kMostSlots));
  }
}

SlotOrder::SlotOrder(std::vector<Edge> edges, std::vector<Slot> slots)
    : edges_(std::move(edges)), slots_(std::move(slots)) {
  first_period_ = edges_.empty() ? 0 : UINT64_MAX;
  for (const Edge& edge : edges_) {
    first_period_ = std::min(first_period_, edge.behind / edge.slots);
  }
  reset();
}

// The slots of one edge. Positions and times are counted over all periods.
class Slots::Course {
 public:
  Course(std::vector<Time> times, double period_s, std::uint32_t tree, std::uint32_t child)
      : times_(std::move(times)), period_s_(period_s), tree_(tree), child_(child) {}

  [[nodiscard]] std::uint64_t count() const { return times_.size(); }
  [[nodiscard]] const std::vector<Time>& times() const { return times_; }
  [[nodiscard]] double start(std::uint64_t at) const {
    return times_[at % count()].start + begun_s(at);
  }
  [[nodiscard]] double end(std::uint64_t at) const {
    return times_[at % count()].end + begun_s(at);
  }
  // The position in the order of all slots.
  [[nodiscard]] auto key(std::uint64_t at) const {
    return std::tuple(period_of(at), times_[at % count()].middle, tree_, child_, at % count());
  }

  // The delay, in slots, that the next edge needs so that each segment has arrived when its slot on
  // that edge starts.
  [[nodiscard]] std::uint64_t slots_until(const Course& next, double latency_s) const {
    const double rounding = 1e-9 * period_s_;
    std::uint64_t later = 0;
    std::uint64_t then = 0;
    for (std::uint64_t at = 0; at < count(); ++at) {
      const double there = end(at) + latency_s - rounding;
      while (next.start(then) < there || next.key(then) < key(at)) ++then;
      later = std::max(later, then - std::min(then, at));
    }
    return later;
  }
  // The largest number of segments that have arrived on this edge and that the next edge, delayed
  // by `later` slots, has not sent.
  [[nodiscard]] std::uint64_t segments_held(const Course& next, std::uint64_t later) const {
    std::uint64_t held = 1;
    std::uint64_t sent = 0;  // earlier slots of the next edge
    for (std::uint64_t at = count(); at < 2 * count(); ++at) {
      while (next.key(sent) < key(at)) ++sent;
      held = std::max(held, at + later + 1 - sent);
    }
    return held;
  }

 private:
  [[nodiscard]] std::uint64_t period_of(std::uint64_t at) const { return at / count(); }
  [[nodiscard]] double begun_s(std::uint64_t at) const {
    return static_cast<double>(period_of(at)) * period_s_;
  }

  std::vector<Time> times_;
  double period_s_;
  std::uint32_t tree_;
  std::uint32_t child_;
};

namespace {

// The times at which an edge has sent a given share of its bytes of a period. Shares must be
// queried in ascending order.
class Progress {
 public:
  explicit Progress(std::span<const planner::ScheduledSend> sends) : sends_(sends) {
    for (const planner::ScheduledSend& send : sends) total_ += send.bytes;
  }
  // Between two sends: the end of the first.
  [[nodiscard]] double end_of(double share) { return moment(share, 1e-9); }
  // Between two sends: the start of the second.
  [[nodiscard]] double start_of(double share) { return moment(share, -1e-9); }

 private:
  double moment(double share, double rounding) {
    const double bytes = share * total_;
    while (at_ + 1 < sends_.size() &&
           bytes > before_ + sends_[at_].bytes + rounding * sends_[at_].bytes) {
      before_ += sends_[at_++].bytes;
    }
    const planner::ScheduledSend& send = sends_[at_];
    const double part = std::clamp((bytes - before_) / send.bytes, 0.0, 1.0);
    return send.start.value + send.time.value * part;
  }

  std::span<const planner::ScheduledSend> sends_;
  double total_ = 0;
  double before_ = 0;  // bytes of the sends before at_
  std::size_t at_ = 0;
};

}  // namespace

Slots::Slots(const planner::Plan& plan) : plan_(plan) {
  const std::size_t nodes = plan.nodes.size();
  const std::size_t trees = plan.broadcast_trees.size();
  sends_.assign(trees, std::vector<std::vector<planner::ScheduledSend>>(nodes));
  behind_.assign(trees, std::vector<std::uint64_t>(nodes, 0));
  for (const planner::ScheduledSend& send : plan.schedule->sends) {
    sends_[send.tree][send.child].push_back(send);
  }
  for (std::size_t tree = 0; tree < trees; ++tree) {
    buffer_segments_ =
        std::max(buffer_segments_, slots_in(tree));  // on the source, which loads whole periods
    if (slots_in(tree) != 0) delay_edges(tree);
  }
}

Slots::Course Slots::course_of(std::size_t tree, std::uint32_t child) const {
  const auto slots = static_cast<double>(slots_in(tree));
  Progress progress(sends_[tree][child]);
  std::vector<Time> times(slots_in(tree));
  double latest = 0;  // an edge's slots do not overlap even if its sends do
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto at = static_cast<double>(i);
    times[i].start = latest = std::max(latest, progress.start_of(at / slots));
    times[i].middle = latest = std::max(latest, progress.start_of((at + 0.5) / slots));
    times[i].end = latest = std::max(latest, progress.end_of((at + 1) / slots));
  }
  return {std::move(times), plan_.schedule->period.value, static_cast<std::uint32_t>(tree), child};
}

void Slots::delay_edges(std::size_t tree) {
  // Latencies are cut off at this; the rest is waited for in the slot itself.
  constexpr double kMostPeriods = 16;
  const planner::PlanTree& edges = plan_.broadcast_trees[tree];
  const double period_s = plan_.schedule->period.value;
  std::vector<std::vector<std::uint32_t>> children(plan_.nodes.size());
  std::vector<double> latency_s(plan_.nodes.size(), 0.0);
  for (std::size_t i = 0; i < edges.edges.size(); ++i) {
    children[edges.edges[i].parent].push_back(edges.edges[i].child);
    latency_s[edges.edges[i].child] = std::min(edges.latency(i).value, kMostPeriods * period_s);
  }
  std::vector<std::uint32_t> reached = children[planner::source_index(plan_)];
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint32_t node = reached[i];
    const std::uint64_t behind = behind_[tree][node];
    fill_ = std::max(fill_, static_cast<double>(behind) / static_cast<double>(slots_in(tree)));
    if (children[node].empty()) continue;
    const Course into = course_of(tree, node);
    for (const std::uint32_t child : children[node]) {
      const Course next = course_of(tree, child);
      const std::uint64_t later = into.slots_until(next, latency_s[node]);
      buffer_segments_ = std::max(buffer_segments_, into.segments_held(next, later));
      behind_[tree][child] = behind + later;
      reached.push_back(child);
    }
  }
}

Seconds Slots::fill(Bytes segment) const {
  const double of_plans =
      static_cast<double>(segment.value) / static_cast<double>(plan_.segment.value);
  return {fill_ * plan_.schedule->period.value * of_plans};
}

planner::SegmentAssignment Slots::assignment() const {
  return planner::assignment_for(*plan_.schedule);
}

Timetable Slots::of_rank(std::span<const int> rank_of_node, int rank,
                         std::span<const TreeRole> roles) const {
  struct Placed {
    double middle;
    std::uint32_t tree;
    std::uint32_t node;
    SlotOrder::Slot slot;
    [[nodiscard]] auto key() const { return std::tuple(middle, tree, node, slot.place); }
  };
  struct Port {
    std::vector<SlotOrder::Edge> edges;
    std::vector<Placed> slots;
    void add(const SlotOrder::Edge& edge, std::uint32_t node, const Course& course) {
      const auto index = static_cast<std::uint32_t>(edges.size());
      edges.push_back(edge);
      for (std::uint32_t place = 0; place < course.count(); ++place) {
        slots.push_back({course.times()[place].middle, edge.tree, node, {index, place}});
      }
    }
    [[nodiscard]] SlotOrder order() {
      std::ranges::sort(slots, {}, &Placed::key);
      std::vector<SlotOrder::Slot> in_order;
      in_order.reserve(slots.size());
      for (const Placed& placed : slots) in_order.push_back(placed.slot);
      return {std::move(edges), std::move(in_order)};
    }
  };
  Port out;
  Port in;
  std::uint64_t segments = 0;
  for (std::uint32_t tree = 0; tree < roles.size(); ++tree) {
    segments += slots_in(tree);
    if (slots_in(tree) == 0) continue;
    for (const planner::PlanEdge& edge : plan_.broadcast_trees[tree].edges) {
      const bool sends = rank_of_node[edge.parent] == rank;
      if (!sends && rank_of_node[edge.child] != rank) continue;
      SlotOrder::Edge of{tree, 0, slots_in(tree), behind_[tree][edge.child]};
      if (sends) {
        const auto child =
            std::ranges::find(roles[tree].out, rank_of_node[edge.child], &Edge::peer);
        of.child = static_cast<std::uint32_t>(child - roles[tree].out.begin());
      }
      (sends ? out : in).add(of, edge.child, course_of(tree, edge.child));
    }
  }
  return {out.order(), in.order(), segments};
}

}  // namespace espalier::engine
