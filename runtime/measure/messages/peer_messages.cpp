#include "runtime/measure/messages/peer_messages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/transport/mpi_error.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr int kTrainTag = 3;
constexpr int kMessageTag = 4;
constexpr std::size_t kMostLateMessages = 10;
constexpr double kWaitPerTrip = 2;
constexpr double kLeastWait_s = 1e-4;
constexpr double kMostWait_s = 0.5;
constexpr std::size_t kTrainPerPing = 10;

// A receiver's part of messages that are sent to all of them in turn.
std::size_t part_of(std::size_t messages, std::size_t receivers) {
  return (messages + receivers - 1) / receivers;
}

// Messages of one size, and then some that arrive before they are received: each of these costs
// several round trips.
std::size_t late_of(std::size_t messages) {
  return std::min(messages, kMostLateMessages);
}

// Without calling MPI, which would receive; asleep, because the sender may need the processor.
void let_arrive(double round_trip_s) {
  const double wait_s = std::clamp(kWaitPerTrip * round_trip_s, kLeastWait_s, kMostWait_s);
  ::usleep(static_cast<useconds_t>(1e6 * wait_s));
}

}  // namespace

Peer::Peer(MPI_Comm comm, std::size_t rank, std::uint64_t bytes, const Waits& waits)
    : comm_(comm),
      rank_(static_cast<int>(rank)),
      data_(bytes),
      waits_(&waits),
      doing_(fmt::format("exchanging messages with rank {}", rank)) {
  begin();
}

void Peer::begin() const {
  if (*waits_) (*waits_)(doing_, {static_cast<double>(data_.size()) / kSlow_Bps});
}

void Peer::send(std::size_t bytes, int tag) {
  check(MPI_Send(data_.data(), static_cast<int>(bytes), MPI_BYTE, rank_, tag, comm_),
        fmt::format("sending to rank {}", rank_));
}

void Peer::receive(std::size_t bytes, int tag) {
  check(MPI_Recv(data_.data(), static_cast<int>(bytes), MPI_BYTE, rank_, tag, comm_,
                 MPI_STATUS_IGNORE),
        fmt::format("receiving from rank {}", rank_));
}

// Pings, and then a train.
ShortMessages send_short(std::span<Peer> peers, std::size_t messages) {
  std::vector<double> trips;
  for (std::size_t i = 0; i < part_of(messages, peers.size()); ++i) {
    for (Peer& peer : peers) {
      peer.begin();
      const double begun = MPI_Wtime();
      peer.send(kTrainTag);
      peer.receive_byte();
      trips.push_back(MPI_Wtime() - begun);
    }
  }
  // Messages may be delivered in batches, so only the whole train gives the time per message.
  const double trip = median_of(std::move(trips));
  const std::size_t rounds = part_of(kTrainPerPing * messages, peers.size());
  const auto train = static_cast<double>(rounds * peers.size());
  const double begun = MPI_Wtime();
  for (std::size_t i = 0; i < rounds; ++i) {
    for (Peer& peer : peers) peer.send(kTrainTag);
  }
  const double sent = MPI_Wtime() - begun;
  for (Peer& peer : peers) peer.receive_byte();
  const double all = MPI_Wtime() - begun;
  return {trip, std::max(sent, all - trip) / train, sent / train};
}

void receive_short(Peer peer, std::size_t messages, std::size_t receivers) {
  for (std::size_t i = 0; i < part_of(messages, receivers); ++i) {
    peer.begin();
    peer.receive(kTrainTag);
    peer.send_byte();
  }
  const std::size_t rounds = part_of(kTrainPerPing * messages, receivers);
  for (std::size_t i = 0; i < rounds; ++i) peer.receive(kTrainTag);
  peer.send_byte();
}

MessageTimes send_messages(Peer peer, std::size_t messages) {
  std::vector<double> trips;
  std::vector<double> sends;
  peer.send(kMessageTag);  // touches the pages and opens the connection
  peer.receive_byte();
  for (std::size_t i = 0; i < messages; ++i) {
    peer.begin();
    const double begun = MPI_Wtime();
    peer.send(kMessageTag);
    const double sent = MPI_Wtime();
    peer.receive_byte();
    trips.push_back(MPI_Wtime() - begun);
    sends.push_back(sent - begun);
  }
  for (std::size_t i = 0; i < late_of(messages); ++i) {
    peer.begin();
    peer.receive_byte();
    peer.send(kMessageTag);
  }
  return {median_of(std::move(trips)), median_of(std::move(sends)), 0};
}

MessageTimes receive_messages(Peer peer, std::size_t messages) {
  peer.receive(kMessageTag);
  peer.send_byte();
  const double begun = MPI_Wtime();
  for (std::size_t i = 0; i < messages; ++i) {
    peer.begin();
    peer.receive(kMessageTag);
    peer.send_byte();
  }
  const double trip = (MPI_Wtime() - begun) / static_cast<double>(messages);
  std::vector<double> receives;
  for (std::size_t i = 0; i < late_of(messages); ++i) {
    peer.begin();
    peer.send_byte();
    let_arrive(trip);
    const double called = MPI_Wtime();
    peer.receive(kMessageTag);
    receives.push_back(MPI_Wtime() - called);
  }
  return {0, 0, median_of(std::move(receives))};
}

double seconds_of_combining(std::uint64_t bytes, std::size_t calls) {
  const std::size_t count = std::max<std::size_t>(bytes / sizeof(double), 1);
  std::vector<double> own(count, 1);
  std::vector<double> added(count, 0);  // sums stay finite: no time of special values is measured
  std::vector<double> times;
  for (std::size_t call = 0; call < calls; ++call) {
    const double begun = MPI_Wtime();
    check(MPI_Reduce_local(added.data(), own.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM),
          "MPI_Reduce_local");
    times.push_back(MPI_Wtime() - begun);
  }
  return median_of(std::move(times));
}

}  // namespace espalier::runtime::probe
