#include "simulate/pull/pull_links.hpp"

#include <algorithm>

namespace espalier::simulate {

PullLinks::PullLinks(const planner::Instance& instance, const engine::pull::PulledMessage& message)
    : message_(message),
      hosts_(instance.host_count()),
      lane_of_(hosts_ * hosts_, kNoLane),
      shares_(instance.resource_count()) {
  const auto arcs = instance.fastest_host_arcs();
  const std::span<const platforms::NodeId> hosts = instance.platform().hosts();
  std::vector<double> latencies_s;
  std::vector<Holding> needs;
  for (std::uint32_t from = 0; from < hosts_; ++from) {
    for (std::uint32_t to = 0; to < hosts_; ++to) {
      if (from == to) continue;
      const std::uint32_t arc =
          arcs.find(static_cast<std::uint32_t>(hosts[from]), static_cast<std::uint32_t>(hosts[to]));
      if (arc == UINT32_MAX) continue;
      needs.clear();
      double longest_s = 0;
      for (const auto& use : arcs.uses(arc)) {
        needs.push_back(
            {use.resource, use.seconds_per_byte * static_cast<double>(message.segment_bytes())});
        longest_s = std::max(longest_s, needs.back().seconds);
      }
      shortest_s_ = std::min(shortest_s_, longest_s);
      lane_of_[from * hosts_ + to] = shares_.add(needs);
      latencies_s.push_back(arcs.latency_s(arc));
      lanes_.push_back({.from = from, .to = to, .latency_s = latencies_s.back()});
    }
  }
  shares_.weigh(latencies_s);
}

// Subtracts the service since the last call.
void PullLinks::serve(Lane& lane, double now_s) {
  lane.left -= lane.rate * (now_s - lane.served_s);
  lane.served_s = now_s;
}

void PullLinks::begin_first(Lane& lane, double now_s) {
  lane.queue.front().begun_s = now_s;
  lane.left = lane.queue.front().work;
  lane.served_s = now_s;
}

void PullLinks::send(std::uint32_t index, std::uint32_t segment, double now_s) {
  Lane& lane = lanes_[index];
  const double work =
      static_cast<double>(message_.length(segment)) / static_cast<double>(message_.segment_bytes());
  lane.queue.push_back({segment, work, now_s});
  if (lane.queue.size() > 1) return;
  lane.rate = 0;  // until the next update
  begin_first(lane, now_s);
  shares_.open(index);
}

PullLinks::Passed PullLinks::pass() {
  const auto [at_s, index] = ends_.top();
  ends_.pop();
  Lane& lane = lanes_[index];
  if (at_s != lane.event_s) return {};  // it passed, or will pass, at another time
  lane.event_s = kNever_s;
  serve(lane, at_s);
  constexpr double kNearlyDone = 1e-9;  // of a segment
  if (lane.left > kNearlyDone) {
    schedule(index);
    // Less than the digits of the time show.
    if (lane.event_s > at_s) return {};
    lane.event_s = kNever_s;
  }
  const Waiting first = lane.queue.front();
  lane.queue.pop_front();
  if (lane.queue.empty()) {
    shares_.close(index);
  } else {
    begin_first(lane, at_s);
    schedule(index);
  }
  return {index, lane.from, lane.to, first.segment, first.begun_s};
}

void PullLinks::update(double now_s) {
  for (const std::uint32_t index : shares_.compute()) {
    Lane& lane = lanes_[index];
    if (lane.rate == shares_.rate(index)) continue;
    serve(lane, now_s);
    lane.rate = shares_.rate(index);
    schedule(index);
  }
}

// A later end needs no entry: when the earlier one is due, the lane is scheduled again.
void PullLinks::schedule(std::uint32_t index) {
  Lane& lane = lanes_[index];
  const double end_s = lane.served_s + std::max(lane.left, 0.0) / lane.rate;
  if (!(end_s < lane.event_s)) return;
  lane.event_s = end_s;
  ends_.push({end_s, index});
}

}  // namespace espalier::simulate
