#include "tests/engine/adversary_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace espalier::testing::adversary {
namespace {

constexpr int kTruncated = 1;

void require(bool condition, const char* rule) {
  if (!condition) throw Violation(rule);
}

}  // namespace

// --- the network ---

Network::Channel& Network::channel(std::size_t tree, int sender, int receiver) {
  const auto [at, is_new] = index_.try_emplace({tree, sender, receiver}, channels_.size());
  if (is_new) channels_.push_back(std::make_unique<Channel>());
  return *channels_[at->second];
}

void Network::add_buffer(const Buffer& added) {
  for (const Buffer& other : buffers_) {
    const bool overlaps = added.begin < other.end && other.begin < added.end;
    require(other.rank != added.rank || !overlaps || (!added.is_written && !other.is_written),
            "a buffer is written while another operation uses it");
  }
  buffers_.push_back(added);
}

void Network::remove_buffer(const Transport* of, const engine::Operation& operation) {
  const auto is_it = [&](const Buffer& one) { return one.of == of && one.operation == operation; };
  const auto found = std::ranges::find_if(buffers_, is_it);
  *found = buffers_.back();
  buffers_.pop_back();
}

void Network::step() {
  now_s += 1e-3 * static_cast<double>(below(4, random_));
  // More where there are many channels, most of which are empty.
  for (std::size_t left = channels_.empty() ? 0 : 1 + channels_.size() / 8; left > 0; --left) {
    Channel& one = *channels_[below(channels_.size(), random_)];
    if (!one.sends.empty()) step(one, below(one.sends.size(), random_));
  }
}

bool Network::settle() {
  bool any = false;
  for (const auto& one : channels_) {
    for (std::size_t at = one->sends.size(); at > 0; --at) {
      if (at <= one->sends.size()) any = step(*one, at - 1) || any;
    }
  }
  return any;
}

// The at-th send that is kept is buffered or delivered, and completes at any time from then on.
bool Network::step(Channel& channel, std::size_t at) {
  Send& send = channel.sends[at];
  bool any = false;
  const std::size_t nth = channel.first_send + at;
  const bool has_receive =
      nth >= channel.first_receive && nth - channel.first_receive < channel.receives.size();
  if (!send.is_delivered && has_receive) {
    any = deliver(send, channel.receives[nth - channel.first_receive]);
  } else if (!send.is_delivered && !send.synchronous && !send.copy && chance(50, random_)) {
    send.copy.emplace(send.buffer, send.buffer + send.bytes);
    any = true;
  }
  if (!send.is_complete && (send.is_delivered || send.copy)) {
    send.is_complete = any = true;
    send.from->reports_.push_back({engine::Completion::Kind::kTransfer, send.operation, 0, {}});
  }
  const auto drop = [](auto& queue, std::size_t& first, const auto& is_over) {
    while (!queue.empty() && is_over(queue.front())) {
      queue.pop_front();
      ++first;
    }
  };
  drop(channel.sends, channel.first_send,
       [](const Send& of) { return of.is_delivered && of.is_complete; });
  drop(channel.receives, channel.first_receive, [](const Receive& of) { return of.is_delivered; });
  if (any) ++events;
  return any;
}

bool Network::deliver(Send& send, Receive& receive) {
  require(!receive.is_cancelled, "a segment arrives for a receive that was cancelled");
  require(send.bytes <= receive.bytes || !receive.may_be_longer,
          "a longer segment arrives for a receive that should have waited for the comparison");
  const std::size_t bytes = std::min(send.bytes, receive.bytes);
  if (bytes != 0) std::memcpy(receive.buffer, send.copy ? send.copy->data() : send.buffer, bytes);
  send.is_delivered = receive.is_delivered = true;
  constexpr std::size_t unit = sizeof(Element);
  engine::Completion done{engine::Completion::Kind::kTransfer, receive.operation};
  done.error = send.bytes > receive.bytes ? kTruncated : 0;
  if (send.bytes % unit == 0) done.length = send.bytes / unit;
  receive.to->reports_.push_back(done);
  return true;
}

// --- a rank's transport ---

void Transport::set_windows(std::vector<engine::TreeWindows> windows) {
  require(in_progress_ == 0, "windows change while operations are in progress");
  windows_ = std::move(windows);
  for (const bool is_send : {false, true}) {
    auto& slots = slots_[is_send ? 1 : 0];
    slots.clear();
    for (const engine::TreeWindows& tree : windows_) {
      auto& of_edges = slots.emplace_back();
      for (const std::uint64_t window : is_send ? tree.out : tree.in) {
        of_edges.emplace_back().open.assign(window, 0);
      }
    }
  }
}

