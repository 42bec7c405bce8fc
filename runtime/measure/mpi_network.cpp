#include "runtime/measure/mpi_network.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "runtime/measure/arrivals.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kOutstanding = 4;  // messages of a flow, at both ends
constexpr int kDataTag = 1;
constexpr int kPingTag = 2;
constexpr int kTrainTag = 3;
constexpr int kMessageTag = 4;
constexpr std::size_t kMostLateMessages = 10;
constexpr double kWaitPerTrip = 2;
constexpr double kLeastWait_s = 1e-4;
constexpr double kMostWait_s = 0.5;
constexpr std::size_t kFieldsOfStream = 4;
constexpr std::size_t kTrainPerPing = 10;

// This rank's ends of the flows of one transfer.
class Streams {
 public:
  Streams(MPI_Comm comm, std::size_t rank, const Transfer& transfer)
      : comm_(comm),
        transfer_(&transfer),
        sent_(transfer.streams.size()),
        arrivals_(transfer.streams.size()) {
    std::uint64_t largest = 1;
    for (std::size_t flow = 0; flow < transfer.streams.size(); ++flow) {
      const Flow& ends = transfer.streams[flow].flow;
      if (ends.from != rank && ends.to != rank) continue;
      largest = std::max(largest, transfer.streams[flow].chunk_bytes);
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
    while (proceed()) {
    }
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
  std::vector<std::uint64_t> sent_;             // messages of each flow sent by this rank
  std::vector<std::vector<Arrival>> arrivals_;  // of messages to this rank
  std::vector<Slot> slots_;
  std::vector<MPI_Request> requests_;  // of each slot
  std::vector<std::byte> data_;
  double begun_ = 0;
};

// One end of a flow of short messages.
class Pinging {
 public:
  Pinging(MPI_Comm comm, std::size_t peer, std::size_t messages)
      : comm_(comm), peer_(static_cast<int>(peer)), messages_(messages) {}

  ShortMessages send() {
    std::vector<double> trips;
    for (std::size_t i = 0; i < messages_; ++i) {
      const double begun = MPI_Wtime();
      send_byte(kPingTag);
      receive_byte(kPingTag);
      trips.push_back(MPI_Wtime() - begun);
    }
    // Messages may be delivered in batches, so only the whole train gives the time per message.
    const double trip = median_of(std::move(trips));
    const auto train = static_cast<double>(kTrainPerPing * messages_);
    const double begun = MPI_Wtime();
    for (std::size_t i = 0; i < kTrainPerPing * messages_; ++i) send_byte(kTrainTag);
    const double sent = MPI_Wtime() - begun;
    receive_byte(kPingTag);
    const double all = MPI_Wtime() - begun;
    return {trip, std::max(sent, all - trip) / train, sent / train};
  }

  void receive() {
    for (std::size_t i = 0; i < messages_; ++i) {
      receive_byte(kPingTag);
      send_byte(kPingTag);
    }
    for (std::size_t i = 0; i < kTrainPerPing * messages_; ++i) receive_byte(kTrainTag);
    send_byte(kPingTag);
  }

 private:
  void send_byte(int tag) {
    const char byte = 0;
    check(MPI_Send(&byte, 1, MPI_CHAR, peer_, tag, comm_),
          fmt::format("sending to rank {}", peer_));
  }
  void receive_byte(int tag) {
    char byte = 0;
    check(MPI_Recv(&byte, 1, MPI_CHAR, peer_, tag, comm_, MPI_STATUS_IGNORE),
          fmt::format("receiving from rank {}", peer_));
  }

  MPI_Comm comm_;
  int peer_;
  std::size_t messages_;
};

// One end of a flow of messages of one size.
class Messages {
 public:
  Messages(MPI_Comm comm, std::size_t peer, std::uint64_t bytes, std::size_t messages)
      : comm_(comm), peer_(static_cast<int>(peer)), messages_(messages), data_(bytes) {}

  MessageTimes send() {
    std::vector<double> trips;
    std::vector<double> sends;
    send_message();  // touches the pages and opens the connection
    receive_byte();
    for (std::size_t i = 0; i < messages_; ++i) {
      const double begun = MPI_Wtime();
      send_message();
      const double sent = MPI_Wtime();
      receive_byte();
      trips.push_back(MPI_Wtime() - begun);
      sends.push_back(sent - begun);
    }
    for (std::size_t i = 0; i < late_messages(); ++i) {
      receive_byte();
      send_message();
    }
    return {median_of(std::move(trips)), median_of(std::move(sends)), 0};
  }

  MessageTimes receive() {
    receive_message();
    send_byte();
    const double begun = MPI_Wtime();
    for (std::size_t i = 0; i < messages_; ++i) {
      receive_message();
      send_byte();
    }
    const double trip = (MPI_Wtime() - begun) / static_cast<double>(messages_);
    std::vector<double> receives;
    for (std::size_t i = 0; i < late_messages(); ++i) {
      send_byte();
      let_arrive(trip);
      const double called = MPI_Wtime();
      receive_message();
      receives.push_back(MPI_Wtime() - called);
    }
    return {0, 0, median_of(std::move(receives))};
  }

 private:
  // Each of them costs several round trips.
  [[nodiscard]] std::size_t late_messages() const { return std::min(messages_, kMostLateMessages); }
  // Without calling MPI, which would receive; asleep, because the sender may need the processor.
  static void let_arrive(double round_trip_s) {
    const double wait_s = std::clamp(kWaitPerTrip * round_trip_s, kLeastWait_s, kMostWait_s);
    ::usleep(static_cast<useconds_t>(1e6 * wait_s));
  }
  void send_message() { send(data_.data(), data_.size(), kMessageTag); }
  void receive_message() { receive(data_.data(), data_.size(), kMessageTag); }
  void send_byte() { send(&byte_, 1, kPingTag); }
  void receive_byte() { receive(&byte_, 1, kPingTag); }
  void send(const void* data, std::size_t bytes, int tag) {
    check(MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, peer_, tag, comm_),
          fmt::format("sending to rank {}", peer_));
  }
  void receive(void* data, std::size_t bytes, int tag) {
    check(MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, peer_, tag, comm_, MPI_STATUS_IGNORE),
          fmt::format("receiving from rank {}", peer_));
  }

