#include "simulate/model/network.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier::simulate {

namespace {

// For each flow, the number of edges from the source to its parent.
std::vector<std::uint32_t> depths_of(const Task& task) {
  std::vector<std::uint32_t> depths(task.flows.all().size(), 0);
  for (std::uint32_t tree = 0; tree < task.flows.trees(); ++tree) {
    std::vector<std::uint32_t> hosts{task.root_of(tree)};
    for (std::uint32_t depth = 0; !hosts.empty(); ++depth) {
      std::vector<std::uint32_t> below;
      for (const std::uint32_t host : hosts) {
        const auto [first, last] = task.flows.below(host, tree);
        for (std::uint32_t flow = first; flow < last; ++flow) {
          depths[flow] = depth;
          below.push_back(task.flows.all()[flow].child);
        }
      }
      hosts = std::move(below);
    }
  }
  return depths;
}

}  // namespace

Network::Network(const Task& task, const Assignments& assignments, Sharing /*sharing*/,
                 std::size_t resources, Agenda& agenda, const OnSend& on_send)
    : task_(task),
      assignments_(assignments),
      agenda_(agenda),
      on_send_(on_send),
      lanes_(task.flows.all().size()),
      is_busy_(resources, 0),
      until_(resources, 0),
      waiting_(resources) {
  for (std::uint32_t flow = 0; flow < lanes_.size(); ++flow) add_stages(flow);
  set_lags();
  set_order();
}

// Returns how many there are.
std::uint32_t Network::append(std::span<const Holding> holdings) {
  for (const Holding& held : holdings) {
    needs_.push_back({held.resource, agenda_.ticks(held.seconds)});
  }
  return static_cast<std::uint32_t>(holdings.size());
}

void Network::add_stages(std::uint32_t flow) {
  const auto [first, last] = task_.full.stretches(flow);
  lanes_[flow].tree = task_.flows.all()[flow].tree;
  lanes_[flow].stages.first = static_cast<std::uint32_t>(stages_.size());
  for (std::uint32_t stretch = first; stretch < last; ++stretch) {
    Stage stage;
    stage.flow = flow;
    stage.needs = static_cast<std::uint32_t>(needs_.size());
    stage.full = append(task_.full.held_on(stretch));
    if (task_.ends_short[lanes_[flow].tree] != 0) {
      stage.last = append(task_.last.held_on(stretch));
    }
    stages_.push_back(stage);
  }
  lanes_[flow].stages.last = static_cast<std::uint32_t>(stages_.size());
}

// Each host lags one segment of the tree behind its predecessor. Towards the source the deepest
// hosts of a tree are first. From the source, the source is first; in an allreduce it lags by the
// depth of the deepest reduce tree.
void Network::set_lags() {
  const std::vector<std::uint32_t> depths = depths_of(task_);
  std::vector<std::uint32_t> deepest(task_.flows.trees(), 0);
  std::uint32_t reversal = 0;
  for (std::uint32_t i = 0; i < depths.size(); ++i) {
    const Flow& flow = task_.flows.all()[i];
    deepest[flow.tree] = std::max(deepest[flow.tree], depths[i]);
    if (flow.up) reversal = std::max(reversal, depths[i] + 1);
  }
  for (std::uint32_t i = 0; i < depths.size(); ++i) {
    const Flow& flow = task_.flows.all()[i];
    lanes_[i].lag = flow.up ? deepest[flow.tree] - depths[i] : reversal + depths[i];
  }
}

