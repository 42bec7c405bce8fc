#include "tests/simulate/plain_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

#include "tests/simulate/plain_needs.hpp"
#include "tests/simulate/plain_trees.hpp"

namespace espalier::testing {

namespace {

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

struct PlainSend {
  std::size_t tree;  // numbered over both kinds, the reduce trees first
  std::size_t edge;
  std::size_t nth;
  std::size_t stretches_begun = 0;
  Ticks end = 0;           // of all stretches that have begun
  Ticks arrival = kNever;  // set when all have begun
};

// What a host combines, or combined last.
struct Job {
  std::size_t tree = SIZE_MAX;
  Ticks end = kNever;
};

class PlainSimulation : PlainTrees {
 public:
  PlainSimulation(const planner::Plan& plan, const platforms::Platform& platform,
                  std::uint64_t message, const PlainOptions& options, double tick_s)
      : PlainTrees(plan, message),
        plan_(plan),
        options_(options),
        tick_s_(tick_s),
        rest_(message % plan.segment.value) {
    source_ = planner::source_index(plan);
    whole_ = plain_needs(plan, platform, trees_, plan.segment.value, tick_s);
    if (rest_ > 0) last_ = plain_needs(plan, platform, trees_, rest_, tick_s);
    free_at_.assign(whole_.resources, 0);
    has_.assign(plan.nodes.size(), std::vector<std::size_t>(trees_.size(), 0));
    added_ = has_;
    jobs_.resize(plan.nodes.size());
    for (const PlainTree& tree : trees_) {
      arrived_.emplace_back(tree.tree->edges.size(), 0);
      receives_.emplace_back(tree.tree->edges.size(), 0);
    }
    for (std::size_t host = 0; host < plan.nodes.size(); ++host) {
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        if (trees_[tree].up && children(host, tree).empty()) has_[host][tree] = end_of(tree);
      }
    }
    done_.assign(plan.nodes.size(), 0);
  }

  PlainRun run() {
    for (Ticks now = 0; now != kNever; now = next_after(now)) {
      take_arrivals(now);
      for (std::size_t host = 0; host < plan_.nodes.size(); ++host) end_job(host, now);
      for (std::size_t host = 0; host < plan_.nodes.size(); ++host) combine(host, now);
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) post_receives(tree, now);
      for (std::size_t host = 0; host < plan_.nodes.size(); ++host) post(host, now);
      begin(now);
    }
    PlainRun result{{}, most_waiting_};
    for (const Ticks done : done_) {
      result.done_s.push_back(static_cast<double>(done) * tick_s_);
    }
    return result;
  }

 private:
  [[nodiscard]] bool keeps_result(std::size_t host) const { return host == source_ || down_; }

  void take_arrivals(Ticks now) {
    for (const PlainSend& send : sends_) {
      const planner::PlanEdge& edge = edges_of(send.tree)[send.edge];
      if (send.arrival != kNever && send.end == now && !keeps_result(edge.child)) {
        done_[edge.child] = now;
      }
      if (send.arrival != now) continue;
      if (trees_[send.tree].up) {
        ++arrived_[send.tree][send.edge];
        continue;
      }
      ++has_[edge.child][send.tree];
      done_[edge.child] = now;
    }
  }

  // --- combining: one child's segment after the other, the trees in turns ---

  [[nodiscard]] bool can_add(std::size_t host, std::size_t tree) const {
    if (!trees_[tree].up) return false;
    const std::vector<std::size_t> edges = children(host, tree);
    return !edges.empty() && arrived_[tree][edges[added_[host][tree]]] > has_[host][tree];
  }
  void add(std::size_t host, std::size_t tree, Ticks now) {
    if (++added_[host][tree] < children(host, tree).size()) return;
    added_[host][tree] = 0;
    ++has_[host][tree];
    if (host == source_) done_[host] = now;
  }
  [[nodiscard]] Ticks combining_time(std::size_t host, std::size_t tree) const {
    const bool is_short = rest_ > 0 && segment_of(tree, has_[host][tree]) + 1 == segments_;
    const auto bytes = static_cast<double>(is_short ? rest_ : plan_.segment.value);
    return std::llround(bytes * options_.combine_s_per_byte / tick_s_);
  }
  void end_job(std::size_t host, Ticks now) {
    if (jobs_[host].end != now) return;
    jobs_[host].end = kNever;
    add(host, jobs_[host].tree, now);
  }
  void combine(std::size_t host, Ticks now) {
    Job& job = jobs_[host];
    while (job.end == kNever) {
      std::size_t next = SIZE_MAX;
      for (std::size_t i = 1; i <= trees_.size() && next == SIZE_MAX; ++i) {
        const std::size_t tree = job.tree == SIZE_MAX ? i - 1 : (job.tree + i) % trees_.size();
        if (can_add(host, tree)) next = tree;
      }
      job.tree = next;
      if (next == SIZE_MAX) return;
      if (options_.combine_s_per_byte > 0) {
        job.end = now + combining_time(host, next);
      } else {
        add(host, next, now);
      }
    }
  }