  MPI_Comm comm_;
  int peer_;
  std::size_t messages_;
  std::vector<std::byte> data_;
  std::byte byte_{};
};

}  // namespace

MpiNetwork::MpiNetwork(MPI_Comm comm) {
  check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
  const int rank = rank_in(comm_);
  const int ranks = size_of(comm_);
  rank_ = static_cast<std::size_t>(rank);
  ranks_ = static_cast<std::size_t>(ranks);
}

MpiNetwork::~MpiNetwork() {
  MPI_Comm_free(&comm_);
}

// An order consists of its kind, a number, and four fields for each flow.
void MpiNetwork::send_order(std::vector<std::uint64_t> order) {
  std::uint64_t length = order.size();
  check(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast");
  check(MPI_Bcast(order.data(), static_cast<int>(length), MPI_UINT64_T, 0, comm_), "MPI_Bcast");
}

std::vector<double> MpiNetwork::transfer(const Transfer& transfer) {
  std::vector<std::uint64_t> order = {static_cast<std::uint64_t>(Order::kTransfer),
                                      std::bit_cast<std::uint64_t>(transfer.seconds)};
  for (const auto& [ends, chunk_bytes, ahead_bytes] : transfer.streams) {
    order.insert(order.end(), {ends.from, ends.to, chunk_bytes, ahead_bytes});
  }
  send_order(std::move(order));
  return take_part_in_transfer(transfer);
}

std::vector<ShortMessages> MpiNetwork::exchange(std::span<const Flow> flows, std::size_t messages) {
  std::vector<std::uint64_t> order = {static_cast<std::uint64_t>(Order::kExchange), messages};
  for (const Flow& ends : flows) order.insert(order.end(), {ends.from, ends.to, 1, 0});
  send_order(std::move(order));
  return take_part_in_exchange(flows, messages);
}

MessageTimes MpiNetwork::time_messages(const Flow& flow, std::uint64_t bytes,
                                       std::size_t messages) {
  send_order(
      {static_cast<std::uint64_t>(Order::kMessages), messages, flow.from, flow.to, bytes, 0});
  return take_part_in_messages(flow, bytes, messages);
}

void MpiNetwork::dismiss() {
  send_order({static_cast<std::uint64_t>(Order::kDismiss), 0});
}

void MpiNetwork::serve() {
  while (true) {
    std::uint64_t length = 0;
    check(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast");
    std::vector<std::uint64_t> order(length);
    check(MPI_Bcast(order.data(), static_cast<int>(length), MPI_UINT64_T, 0, comm_), "MPI_Bcast");
    const auto kind = static_cast<Order>(order[0]);
    if (kind == Order::kDismiss) return;
    Transfer transfer;
    std::vector<Flow> flows;
    for (std::size_t at = 2; at < order.size(); at += kFieldsOfStream) {
      flows.push_back({order[at], order[at + 1]});
      transfer.streams.push_back({flows.back(), order[at + 2], order[at + 3]});
    }
    if (kind == Order::kExchange) {
      take_part_in_exchange(flows, order[1]);
    } else if (kind == Order::kMessages) {
      const Transfer::Stream& stream = transfer.streams.at(0);
      take_part_in_messages(stream.flow, stream.chunk_bytes, order[1]);
    } else {
      transfer.seconds = std::bit_cast<double>(order[1]);
      take_part_in_transfer(transfer);
    }
  }
}

std::vector<double> MpiNetwork::take_part_in_transfer(const Transfer& transfer) {
  return sum_at_root(Streams(comm_, rank_, transfer).run());
}

std::vector<ShortMessages> MpiNetwork::take_part_in_exchange(std::span<const Flow> flows,
                                                             std::size_t messages) {
  check(MPI_Barrier(comm_), "MPI_Barrier");
  std::vector<double> mine;
  for (const Flow& flow : flows) {
    ShortMessages seen;
    if (flow.from == rank_) seen = Pinging(comm_, flow.to, messages).send();
    if (flow.to == rank_) Pinging(comm_, flow.from, messages).receive();
    mine.insert(mine.end(), {seen.round_trip_s, seen.gap_s, seen.send_s});
  }
  const std::vector<double> all = sum_at_root(std::move(mine));
  std::vector<ShortMessages> figures;
  for (std::size_t at = 0; at < all.size(); at += 3) {
    figures.push_back({all[at], all[at + 1], all[at + 2]});
  }
  return figures;
}

MessageTimes MpiNetwork::take_part_in_messages(const Flow& flow, std::uint64_t bytes,
                                               std::size_t messages) {
  check(MPI_Barrier(comm_), "MPI_Barrier");
  MessageTimes seen;
  if (flow.from == rank_) seen = Messages(comm_, flow.to, bytes, messages).send();
  if (flow.to == rank_) seen = Messages(comm_, flow.from, bytes, messages).receive();
  const std::vector<double> all = sum_at_root({seen.round_trip_s, seen.send_s, seen.receive_s});
  return {all[0], all[1], all[2]};
}

// Each value is known to one rank; the other ranks have 0.
std::vector<double> MpiNetwork::sum_at_root(std::vector<double> mine) {
  std::vector<double> all(mine.size());
  check(MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, 0,
                   comm_),
        "MPI_Reduce");
  return all;
}

}  // namespace espalier::runtime::probe
