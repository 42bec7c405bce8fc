// The interface between the probe and a network whose ranks send on request. Independent of MPI, so
// that the probe can be tested on simulated networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/measure/measurements.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime::probe {

// Simultaneous flows.
struct Transfer {
  struct Stream {
    Flow flow;
    std::uint64_t chunk_bytes = 1;  // size of each message, at least 1
    // About how many bytes the sender may be ahead of what it knows to have arrived; at least four
    // messages. Buffers on the route may hold far more, and all ranks would wait at the end until
    // these drain.
    std::uint64_t ahead_bytes = 0;
  };
  std::vector<Stream> streams;
  double seconds = 0;  // duration of sending
};

// Medians over a train of short messages.
struct ShortMessages {
  double round_trip_s = 0;
  double gap_s = 0;
  double send_s = 0;
};

// Medians over messages of one size.
struct MessageTimes {
  double round_trip_s = 0;  // the message forth, one byte back
  double send_s = 0;        // sender's time per message
  double receive_s = 0;     // receiver's time per message that has arrived before the call
};

class Network : public Interface {
 public:
  [[nodiscard]] virtual std::size_t ranks() const = 0;
  // The rate of each flow while all are active, bytes/s.
  virtual std::vector<double> transfer(const Transfer& transfer) = 0;
  // One byte forth and back, `messages` times, and a train of ten times as many, on disjoint flows
  // simultaneously.
  virtual std::vector<ShortMessages> exchange(std::span<const Flow> flows,
                                              std::size_t messages) = 0;
  // Messages of `bytes` on one flow, one at a time, without other traffic. Both arguments are at
  // least 1.
  virtual MessageTimes time_messages(const Flow& flow, std::uint64_t bytes,
                                     std::size_t messages) = 0;
  // The time per message of a train from one rank to these others in turn, again and again, without
  // other traffic: `messages` messages with an answer each, and ten times as many in a row, both
  // numbers rounded up to a multiple of the destinations. At least one destination.
  virtual double send_in_turn(std::size_t from, std::span<const std::size_t> to,
                              std::uint64_t bytes, std::size_t messages) = 0;
  // The median time in which one rank adds a buffer of doubles to another. `bytes`: a multiple of
  // 8, at least 8.
  virtual double combine(std::size_t rank, std::uint64_t bytes, std::size_t calls) = 0;
};

}  // namespace espalier::runtime::probe