  // --- windows: of an edge towards the root, as many more as are in flight there and back ---

  [[nodiscard]] std::size_t window_of(std::size_t tree, std::size_t edge, std::size_t base) const {
    if (!trees_[tree].up) return base;
    const double in_flight = trees_[tree].tree->rate.value * whole_.latency_s[tree][edge] /
                             static_cast<double>(plan_.segment.value);
    if (in_flight < 1.0 / 16) return base;
    return base + static_cast<std::size_t>(std::min(256.0, std::ceil(2 * in_flight))) +
           (in_flight < 0.25 ? 0 : 16);
  }

  // --- receives of a reduction, posted as engine/engine_in.hpp does ---

  void post_receives(std::size_t tree, Ticks now) {
    if (!trees_[tree].up) return;
    for (std::size_t edge = 0; edge < receives_[tree].size(); ++edge) {
      while (may_receive(tree, edge, now)) ++receives_[tree][edge];
    }
  }
  [[nodiscard]] bool may_receive(std::size_t tree, std::size_t edge, Ticks now) const {
    const std::size_t host = edges_of(tree)[edge].parent;
    const std::vector<std::size_t> edges = children(host, tree);
    const auto place = static_cast<std::size_t>(std::ranges::find(edges, edge) - edges.begin());
    const std::size_t posted_here = receives_[tree][edge];
    if (posted_here == end_of(tree)) return false;
    const std::size_t window = window_of(tree, edge, options_.receives);
    std::size_t ring = window;
    std::size_t freed = has_[host][tree] + (added_[host][tree] > place ? 1 : 0);
    // For the engine, what takes time to add has not arrived until it is added.
    const std::size_t here = options_.combine_s_per_byte > 0 ? freed : arrived_[tree][edge];
    if (posted_here - here >= window) return false;
    if (place == 0 && !keeps_result(host)) {
      const auto& all = edges_of(tree);
      const auto own = static_cast<std::size_t>(
          std::ranges::find(all, host, &planner::PlanEdge::child) - all.begin());
      ring += window_of(tree, own, options_.window);
      freed = ended(tree, own, now);
    }
    if (posted_here - freed >= ring) return false;
    return host != source_ || !is_too_far_ahead(segment_of(tree, posted_here));
  }
  [[nodiscard]] bool is_too_far_ahead(std::uint64_t index) const {
    std::size_t windows = 0;
    bool is_far = false;
    for (std::size_t tree = 0; tree < plan_.reduce_trees.size(); ++tree) {
      std::size_t most = 0;
      for (const std::size_t edge : children(source_, tree)) {
        most = std::max(most, window_of(tree, edge, options_.receives));
      }
      windows += most;
      is_far = is_far || most > options_.receives;
    }
    if (plan_.reduce_trees.size() == 1 && !is_far) return false;
    return is_beyond(index, 4 * windows,
                     [this](std::uint64_t segment) { return is_combined(segment); });
  }
  // Whether a segment that is so far before this one is not finished.
  template <class IsFinished>
  [[nodiscard]] static bool is_beyond(std::uint64_t index, std::uint64_t lookahead,
                                      const IsFinished& is_finished) {
    for (std::uint64_t segment = 0; segment + lookahead <= index; ++segment) {
      if (!is_finished(segment)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_combined(std::uint64_t segment) const {
    const std::size_t tree = up_->tree_of(segment);
    return has_[source_][tree] > up_->count(tree, segment);
  }

  [[nodiscard]] std::size_t posted(std::size_t tree, std::size_t edge) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        sends_, [&](const PlainSend& send) { return send.tree == tree && send.edge == edge; }));
  }
  [[nodiscard]] std::size_t ended(std::size_t tree, std::size_t edge, Ticks now) const {
    return static_cast<std::size_t>(std::ranges::count_if(sends_, [&](const PlainSend& send) {
      return send.tree == tree && send.edge == edge && send.arrival != kNever && send.end <= now;
    }));
  }

