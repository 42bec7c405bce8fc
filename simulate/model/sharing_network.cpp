#include "simulate/model/sharing_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::simulate {

namespace {

// An event that is farther in the future is rescheduled long before, or never happens.
constexpr double kLongest = 0x1p61;

// Beside a lane of weight 1 less would be lost in the digits of a sum, and 0 would never end.
constexpr double kLeastWeight = 1e-12;

double seconds_at(std::span<const Holding> holdings, std::uint32_t resource) {
  double seconds = 0;
  for (const Holding& held : holdings) seconds += held.resource == resource ? held.seconds : 0;
  return seconds;
}

}  // namespace

SharingNetwork::SharingNetwork(const Task& task, const Assignments& /*assignments*/,
                               Sharing sharing, std::size_t resources, Agenda& agenda,
                               const OnSend& on_send)
    : task_(task),
      sharing_(sharing),
      agenda_(agenda),
      on_send_(on_send),
      lanes_(task.flows.all().size()),
      users_(resources),
      shares_(resources),
      is_gathered_(resources, 0),
      is_open_(lanes_.size(), 0) {
  for (std::uint32_t flow = 0; flow < lanes_.size(); ++flow) add_lane(flow);
  set_weights();
}

void SharingNetwork::add_lane(std::uint32_t flow) {
  Lane& lane = lanes_[flow];
  lane.tree = task_.flows.all()[flow].tree;
  lane.needs.first = static_cast<std::uint32_t>(needs_.size());
  const auto is_known = [&](std::uint32_t resource) {
    const auto known = std::span(needs_).subspan(lane.needs.first);
    return std::ranges::find(known, resource, &Need::resource) != known.end();
  };
  for (const Holding& held : task_.full.of(flow)) {
    if (is_known(held.resource)) continue;
    const double seconds =
        std::max(seconds_at(task_.full.of(flow), held.resource), agenda_.tick_s());
    needs_.push_back({held.resource, seconds});
    if (task_.ends_short[lane.tree] == 0) continue;
    const double last = seconds_at(task_.last.of(flow), held.resource);
    lane.last_work = std::max(lane.last_work, last / seconds);
  }
  lane.needs.last = static_cast<std::uint32_t>(needs_.size());
}

// Proportional to 1 / latency. Flows without latency get the weight of the shortest latency.
void SharingNetwork::set_weights() {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Flow& flow : task_.flows.all()) {
    if (flow.latency_s > 0) shortest = std::min(shortest, flow.latency_s);
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const double latency = task_.flows.all()[i].latency_s;
    if (latency > 0) lanes_[i].weight = std::max(shortest / latency, kLeastWeight);
  }
}

// Adds the service that the lane's sends have received since the last update.
void SharingNetwork::catch_up(Lane& lane) {
  const Ticks now = agenda_.now();
  lane.served += lane.rate * agenda_.seconds(now - lane.served_at);
  lane.served_at = now;
}

void SharingNetwork::begin(std::uint32_t flow) {
  Lane& lane = lanes_[flow];
  if (lane.begun >= lane.allowed) return;
  changed_.push_back(flow);
  if (lane.sends.empty()) {
    lane.served = 0;
    lane.rate = 0;
    for (std::uint32_t i = lane.needs.first; i < lane.needs.last; ++i) {
      users_[needs_[i].resource].push_back(flow);
    }
  }
  catch_up(lane);
  for (; lane.begun < lane.allowed; ++lane.begun) {
    const double work = task_.is_short(lane.tree, lane.begun) ? lane.last_work : 1;
    const double before = lane.sends.empty() ? 0 : lane.sends.back().end;
    const double end =
        (sharing_ == Sharing::kSends ? lane.served : std::max(before, lane.served)) + work;
    lane.sends.push_back({end, agenda_.seconds(agenda_.now())});
  }
}

std::uint32_t SharingNetwork::release(const Event& event) {
  Lane& lane = lanes_[event.index];
  if (event.first != lane.version) return kNoFlow;
  const double end = next_end(lane);
  catch_up(lane);
  lane.served = std::max(lane.served, end);
  lane.ends_at = -1;
  changed_.push_back(event.index);
  // Otherwise the shorter last segment has passed before its predecessors.
  if (!is_through(lane, lane.sends.front())) return kNoFlow;
  if (on_send_.wants(++ended_))
    report(event.index, lane.begun - lane.sends.size(), lane.sends.front());
  lane.sends.pop_front();
  if (lane.sends.empty()) {
    for (std::uint32_t i = lane.needs.first; i < lane.needs.last; ++i) {
      std::vector<std::uint32_t>& users = users_[needs_[i].resource];
      users.erase(std::ranges::find(users, event.index));
    }
  } else if (is_through(lane, lane.sends.front())) {
    schedule(event.index);
  }
  return event.index;
}

void SharingNetwork::begin_sends() {
  for (const std::uint32_t flow : woken_) begin(flow);
  woken_.clear();
  if (changed_.empty()) return;
  gather_affected();
  compute_rates();
  for (const std::uint32_t flow : affected_) schedule(flow);
}

