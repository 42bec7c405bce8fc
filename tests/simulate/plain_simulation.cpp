#include "tests/simulate/plain_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>

#include "planner/instance.hpp"
#include "planner/slice_dealer.hpp"
#include "platforms/contention.hpp"
#include "tests/planner/plain_model.hpp"

namespace espalier::testing {

namespace {

using Ticks = std::int64_t;
constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

struct PlainSend {
  std::size_t tree;
  std::size_t edge;
  std::size_t nth;
  std::size_t stretches_begun = 0;
  Ticks end = 0;           // of all stretches that have begun
  Ticks arrival = kNever;  // once all have
};

struct Need {
  std::size_t resource;
  Ticks time;
};
using Stretch = std::vector<Need>;

class PlainSimulation {
 public:
  PlainSimulation(const planner::Plan& plan, const platforms::Platform& platform,
                  std::uint64_t message, std::uint64_t window, double tick_s)
      : plan_(plan),
        platform_(platform),
        window_(window),
        tick_s_(tick_s),
        dealer_(planner::dealer_for(plan)),
        rest_(message % plan.slice.value) {
    slices_ = message / plan.slice.value + (rest_ > 0 ? 1 : 0);
    source_ = planner::source_index(plan);
    whole_ = needs_of(plan.slice.value);
    if (rest_ > 0) last_ = needs_of(rest_);
    has_.assign(plan.nodes.size(), std::vector<std::size_t>(plan.broadcast_trees.size(), 0));
    done_.assign(plan.nodes.size(), 0);
  }

