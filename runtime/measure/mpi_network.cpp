#include "runtime/measure/mpi_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/measure/arrivals.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kOutstanding = 4;  // messages of a flow, at both ends
constexpr int kDataTag = 1;
// How long one message of an experiment takes over slow networks, beside its bytes.
constexpr double kSlowTrip_s = 0.1;

// This rank's ends of the flows of one transfer.
class Streams {
 public:
  Streams(MPI_Comm comm, std::size_t rank, const Transfer& transfer, const Waits& waits)
      : comm_(comm),
        transfer_(&transfer),
        waits_(&waits),
        sent_(transfer.streams.size()),
        arrivals_(transfer.streams.size()) {
    std::uint64_t largest = 1;
    for (std::size_t flow = 0; flow < transfer.streams.size(); ++flow) {
      const Flow& ends = transfer.streams[flow].flow;
      if (ends.from != rank && ends.to != rank) continue;
      largest = std::max(largest, transfer.streams[flow].chunk_bytes);
      doing_ += fmt::format("{}{} rank {}", doing_.empty() ? "" : ", ",
                            ends.from == rank ? "sending to" : "receiving from",
                            ends.from == rank ? ends.to : ends.from);
      for (std::size_t i = 0; i < kOutstanding; ++i)
        slots_.push_back({flow, ends.from == rank, {}});
    }
    data_.resize(largest);
    for (Slot& slot : slots_) {
      if (!slot.sends) slot.buffer.resize(transfer.streams[slot.flow].chunk_bytes);
    }
    requests_.assign(slots_.size(), MPI_REQUEST_NULL);
  }

  std::vector<double> run() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (!slots_[slot].sends) receive(slot);
    }
    check(MPI_Barrier(comm_), "MPI_Barrier");
    begun_ = MPI_Wtime();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].sends) send(slot, transfer_->streams[slots_[slot].flow].chunk_bytes);
    }
    do {
      if (*waits_) (*waits_)(doing_, {});
    } while (proceed());
    std::vector<double> rates(arrivals_.size());
    for (std::size_t flow = 0; flow < rates.size(); ++flow) {
      rates[flow] = rate_of(arrivals_[flow], transfer_->seconds);
    }
    return rates;
  }

 private:
  struct Slot {
    std::size_t flow;
    bool sends;
    std::vector<std::byte> buffer;  // for a receive
    bool is_last = false;           // its final, empty message is in progress
  };

  // Returns false when no request is in progress any more.
  bool proceed() {
    std::vector<int> done(requests_.size());
    std::vector<MPI_Status> statuses(requests_.size());
    int count = 0;
    check(MPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(), &count, done.data(),
                       statuses.data()),
          "MPI_Waitsome");
    if (count == MPI_UNDEFINED) return false;
    const double now = MPI_Wtime() - begun_;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(done[static_cast<std::size_t>(i)]);
      Slot& slot = slots_[at];
      if (slot.sends) {
        if (slot.is_last) continue;
        const Transfer::Stream& stream = transfer_->streams[slot.flow];
        slot.is_last = now >= transfer_->seconds;
        send(at, slot.is_last ? 0 : stream.chunk_bytes);
        continue;
      }
      int bytes = 0;
      check(MPI_Get_count(&statuses[static_cast<std::size_t>(i)], MPI_BYTE, &bytes),
            "MPI_Get_count");
      if (bytes == 0) continue;
      arrivals_[slot.flow].push_back({now, static_cast<std::uint64_t>(bytes)});
      receive(at);
    }
    return true;
  }

  // Every `acknowledged_every`-th message occupies its slot until it has been received.
  void send(std::size_t slot, std::uint64_t bytes) {
    const std::size_t flow = slots_[slot].flow;
    const Transfer::Stream& stream = transfer_->streams[flow];
    const bool is_acknowledged = bytes > 0 && sent_[flow]++ % acknowledged_every(stream) == 0;
    const auto begin = is_acknowledged ? MPI_Issend : MPI_Isend;
    check(begin(data_.data(), static_cast<int>(bytes), MPI_BYTE, static_cast<int>(stream.flow.to),
                kDataTag, comm_, &requests_[slot]),
          fmt::format("sending to rank {}", stream.flow.to));
  }

  static std::uint64_t acknowledged_every(const Transfer::Stream& stream) {
    const std::uint64_t of_all_slots = kOutstanding * stream.chunk_bytes;
    return std::max<std::uint64_t>(1, (stream.ahead_bytes + of_all_slots - 1) / of_all_slots);
  }

  void receive(std::size_t slot) {
    Slot& into = slots_[slot];
    const std::size_t from = transfer_->streams[into.flow].flow.from;
    check(MPI_Irecv(into.buffer.data(), static_cast<int>(into.buffer.size()), MPI_BYTE,
                    static_cast<int>(from), kDataTag, comm_, &requests_[slot]),
          fmt::format("receiving from rank {}", from));
  }

  MPI_Comm comm_;
  const Transfer* transfer_;
  const Waits* waits_;
  std::string doing_;                           // "sending to rank 1, receiving from rank 2"
  std::vector<std::uint64_t> sent_;             // messages of each flow sent by this rank
  std::vector<std::vector<Arrival>> arrivals_;  // of messages to this rank
  std::vector<Slot> slots_;
  std::vector<MPI_Request> requests_;  // of each slot
  std::vector<std::byte> data_;
  double begun_ = 0;
};

}  // namespace

