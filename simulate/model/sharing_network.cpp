#include "simulate/model/sharing_network.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::simulate {

namespace {

// An event that is farther in the future is rescheduled long before, or never happens.
constexpr double kLongest = 0x1p61;

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
      shares_(resources),
      ends_(lanes_.size()) {
  std::vector<double> latencies_s;
  for (std::uint32_t flow = 0; flow < lanes_.size(); ++flow) {
    add_lane(flow);
    latencies_s.push_back(task_.flows.all()[flow].latency_s);
  }
  shares_.weigh(latencies_s);
}

void SharingNetwork::add_lane(std::uint32_t flow) {
  Lane& lane = lanes_[flow];
  lane.tree = task_.flows.all()[flow].tree;
  std::vector<Holding> needs;
  for (const Holding& held : task_.full.of(flow)) {
    if (std::ranges::find(needs, held.resource, &Holding::resource) != needs.end()) continue;
    const double seconds =
        std::max(seconds_at(task_.full.of(flow), held.resource), agenda_.tick_s());
    needs.push_back({held.resource, seconds});
    if (task_.ends_short[lane.tree] == 0) continue;
    const double last = seconds_at(task_.last.of(flow), held.resource);
    lane.last_work = std::max(lane.last_work, last / seconds);
  }
  shares_.add(needs);
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
  shares_.touch(flow);
  if (lane.sends.empty()) {
    lane.served = 0;
    lane.rate = 0;
    shares_.open(flow);
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
  if (event.first != version_) return kNoFlow;
  announced_ = -1;
  const std::uint32_t flow = end_next();
  announce();
  return flow;
}

std::uint32_t SharingNetwork::end_next() {
  const std::uint32_t flow = ends_.first();
  ends_.erase_first();
  Lane& lane = lanes_[flow];
  const double end = next_end(lane);
  catch_up(lane);
  lane.served = std::max(lane.served, end);
  shares_.touch(flow);
  // Otherwise the shorter last segment has passed before its predecessors.
  if (!is_through(lane, lane.sends.front())) return kNoFlow;
  if (on_send_.wants(++ended_)) report(flow, lane.begun - lane.sends.size(), lane.sends.front());
  lane.sends.pop_front();
  if (lane.sends.empty()) {
    shares_.close(flow);
  } else if (is_through(lane, lane.sends.front())) {
    schedule(flow);
  }
  return flow;
}

void SharingNetwork::begin_sends() {
  for (const std::uint32_t flow : woken_) begin(flow);
  woken_.clear();
  for (const std::uint32_t flow : shares_.changed()) {
    if (!shares_.is_open(flow)) continue;
    catch_up(lanes_[flow]);
    shares_.set_count(flow, served_at_once(lanes_[flow]));
  }
  for (const std::uint32_t flow : shares_.compute()) {
    catch_up(lanes_[flow]);
    lanes_[flow].rate = shares_.rate(flow);
    schedule(flow);
  }
  announce();
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

void SharingNetwork::schedule(std::uint32_t flow) {
  const Lane& lane = lanes_[flow];
  const double work = next_end(lane) - lane.served;
  Ticks wait = 0;
  if (work > kNearlyDone) {
    const double ticks = std::ceil(work / lane.rate / agenda_.tick_s());
    wait = static_cast<Ticks>(std::min(ticks, kLongest));
  }
  ends_.set(flow, agenda_.now() + wait);
}

void SharingNetwork::announce() {
  if (ends_.is_empty() || ends_.first_time() == announced_) return;
  announced_ = ends_.first_time();
  agenda_.add(Event::Kind::kRelease, announced_ - agenda_.now(), ends_.first(), ++version_);
}

// Called when the send ends, because its duration is known only then.
void SharingNetwork::report(std::uint32_t flow, std::uint64_t nth, const Send& send) {
  const Flow& along = task_.flows.all()[flow];
  const double lasted = agenda_.seconds(agenda_.now()) - send.start_s;
  reported_.clear();
  for (const Holding& need : shares_.needs(flow)) reported_.push_back({need.resource, lasted});
  on_send_({along.up ? simulate::Send::Kind::kUp : simulate::Send::Kind::kDown,
            task_.flows.number_in_plan(along),
            along.parent,
            along.child,
            nth,
            {send.start_s},
            reported_});
}

}  // namespace espalier::simulate