void SharingNetwork::gather_resources_of(const Lane& lane) {
  for (std::uint32_t i = lane.needs.first; i < lane.needs.last; ++i) {
    const std::uint32_t resource = needs_[i].resource;
    if (is_gathered_[resource] != 0) continue;
    is_gathered_[resource] = 1;
    shares_[resource] = {};
    resources_.push_back(resource);
  }
}

// Gathers all lanes that are connected to a changed one through resources in use.
void SharingNetwork::gather_affected() {
  resources_.clear();
  affected_.clear();
  for (const std::uint32_t flow : changed_) gather_resources_of(lanes_[flow]);
  changed_.clear();
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    for (const std::uint32_t flow : users_[resources_[i]]) {
      if (is_open_[flow] != 0) continue;
      is_open_[flow] = 1;
      affected_.push_back(flow);
      gather_resources_of(lanes_[flow]);
    }
  }
  for (const std::uint32_t resource : resources_) is_gathered_[resource] = 0;
}

void SharingNetwork::compute_rates() {
  for (const std::uint32_t flow : affected_) {
    Lane& lane = lanes_[flow];
    catch_up(lane);
    const double weight = lane.weight * served_at_once(lane);
    for (std::uint32_t i = lane.needs.first; i < lane.needs.last; ++i) {
      Share& share = shares_[needs_[i].resource];
      share.demand += weight * needs_[i].seconds;
      ++share.lanes;
    }
  }
  // Levels only rise as rates are fixed, so a level is a lower bound on later ones.
  Earliest<Level> levels;
  const auto level_of = [&](std::uint32_t resource, double least) {
    const Share& share = shares_[resource];
    return std::max(least, share.left / share.demand);
  };
  for (const std::uint32_t resource : resources_) {
    if (shares_[resource].lanes > 0) levels.push({level_of(resource, 0), resource});
  }
  while (!levels.empty()) {
    const Level first = levels.top();
    levels.pop();
    if (shares_[first.resource].lanes == 0) continue;
    const double level = level_of(first.resource, first.level);
    if (!levels.empty() && level > levels.top().level) {
      levels.push({level, first.resource});
      continue;
    }
    for (const std::uint32_t flow : users_[first.resource]) {
      if (is_open_[flow] != 0) fix_rate(flow, level);
    }
  }
}

void SharingNetwork::fix_rate(std::uint32_t flow, double level) {
  is_open_[flow] = 0;
  Lane& lane = lanes_[flow];
  lane.rate = level * lane.weight;
  const double weight = lane.weight * served_at_once(lane);
  for (std::uint32_t i = lane.needs.first; i < lane.needs.last; ++i) {
    Share& share = shares_[needs_[i].resource];
    share.left -= level * weight * needs_[i].seconds;
    share.demand -= weight * needs_[i].seconds;
    --share.lanes;
  }
}

// The message's last segment, if shorter, may pass before its predecessors, and then waits for
// them.
double SharingNetwork::next_end(const Lane& lane) {
  const double first = lane.sends.front().end;
  const Send& last = lane.sends.back();
  return is_through(lane, last) ? first : std::min(first, last.end);
}

double SharingNetwork::served_at_once(const Lane& lane) const {
  if (sharing_ == Sharing::kEdges) return 1;
  const std::size_t waiting = is_through(lane, lane.sends.back()) ? 1 : 0;
  return static_cast<double>(std::max<std::size_t>(lane.sends.size() - waiting, 1));
}

// Schedules an event for the end of the lane's next send, unless there already is one for that
// time.
void SharingNetwork::schedule(std::uint32_t flow) {
  Lane& lane = lanes_[flow];
  const double work = next_end(lane) - lane.served;
  Ticks wait = 0;
  if (work > kNearlyDone) {
    const double ticks = std::ceil(work / lane.rate / agenda_.tick_s());
    wait = static_cast<Ticks>(std::min(ticks, kLongest));
  }
  if (lane.ends_at == agenda_.now() + wait) return;
  lane.ends_at = agenda_.now() + wait;
  agenda_.add(Event::Kind::kRelease, wait, flow, ++lane.version);
}

// Called when the send ends, because its duration is known only then.
void SharingNetwork::report(std::uint32_t flow, std::uint64_t nth, const Send& send) {
  const Flow& along = task_.flows.all()[flow];
  const double lasted = agenda_.seconds(agenda_.now()) - send.start_s;
  reported_.clear();
  const Lane& lane = lanes_[flow];
  for (std::uint32_t i = lane.needs.first; i < lane.needs.last; ++i) {
    reported_.push_back({needs_[i].resource, lasted});
  }
  on_send_({along.up ? simulate::Send::Kind::kUp : simulate::Send::Kind::kDown,
            task_.flows.number_in_plan(along),
            along.parent,
            along.child,
            nth,
            {send.start_s},
            reported_});
}

}  // namespace espalier::simulate