MpiNetwork::MpiNetwork(MPI_Comm comm, Waits waits)
    : comm_(comm),
      rank_(static_cast<std::size_t>(comm_.rank())),
      ranks_(comm_.size()),
      waits_(std::move(waits)) {}

std::vector<double> MpiNetwork::transfer(const Transfer& transfer) {
  return give({Kind::kTransfer, 0, transfer});
}

std::vector<ShortMessages> MpiNetwork::exchange(std::span<const Flow> flows, std::size_t messages) {
  Order order{Kind::kExchange, messages, {}};
  for (const Flow& ends : flows) order.transfer.streams.push_back({ends, 1, 0});
  const std::vector<double> all = give(order);
  std::vector<ShortMessages> figures;
  for (std::size_t at = 0; at < all.size(); at += 3) {
    figures.push_back({all[at], all[at + 1], all[at + 2]});
  }
  return figures;
}

MessageTimes MpiNetwork::time_messages(const Flow& flow, std::uint64_t bytes,
                                       std::size_t messages) {
  const std::vector<double> all = give({Kind::kMessages, messages, {{{flow, bytes, 0}}, 0}});
  return {all[0], all[1], all[2]};
}

double MpiNetwork::send_in_turn(std::size_t from, std::span<const std::size_t> to,
                                std::uint64_t bytes, std::size_t messages) {
  Order order{Kind::kInTurn, messages, {}};
  for (const std::size_t rank : to) order.transfer.streams.push_back({{from, rank}, bytes, 0});
  return give(order)[0];
}

double MpiNetwork::combine(std::size_t rank, std::uint64_t bytes, std::size_t calls) {
  return give({Kind::kCombine, calls, {{{{rank, rank}, bytes, 0}}, 0}})[0];
}

void MpiNetwork::dismiss() {
  give({Kind::kDismiss, 0, {}});
}

void MpiNetwork::serve() {
  Order order;
  do {
    share(order);
    carry_out(order);
  } while (order.kind != Kind::kDismiss);
}

std::vector<double> MpiNetwork::give(Order order) {
  share(order);
  return carry_out(order);
}

