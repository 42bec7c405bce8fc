#include "simulate/transport/simulated_transport.hpp"

namespace espalier::simulate {

static_assert(engine::Transport<SimulatedTransport>);

Channels::Channels(std::size_t flows, std::size_t ranks) : channels_(flows), completions_(ranks) {}

void Channels::post_send(std::uint32_t flow, bool synchronous) {
  Channel& channel = channels_[flow];
  const std::uint64_t nth = channel.sends++;
  if (synchronous && nth >= channel.receives) channel.synchronous.push_back(nth);
  posted_.push_back(flow);
}

void Channels::post_receive(std::uint32_t flow) {
  Channel& channel = channels_[flow];
  ++channel.receives;
  std::deque<std::uint64_t>& waiting = channel.synchronous;
  while (!waiting.empty() && waiting.front() < channel.receives) waiting.pop_front();
  posted_.push_back(flow);
}

void Channels::end_send(std::uint32_t flow) {
  Channel& channel = channels_[flow];
  const End& end = channel.sender;
  report(end, {.operation = {true, end.tree, end.edge, channel.sent++}});
}

void Channels::end_receive(std::uint32_t flow, std::uint64_t bytes) {
  Channel& channel = channels_[flow];
  const End& end = channel.receiver;
  report(end, {.operation = {false, end.tree, end.edge, channel.received++}, .length = bytes});
}

void Channels::report(const End& end, const engine::Completion& completion) {
  if (completions_[end.rank].empty()) woken_.push_back(end.rank);
  completions_[end.rank].push_back(completion);
}

void Channels::take(std::uint32_t rank, std::vector<engine::Completion>& completions) {
  completions.clear();
  completions.swap(completions_[rank]);
}

std::span<const engine::Completion> SimulatedTransport::poll() {
  channels_.take(rank_, completions_);
  for (const engine::Completion& completion : completions_) {
    const engine::Operation& of = completion.operation;
    Edges& edges = edges_[of.tree];
    ++(of.is_send ? edges.out : edges.in)[of.edge].complete;
  }
  return completions_;
}

}  // namespace espalier::simulate
