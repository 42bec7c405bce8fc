// What MpiNetwork's ranks do for short messages, messages of one size, and combining.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/measure/network.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime::probe {

// Called before each wait for other ranks, so that a watchdog can limit it: what the rank does, and
// how much longer than usual the wait may take. Empty: nothing watches.
using Waits = std::function<void(const std::string& doing, Seconds extra)>;

inline constexpr double kSlow_Bps = 1e6;  // the bytes of slow networks

// The other end of a flow whose messages are sent one at a time.
class Peer {
 public:
  Peer(MPI_Comm comm, std::size_t rank, std::uint64_t bytes, const Waits& waits);

  // Before each message that is waited for, and is not part of a measured time.
  void begin() const;
  // Messages of `bytes`, or of one byte.
  void send(int tag) { send(data_.size(), tag); }
  void receive(int tag) { receive(data_.size(), tag); }
  void send_byte() { send(1, kPingTag); }
  void receive_byte() { receive(1, kPingTag); }

 private:
  static constexpr int kPingTag = 2;

  void send(std::size_t bytes, int tag);
  void receive(std::size_t bytes, int tag);

  MPI_Comm comm_;
  int rank_;
  std::vector<std::byte> data_;
  const Waits* waits_;
  std::string doing_;
};

// The sender's part of Network::exchange, with one peer, and of Network::send_in_turn.
ShortMessages send_short(std::span<Peer> peers, std::size_t messages);
// The part of one of `receivers` peers.
void receive_short(Peer peer, std::size_t messages, std::size_t receivers);

// Both parts of Network::time_messages.
MessageTimes send_messages(Peer peer, std::size_t messages);
MessageTimes receive_messages(Peer peer, std::size_t messages);

// Network::combine on this rank. Throws MpiError.
double seconds_of_combining(std::uint64_t bytes, std::size_t calls);

}  // namespace espalier::runtime::probe