void Transport::begin(bool stoppable) {
  require(in_progress_ == 0, "a message begins while operations are in progress");
  for (auto& of_trees : slots_) {
    for (auto& of_edges : of_trees) {
      for (Slots& slots : of_edges) slots.begun = 0;
    }
  }
  stoppable_ = stoppable;
  is_checked_ = !network_.calls_.are_compared;
  abort_is_raised_ = false;
  ++network_.have_begun_;
  ++network_.events;
}

void Transport::open(const engine::Operation& operation, const std::byte* buffer,
                     std::size_t length) {
  Slots& slots = slots_of(operation);
  require(operation.nth == slots.begun++, "an edge's operations do not begin in order");
  std::uint64_t& slot = slots.open[operation.nth % slots.open.size()];
  require(slot == 0, "more operations of an edge are in progress than its window");
  slot = operation.nth + 1;
  ++in_progress_;
  ++network_.events;
  network_.add_buffer(
      {rank_, !operation.is_send, buffer, buffer + length * sizeof(Element), this, operation});
}

void Transport::close(const engine::Operation& operation) {
  Slots& slots = slots_of(operation);
  slots.open[operation.nth % slots.open.size()] = 0;
  --in_progress_;
  if (is_limited(operation)) --limited_in_progress_;
  ++network_.events;
  network_.remove_buffer(this, operation);
}

int Transport::receive(const engine::Operation& operation, const engine::Segment& segment,
                       std::byte* buffer) {
  open(operation, buffer, segment.length);
  const engine::Edge& edge = edge_of(operation);
  const bool at_risk = !is_checked_ && edge.risk == engine::Risk::kAll;
  require(!at_risk, "a receive is posted that a longer segment could overflow");
  network_.channel(number_of(operation), edge.peer, rank_)
      .receives.push_back({this, operation, buffer, segment.length * sizeof(Element),
                           edge.risk != engine::Risk::kNone});
  return 0;
}

int Transport::send(const engine::Operation& operation, const engine::Segment& segment,
                    const std::byte* buffer, bool synchronous) {
  open(operation, buffer, segment.length);
  if (is_limited(operation)) {
    require(synchronous, "a limited send does not wait for its receive");
    require(++limited_in_progress_ <= limit->most,
            "more limited sends are in progress than allowed");
  }
  network_.channel(number_of(operation), rank_, edge_of(operation).peer)
      .sends.push_back({this, operation, buffer, segment.length * sizeof(Element), synchronous});
  return 0;
}

void Transport::cancel(const engine::Operation& operation) {
  require(stoppable_, "a receive is cancelled in a message that cannot be stopped");
  Network::Channel& channel =
      network_.channel(number_of(operation), edge_of(operation).peer, rank_);
  for (Network::Receive& receive : channel.receives) {
    if (receive.operation.nth == operation.nth) receive.is_cancelled = true;
  }
  close(operation);
}

bool Transport::is_complete(const engine::Operation& operation) const {
  network_.count_use();
  const Slots& slots = slots_of(operation);
  return slots.open[operation.nth % slots.open.size()] != operation.nth + 1;
}

std::span<const engine::Completion> Transport::poll() {
  take_reports(50);
  return taken_;
}

// It never sleeps: the other ranks run in the same process.
std::optional<std::span<const engine::Completion>> Transport::wait() {
  if (network_.is_overdue && !has_anything()) return {};
  take_reports(90);
  return std::span<const engine::Completion>(taken_);
}

void Transport::take_reports(std::uint64_t of_100) {
  Random& random = network_.random();
  taken_.clear();
  if (!is_checked_ && network_.have_begun_ == network_.calls_.ranks && chance(of_100, random)) {
    if (network_.calls_.differ) throw Ended("the calls differ");
    is_checked_ = true;
    ++network_.events;
  }
  for (std::size_t left = reports_.size(); left > 0; --left) {
    if (!chance(of_100, random)) continue;
    const std::size_t at = below(reports_.size(), random);
    taken_.push_back(reports_[at]);
    reports_[at] = reports_.back();
    reports_.pop_back();
    close(taken_.back().operation);
  }
  if (aborts_ > 0 && chance(of_100, random)) {
    aborts_ = 0;
    taken_.push_back({engine::Completion::Kind::kAbort});
  }
}

void Transport::raise_abort() {
  require(stoppable_ && !abort_is_raised_, "an abort signal that nobody expects");
  abort_is_raised_ = true;
  if (rank_ != root_) ++(*of_ranks)[static_cast<std::size_t>(root_)]->aborts_;
}

}  // namespace espalier::testing::adversary
