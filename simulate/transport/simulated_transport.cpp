#include "simulate/transport/simulated_transport.hpp"

namespace espalier::simulate {

static_assert(engine::Transport<SimulatedTransport>);

void Channels::post_send(std::uint32_t flow, bool synchronous) {
  Channel& channel = channels_[flow];
  const std::uint64_t nth = channel.sends++;
  if (synchronous && nth >= channel.receives) waiting_[flow].push_back(nth);
  if (channel.allowed < nth || (synchronous && nth >= channel.receives)) return;
  channel.allowed = channel.sends;
  changed_.push_back(flow);
}

void Channels::post_receive(std::uint32_t flow) {
  Channel& channel = channels_[flow];
  ++channel.receives;
  if (channel.has_delivery()) changed_.push_back(flow);
  if (channel.allowed == channel.sends) return;
  std::vector<std::uint64_t>& waiting = waiting_[flow];
  if (waiting.front() >= channel.receives) return;
  waiting.erase(waiting.begin());
  channel.allowed = waiting.empty() ? channel.sends : waiting.front();
  changed_.push_back(flow);
}

}  // namespace espalier::simulate