  void post(std::size_t host, Ticks now) {
    if (host == source_ && down_) inject(now);
    for (bool any = true; any;) {
      any = false;
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        any = post_tree(host, tree, now) || any;
      }
    }
  }

  // A broadcast's segments in the order of the message, those that are combined each tree by
  // itself.
  void inject(Ticks now) {
    if (!up_) {
      while (injected_ < segments_ && may_inject(injected_, now)) {
        ++has_[source_][down_->tree_of(injected_++)];
      }
      return;
    }
    for (std::size_t tree = plan_.reduce_trees.size(); tree < trees_.size(); ++tree) {
      std::size_t& has = has_[source_][tree];
      while (has < end_of(tree) && is_combined(segment_of(tree, has)) &&
             may_inject(segment_of(tree, has), now)) {
        ++has;
      }
    }
  }

  [[nodiscard]] bool may_inject(std::uint64_t index, Ticks now) const {
    if (plan_.broadcast_trees.size() == 1) return true;
    return !is_beyond(index, 4 * plan_.broadcast_trees.size() * options_.window,
                      [this, now](std::uint64_t segment) { return is_sent(segment, now); });
  }
  [[nodiscard]] bool is_sent(std::uint64_t segment, Ticks now) const {
    const std::size_t number = down_->tree_of(segment);
    const std::size_t tree = plan_.reduce_trees.size() + number;
    const std::uint64_t nth = down_->count(number, segment);
    return std::ranges::all_of(children(source_, tree), [&](std::size_t edge) {
      return is_exchange(tree, edge) || ended(tree, edge, now) > nth;
    });
  }

  [[nodiscard]] bool is_exchange(std::size_t tree, std::size_t edge) const {
    const auto& exchange = trees_[tree].tree->exchange;
    return std::ranges::find(exchange, edges_of(tree)[edge]) != exchange.end();
  }
  // Whether the host has all of the tree's segments, and has posted them on its other edges.
  [[nodiscard]] bool is_passed_on(std::size_t host, std::size_t tree) const {
    return has_[host][tree] == end_of(tree) &&
           std::ranges::all_of(children(host, tree), [&](std::size_t edge) {
             return is_exchange(tree, edge) || posted(tree, edge) == end_of(tree);
           });
  }

  // Whether the host, a leaf of the tree, has posted all earlier segments of which it is a leaf.
  [[nodiscard]] bool is_next(std::size_t host, std::size_t tree, std::size_t nth) const {
    for (std::size_t other = 0; other < trees_.size(); ++other) {
      if (!trees_[other].up || !children(host, other).empty()) continue;
      const auto& edges = edges_of(other);
      const auto own = std::ranges::find(edges, host, &planner::PlanEdge::child);
      const std::size_t next = posted(other, static_cast<std::size_t>(own - edges.begin()));
      if (next < end_of(other) && segment_of(other, next) < segment_of(tree, nth)) return false;
    }
    return true;
  }
  // At most one segment on each edge. Whether anything was posted.
  bool post_tree(std::size_t host, std::size_t tree, Ticks now) {
    const auto& edges = edges_of(tree);
    const bool is_in_order = trees_[tree].up && children(host, tree).empty();
    bool any = false;
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      if ((trees_[tree].up ? edges[edge].child : edges[edge].parent) != host) continue;
      if (is_exchange(tree, edge) && !is_passed_on(host, tree)) continue;
      const std::size_t nth = posted(tree, edge);
      const std::size_t window = window_of(tree, edge, options_.window);
      if (nth >= has_[host][tree] || nth - ended(tree, edge, now) >= window) continue;
      if (is_in_order && !is_next(host, tree, nth)) continue;
      sends_.push_back({tree, edge, nth});
      any = true;
    }
    return any;
  }

  [[nodiscard]] std::size_t depth(std::size_t tree, std::uint32_t host) const {
    std::size_t steps = 0;
    for (; host != source_; ++steps) {
      host = std::ranges::find(edges_of(tree), host, &planner::PlanEdge::child)->parent;
    }
    return steps;
  }
  [[nodiscard]] std::size_t deepest(std::size_t tree) const {
    std::size_t most = 0;
    for (const planner::PlanEdge& edge : edges_of(tree)) {
      most = std::max(most, depth(tree, edge.child));
    }
    return most;
  }
  // The number of segments of its tree by which a send lags behind those that begin first.
  [[nodiscard]] std::size_t lag(const PlainSend& send) const {
    const planner::PlanEdge& edge = edges_of(send.tree)[send.edge];
    if (trees_[send.tree].up) return deepest(send.tree) - depth(send.tree, edge.child);
    std::size_t reversal = 0;
    for (std::size_t tree = 0; tree < plan_.reduce_trees.size(); ++tree) {
      reversal = std::max(reversal, deepest(tree));
    }
    return reversal + depth(send.tree, edge.parent);
  }

  // In the order of the message's segments and lags; ties by parent, tree and the plan's order of
  // children.
  void begin(Ticks now) {
    std::size_t waiting = 0;
    std::ranges::sort(sends_, {}, [&](const PlainSend& send) {
      return std::tuple(segment_of(send.tree, send.nth + lag(send)),
                        edges_of(send.tree)[send.edge].parent, send.tree, send.edge);
    });
    for (PlainSend& send : sends_) {
      if (trees_[send.tree].up && send.nth >= receives_[send.tree][send.edge]) continue;
      const bool is_short = rest_ > 0 && segment_of(send.tree, send.nth) + 1 == segments_;
      const auto& path = (is_short ? last_ : whole_).paths[send.tree][send.edge];
      while (send.stretches_begun < path.size()) {
        const Stretch& stretch = path[send.stretches_begun];
        const bool free = std::ranges::all_of(
            stretch, [&](const Need& need) { return free_at_[need.resource] <= now; });
        if (!free) {
          ++waiting;
          break;
        }
        for (const Need& need : stretch) {
          free_at_[need.resource] = now + need.time;
          send.end = std::max(send.end, now + need.time);
        }
        if (++send.stretches_begun == path.size()) {
          send.arrival = send.end + whole_.latency[send.tree][send.edge];
        }
      }
    }
    most_waiting_ = std::max(most_waiting_, waiting);
  }

  [[nodiscard]] Ticks next_after(Ticks now) const {
    Ticks next = kNever;
    const auto consider = [&](Ticks time) {
      if (time > now) next = std::min(next, time);
    };
    for (const Ticks time : free_at_) consider(time);
    for (const Job& job : jobs_) consider(job.end);
    for (const PlainSend& send : sends_) {
      consider(send.end);
      consider(send.arrival);
    }
    return next;
  }

  const planner::Plan& plan_;
  PlainOptions options_;
  double tick_s_;
  std::uint64_t rest_;
  std::uint64_t injected_ = 0;
  std::size_t source_ = 0;
  PlainNeeds whole_;
  PlainNeeds last_;
  std::vector<PlainSend> sends_;
  // [host][tree]: segments that it may send: at a broadcast's source the injected ones, in a reduce
  // tree the combined ones.
  std::vector<std::vector<std::size_t>> has_;
  std::vector<std::vector<std::size_t>>
      added_;  // [host][tree]: children whose next segment is added
  std::vector<std::vector<std::size_t>> arrived_;   // [tree][edge] of reduce trees: arrived
  std::vector<std::vector<std::size_t>> receives_;  // [tree][edge] of reduce trees: posted
  std::vector<Job> jobs_;                           // per host
  std::vector<Ticks> free_at_;                      // per resource
  std::vector<Ticks> done_;
  std::size_t most_waiting_ = 0;
};

}  // namespace

PlainRun simulate_plainly(const planner::Plan& plan, const platforms::Platform& platform,
                          std::uint64_t message, const PlainOptions& options, double tick_s) {
  return PlainSimulation(plan, platform, message, options, tick_s).run();
}

}  // namespace espalier::testing