  PlainRun run() {
    for (Ticks now = 0; now != kNever; now = next_after(now)) {
      take_arrivals(now);
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
  using Needs = std::vector<std::vector<std::vector<Stretch>>>;  // [tree][edge]

  [[nodiscard]] std::vector<std::uint32_t> way(const planner::PlanTree& tree,
                                               const planner::PlanEdge& edge) const {
    std::vector<std::string> names{plan_.nodes[edge.parent]};
    const auto via = tree.via.find({edge.parent, edge.child});
    if (via != tree.via.end()) names.insert(names.end(), via->second.begin(), via->second.end());
    names.push_back(plan_.nodes[edge.child]);
    std::vector<std::uint32_t> arcs;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
      arcs.push_back(
          static_cast<std::uint32_t>(platform_
                                         .find_arc(platform_.find_node(names[i]).value(),
                                                   platform_.find_node(names[i + 1]).value())
                                         .value()));
    }
    return arcs;
  }

  Needs needs_of(std::uint64_t bytes) {
    const planner::Instance instance(platform_, platform_.hosts()[source_],
                                     platforms::parse_model(plan_.model),
                                     {{bytes}, plan_.latency_occupies});
    const PlainModel model(instance);
    Needs needs;
    latency_.clear();
    for (const planner::PlanTree& tree : plan_.broadcast_trees) {
      needs.emplace_back();
      latency_.emplace_back();
      for (const planner::PlanEdge& edge : tree.edges) {
        const std::vector<std::uint32_t> arcs = way(tree, edge);
        double latency = 0;
        for (const std::uint32_t arc : arcs) latency += platform_.arcs()[arc].latency.value;
        latency_.back().push_back(plan_.latency_occupies ? 0 : ticks(latency));
        needs.back().push_back(stretches(model, arcs, bytes));
      }
    }
    free_at_.assign(model.resources().size(), 0);
    return needs;
  }

  // A one-port link takes its resources at once; elsewhere a slice goes from one to the next.
  [[nodiscard]] std::vector<Stretch> stretches(const PlainModel& model,
                                               const std::vector<std::uint32_t>& arcs,
                                               std::uint64_t bytes) const {
    std::vector<Stretch> result;
    for (const std::uint32_t arc : arcs) {
      const PlainModel::Load load = model.load_of({&arc, 1});
      Stretch all;
      for (const std::string kind : {"out-port", "port", "wire", "shared", "in-port"}) {
        for (std::size_t r = 0; r < load.size(); ++r) {
          if (load[r] == 0 || !model.resources()[r].starts_with(kind + " ")) continue;
          all.push_back({r, ticks(load[r] * static_cast<double>(bytes))});
        }
      }
      if (plan_.model.starts_with("one-port")) {
        result.push_back(all);
      } else {
        for (const Need& need : all) result.push_back({need});
      }
    }
    return result;
  }
  [[nodiscard]] Ticks ticks(double seconds) const { return std::llround(seconds / tick_s_); }

  void take_arrivals(Ticks now) {
    for (const PlainSend& send : sends_) {
      if (send.arrival != now) continue;
      const std::size_t child = plan_.broadcast_trees[send.tree].edges[send.edge].child;
      ++has_[child][send.tree];
      done_[child] = now;
    }
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
    if (host == source_) {
      while (let_go_ < slices_ && may_let_go(now)) {
        const std::size_t tree = dealer_.tree_of(let_go_++);
        ++has_[host][tree];
        post_tree(host, tree, now);
      }
    }
    for (std::size_t tree = 0; tree < plan_.broadcast_trees.size(); ++tree) {
      post_tree(host, tree, now);
    }
  }

  [[nodiscard]] bool may_let_go(Ticks now) const {
    if (plan_.broadcast_trees.size() == 1) return true;
    const std::uint64_t lookahead = 4 * plan_.broadcast_trees.size() * window_;
    for (std::uint64_t slice = 0; slice < let_go_; ++slice) {
      const std::size_t tree = dealer_.tree_of(slice);
      const std::uint64_t nth = dealer_.count(tree, slice);
      const auto& edges = plan_.broadcast_trees[tree].edges;
      for (std::size_t edge = 0; edge < edges.size(); ++edge) {
        if (edges[edge].parent == source_ && ended(tree, edge, now) <= nth) {
          return let_go_ - slice < lookahead;
        }
      }
    }
    return true;
  }

  void post_tree(std::size_t host, std::size_t tree, Ticks now) {
    const auto& edges = plan_.broadcast_trees[tree].edges;
    for (bool any = true; any;) {
      any = false;
      for (std::size_t edge = 0; edge < edges.size(); ++edge) {
        if (edges[edge].parent != host) continue;
        const std::size_t nth = posted(tree, edge);
        if (nth >= has_[host][tree] || nth - ended(tree, edge, now) >= window_) continue;
        sends_.push_back({tree, edge, nth});
        any = true;
      }
    }
  }

  [[nodiscard]] std::size_t depth(std::size_t tree, std::uint32_t host) const {
    std::size_t steps = 0;
    for (; host != source_; ++steps) {
      const auto& edges = plan_.broadcast_trees[tree].edges;
      host = std::ranges::find(edges, host, &planner::PlanEdge::child)->parent;
    }
    return steps;
  }

  // Slice by slice of the message, a host in step with its parent's next slice of the tree; then by
  // parent, tree and the plan's order of children.
  void begin(Ticks now) {
    std::size_t waiting = 0;
    std::ranges::sort(sends_, {}, [&](const PlainSend& send) {
      const std::uint32_t parent = plan_.broadcast_trees[send.tree].edges[send.edge].parent;
      return std::tuple(dealer_.slice_of(send.tree, send.nth + depth(send.tree, parent)), parent,
                        send.tree, send.edge);
    });
    for (PlainSend& send : sends_) {
      const bool is_short = rest_ > 0 && dealer_.slice_of(send.tree, send.nth) + 1 == slices_;
      const auto& way = (is_short ? last_ : whole_)[send.tree][send.edge];
      while (send.stretches_begun < way.size()) {
        const Stretch& stretch = way[send.stretches_begun];
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
        if (++send.stretches_begun == way.size()) {
          send.arrival = send.end + latency_[send.tree][send.edge];
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
    for (const PlainSend& send : sends_) {
      consider(send.end);
      consider(send.arrival);
    }
    return next;
  }

  const planner::Plan& plan_;
  const platforms::Platform& platform_;
  std::uint64_t window_;
  double tick_s_;
  planner::SliceDealer dealer_;
  std::uint64_t rest_;
  std::uint64_t slices_ = 0;
  std::uint64_t let_go_ = 0;
  std::size_t source_ = 0;
  Needs whole_;
  Needs last_;
  std::vector<std::vector<Ticks>> latency_;
  std::vector<PlainSend> sends_;
  std::vector<std::vector<std::size_t>> has_;  // [host][tree]: slices; on the source, let go
  std::vector<Ticks> free_at_;                 // of each resource
  std::vector<Ticks> done_;
  std::size_t most_waiting_ = 0;
};

}  // namespace

PlainRun simulate_plainly(const planner::Plan& plan, const platforms::Platform& platform,
                          std::uint64_t message, std::uint64_t window, double tick_s) {
  return PlainSimulation(plan, platform, message, window, tick_s).run();
}

}  // namespace espalier::testing
