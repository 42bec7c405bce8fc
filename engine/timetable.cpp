#include "engine/timetable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "planner/plan/schedule_periods.hpp"
#include "support/errors.hpp"

namespace espalier::engine {

namespace {

// Each slot takes a few bytes on a rank.
constexpr double kMostSlots = 8 << 20;
// Segments in an assignment's table. Well above trees / loss of the schedules that espalier makes.
constexpr double kMostSegments = 1 << 20;

double slots_of(const planner::Plan& plan) {
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan);
  double slots = 0;
  for (std::size_t k = 0; k < trees.size(); ++k) {
    slots += static_cast<double>(plan.schedule->segments[k]) *
             static_cast<double>(trees[k].tree->edges.size());
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
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan_);
  const std::size_t nodes = plan.nodes.size();
  sends_.assign(trees.size(), std::vector<std::vector<planner::ScheduledSend>>(nodes));
  from_root_.assign(trees.size(), std::vector<std::uint64_t>(nodes, 0));
  behind_ = from_root_;
  held_.assign(trees.size(), std::vector<std::uint64_t>(nodes, 1));
  for (const planner::ScheduledSend& send : plan.schedule->sends) {
    sends_[send.tree][send.child].push_back(send);
  }
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    buffer_segments_ =
        std::max(buffer_segments_, slots_in(tree));  // on the source, which loads whole periods
    if (slots_in(tree) != 0) set_distances(tree, trees[tree]);
  }
  delay_edges(trees);
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

double Slots::latency_s(const planner::PlanTree& tree, std::size_t edge) const {
  // Latencies are cut off at this; the rest is waited for in the slot itself.
  constexpr double kMostPeriods = 16;
  return std::min(tree.latency(edge).value, kMostPeriods * plan_.schedule->period.value);
}

// From the root on: where data goes away from it, each edge as early as it can be, where data goes
// to it, as late as it can be, so that the segments of all children arrive together.
void Slots::set_distances(std::size_t tree, const planner::DirectedTree& of) {
  const std::vector<planner::PlanEdge>& edges = of.tree->edges;
  std::vector<std::vector<std::uint32_t>> children(plan_.nodes.size());
  std::vector<double> latency(plan_.nodes.size(), 0.0);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    children[edges[i].parent].push_back(edges[i].child);
    latency[edges[i].child] = latency_s(*of.tree, i);
  }
  std::vector<std::uint32_t> reached = children[planner::source_index(plan_)];
  if (of.up) {
    // All of them have the segments of the same batch in a period.
    for (const std::uint32_t child : reached) held_[tree][child] = slots_in(tree);
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint32_t node = reached[i];
    if (children[node].empty()) continue;
    const Course of_node = course_of(tree, node);
    for (const std::uint32_t child : children[node]) {
      const Course of_child = course_of(tree, child);
      const std::uint32_t earlier = of.up ? child : node;
      const Course& first = of.up ? of_child : of_node;
      const Course& next = of.up ? of_node : of_child;
      const std::uint64_t later = first.slots_until(next, latency[earlier]);
      std::uint64_t& held = held_[tree][earlier];
      held = std::max(held, first.segments_held(next, later));
      if (!of.up) buffer_segments_ = std::max(buffer_segments_, held);
      from_root_[tree][child] = from_root_[tree][node] + later;
      reached.push_back(child);
    }
  }
}

Slots::Turn Slots::turn_at_root(std::span<const planner::DirectedTree> trees) const {
  const std::uint32_t root = planner::source_index(plan_);
  Turn turn;
  double arrival_s = 0;  // since the start of the period in which a batch arrives
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    if (!trees[tree].up || slots_in(tree) == 0) continue;
    const std::uint64_t slots = slots_in(tree);
    const std::uint64_t farthest = std::ranges::max(from_root_[tree]);
    turn.arrives = std::max(turn.arrives, (farthest + slots - 1) / slots);
    const std::vector<planner::PlanEdge>& edges = trees[tree].tree->edges;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].parent != root) continue;
      const double end_s = course_of(tree, edges[i].child).end(slots - 1);
      arrival_s = std::max(arrival_s, end_s + latency_s(*trees[tree].tree, i));
    }
  }
  turn.leaves = turn.arrives;
  if (arrival_s > 0) {
    turn.leaves += planner::periods_until({arrival_s}, plan_.schedule->period);
  }
  return turn;
}

// All reduce trees deliver a batch to the root in the same period, so that it has the segments in
// the order of the message to within a batch.
void Slots::delay_edges(std::span<const planner::DirectedTree> trees) {
  const Turn turn = turn_at_root(trees);
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    const std::uint64_t slots = slots_in(tree);
    if (slots == 0) continue;
    for (const planner::PlanEdge& edge : trees[tree].tree->edges) {
      const std::uint64_t from_root = from_root_[tree][edge.child];
      std::uint64_t& behind = behind_[tree][edge.child];
      behind = trees[tree].up ? turn.arrives * slots - from_root : turn.leaves * slots + from_root;
      fill_ = std::max(fill_, static_cast<double>(behind) / static_cast<double>(slots));
    }
  }
}

Seconds Slots::fill(Bytes segment) const {
  const double of_plans =
      static_cast<double>(segment.value) / static_cast<double>(plan_.segment.value);
  return {fill_ * plan_.schedule->period.value * of_plans};
}

std::vector<planner::SegmentAssignment> Slots::assignments() const {
  return planner::assignments_by_schedule(plan_);
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
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan_);
  const auto place_of = [](const std::vector<Edge>& edges, int peer) {
    return static_cast<std::uint32_t>(std::ranges::find(edges, peer, &Edge::peer) - edges.begin());
  };
  for (std::uint32_t tree = 0; tree < roles.size(); ++tree) {
    if (slots_in(tree) == 0) continue;
    for (const planner::PlanEdge& edge : trees[tree].tree->edges) {
      const int sender = rank_of_node[trees[tree].sender(edge)];
      const int receiver = rank_of_node[trees[tree].receiver(edge)];
      SlotOrder::Edge of{tree, 0, slots_in(tree), behind_[tree][edge.child],
                         held_[tree][edge.child]};
      if (sender == rank) {
        of.edge = place_of(roles[tree].out, receiver);
        out.add(of, edge.child, course_of(tree, edge.child));
      } else if (receiver == rank) {
        of.edge = place_of(roles[tree].in, sender);
        in.add(of, edge.child, course_of(tree, edge.child));
      }
    }
  }
  return {out.order(), in.order(), planner::segments_in_period(plan_, *plan_.schedule)};
}

}  // namespace espalier::engine