// As words: the kind, the number of messages, the time, and four for each stream.
void MpiNetwork::share(Order& order) {
  std::vector<std::uint64_t> words = {static_cast<std::uint64_t>(order.kind), order.messages,
                                      std::bit_cast<std::uint64_t>(order.transfer.seconds)};
  for (const auto& [ends, chunk_bytes, ahead_bytes] : order.transfer.streams) {
    words.insert(words.end(), {ends.from, ends.to, chunk_bytes, ahead_bytes});
  }
  std::uint64_t length = words.size();
  waits("waiting for rank 0 to begin the next experiment");
  check(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm_.get()), "MPI_Bcast");
  words.resize(length);
  check(MPI_Bcast(words.data(), static_cast<int>(length), MPI_UINT64_T, 0, comm_.get()),
        "MPI_Bcast");
  order = {static_cast<Kind>(words[0]), words[1], {{}, std::bit_cast<double>(words[2])}};
  for (std::size_t at = 3; at < words.size(); at += 4) {
    order.transfer.streams.push_back({{words[at], words[at + 1]}, words[at + 2], words[at + 3]});
  }
}

// How long the flows of others may last, for a rank that waits for them.
Seconds MpiNetwork::time_of(const Order& order) {
  double each_s = 0;
  for (const Transfer::Stream& stream : order.transfer.streams) {
    each_s = std::max(each_s, kSlowTrip_s + static_cast<double>(stream.chunk_bytes) / kSlow_Bps);
  }
  return {order.transfer.seconds + static_cast<double>(order.messages) * each_s};
}

std::vector<double> MpiNetwork::carry_out(const Order& order) {
  if (order.kind == Kind::kDismiss) return {};
  std::vector<double> mine;
  waits("waiting for all ranks to begin an experiment");
  if (order.kind == Kind::kTransfer) {
    mine = Streams(comm_.get(), rank_, order.transfer, waits_).run();
  } else if (order.kind == Kind::kCombine || order.kind == Kind::kInTurn) {
    check(MPI_Barrier(comm_.get()), "MPI_Barrier");
    mine = {order.kind == Kind::kCombine ? combine_here(order) : in_turn(order)};
  } else {
    check(MPI_Barrier(comm_.get()), "MPI_Barrier");
    for (const auto& [flow, bytes, ahead] : order.transfer.streams) {
      const std::vector<double> seen = order.kind == Kind::kExchange
                                           ? pings_along(flow, order.messages)
                                           : messages_along(flow, bytes, order.messages);
      mine.insert(mine.end(), seen.begin(), seen.end());
    }
  }
  waits("waiting for all ranks to end an experiment", time_of(order));
  // Each value is known to one rank; the other ranks have 0.
  std::vector<double> all(mine.size());
  check(MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, 0,
                   comm_.get()),
        "MPI_Reduce");
  return all;
}

std::vector<double> MpiNetwork::pings_along(const Flow& flow, std::size_t messages) {
  ShortMessages seen;
  if (flow.from == rank_) {
    Peer peer(comm_.get(), flow.to, 1, waits_);
    seen = send_short({&peer, 1}, messages);
  }
  if (flow.to == rank_) receive_short({comm_.get(), flow.from, 1, waits_}, messages, 1);
  return {seen.round_trip_s, seen.gap_s, seen.send_s};
}

double MpiNetwork::in_turn(const Order& order) {
  const std::vector<Transfer::Stream>& streams = order.transfer.streams;
  std::vector<Peer> peers;
  for (const auto& [flow, bytes, ahead] : streams) {
    if (flow.from == rank_) peers.emplace_back(comm_.get(), flow.to, bytes, waits_);
    if (flow.to == rank_) {
      receive_short({comm_.get(), flow.from, bytes, waits_}, order.messages, streams.size());
    }
  }
  return peers.empty() ? 0 : send_short(peers, order.messages).gap_s;
}

double MpiNetwork::combine_here(const Order& order) {
  const auto& [flow, bytes, ahead] = order.transfer.streams[0];
  return flow.to == rank_ ? seconds_of_combining(bytes, order.messages) : 0;
}

std::vector<double> MpiNetwork::messages_along(const Flow& flow, std::uint64_t bytes,
                                               std::size_t messages) {
  MessageTimes seen;
  if (flow.from == rank_) seen = send_messages({comm_.get(), flow.to, bytes, waits_}, messages);
  if (flow.to == rank_) seen = receive_messages({comm_.get(), flow.from, bytes, waits_}, messages);
  return {seen.round_trip_s, seen.send_s, seen.receive_s};
}

}  // namespace espalier::runtime::probe