// Ties are broken by the order of the flows. With several roots, whose segments all have the same
// turns, every host would then begin with the same receivers, and most hosts would wait. So each
// begins with its neighbor, as in the pairwise algorithms of MPI libraries.
void Network::set_order() {
  const std::uint32_t hosts = static_cast<std::uint32_t>(task_.flows.hosts());
  std::vector<std::uint32_t> order(lanes_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto distance = [&](std::uint32_t flow) {
    const Flow& along = task_.flows.all()[flow];
    return (along.child + hosts - along.parent) % hosts;
  };
  if (std::ranges::any_of(task_.roots, [&](auto root) { return root != task_.roots.front(); })) {
    std::ranges::stable_sort(order, {}, distance);
  }
  for (std::uint32_t i = 0; i < order.size(); ++i) lanes_[order[i]].order = i;
}

inline std::uint64_t Network::rank_of(const Stage& stage) const {
  const Lane& lane = lanes_[stage.flow];
  const std::uint64_t turn = assignments_.turn_of(lane.tree, stage.started + lane.lag);
  return turn * lanes_.size() + lane.order;
}

inline void Network::consider(std::uint32_t index) {
  Stage& stage = stages_[index];
  const Lane& lane = lanes_[stage.flow];
  const std::uint64_t arrived =
      index == lane.stages.first ? lane.allowed : stages_[index - 1].started;
  if (stage.waits || stage.started >= arrived || stage.is_busy) return;
  stage.waits = true;
  candidates_.push({rank_of(stage), index, kNone, 0});
}

inline bool Network::can_begin(const Stage& stage) const {
  const auto [first, last] = needs_of(stage, stage.started);
  return std::none_of(needs_.begin() + first, needs_.begin() + last,
                      [&](const Need& need) { return is_busy_[need.resource] != 0; });
}

// All begin by their ranks, so what is later in the list has to wait for what is found here. What
// waits for another resource stays in this list too: a look at that resource's state costs less
// than to move from list to list whenever one of them is released.
inline void Network::consider_waiting(std::uint32_t resource, std::size_t place) {
  if (is_busy_[resource] != 0) return;
  WaitList& list = waiting_[resource];
  for (; place < list.size(); ++place) {
    WaitList::Entry& entry = list[place];
    const bool is_free = entry.other == WaitList::kSeveral ? can_begin(stages_[entry.stage])
                                                           : is_busy_[entry.other] == 0;
    if (is_free) return candidates_.push({entry.rank, entry.stage, resource, place});
    if (entry.is_in_both) continue;
    entry.is_in_both = true;
    waiting_[entry.other].insert({entry.rank, entry.stage, resource, true});
  }
}

void Network::begin(std::uint32_t index) {
  Stage& stage = stages_[index];
  stage.waits = false;
  const auto [first, last] = needs_of(stage, stage.started);
  if (on_send_.wants(++begun_)) report(index);
  ++stage.started;
  stage.is_busy = true;
  for (std::uint32_t i = first; i < last; ++i) {
    is_busy_[needs_[i].resource] = 1;
    until_[needs_[i].resource] = agenda_.now() + needs_[i].time;
  }
  for (std::uint32_t i = first; i < last;) {
    const std::uint32_t group = i;
    const Ticks time = needs_[i].time;
    while (i < last && needs_[i].time == time) ++i;
    agenda_.add(Event::Kind::kRelease, time, index, group, i);
  }
  if (index + 1 < lanes_[stage.flow].stages.last) consider(index + 1);
}

// It cannot begin before the last of its resources is free, and so waits for that one; for several,
// for all of them.
void Network::wait(const Candidate& candidate) {
  const Stage& stage = stages_[candidate.stage];
  const auto [first, last] = needs_of(stage, stage.started);
  if (last - first > 2) {
    for (std::uint32_t i = first; i < last; ++i) {
      waiting_[needs_[i].resource].insert(
          {candidate.rank, candidate.stage, WaitList::kSeveral, true});
    }
    return;
  }
  std::uint32_t latest = needs_[first].resource;
  std::uint32_t other = needs_[last - 1].resource;
  const bool ends_later = is_busy_[other] != 0 && until_[other] > until_[latest];
  if (ends_later || is_busy_[latest] == 0) std::swap(latest, other);
  waiting_[latest].insert({candidate.rank, candidate.stage, other});
}

void Network::end_wait(const Candidate& candidate) {
  const WaitList::Entry here = waiting_[candidate.resource].erase(candidate.rank, candidate.stage);
  if (!here.is_in_both) return;
  if (here.other != WaitList::kSeveral) {
    waiting_[here.other].erase(candidate.rank, candidate.stage);
    return;
  }
  const Stage& stage = stages_[candidate.stage];
  const auto [first, last] = needs_of(stage, stage.started);
  for (std::uint32_t i = first; i < last; ++i) {
    if (needs_[i].resource == candidate.resource) continue;
    waiting_[needs_[i].resource].erase(candidate.rank, candidate.stage);
  }
}

// Only segments that need a resource released now, and those that have just reached a stage or its
// head, can have become ready: all others wait for a resource that is still busy.
void Network::begin_sends() {
  for (const std::uint32_t stage : woken_) consider(stage);
  woken_.clear();
  for (const std::uint32_t resource : released_) consider_waiting(resource, 0);
  released_.clear();
  while (!candidates_.empty()) {
    const Candidate candidate = candidates_.top();
    candidates_.pop();
    const bool is_listed = candidate.resource != kNone;
    // This segment, found in another list, or one with a lower rank has begun meanwhile.
    if (is_listed && is_busy_[candidate.resource] != 0) continue;
    if (can_begin(stages_[candidate.stage])) {
      if (is_listed) end_wait(candidate);
      begin(candidate.stage);
    } else if (is_listed) {
      consider_waiting(candidate.resource, candidate.place);
    } else {
      wait(candidate);
    }
  }
}

void Network::report(std::uint32_t index) const {
  const Stage& stage = stages_[index];
  const Flow& flow = task_.flows.all()[stage.flow];
  const Holdings& holdings = is_short(stage, stage.started) ? task_.last : task_.full;
  const std::uint32_t stretch =
      holdings.stretches(stage.flow).first + index - lanes_[stage.flow].stages.first;
  on_send_({flow.up ? Send::Kind::kUp : Send::Kind::kDown,
            task_.flows.number_in_plan(flow),
            flow.parent,
            flow.child,
            stage.started,
            {agenda_.seconds(agenda_.now())},
            holdings.held_on(stretch)});
}

}  // namespace espalier::simulate
