// What a probe asks of a network: ranks that send when told to. Apart from MPI, so that the probe
// can be tried on networks that are only calculated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

// Flows that run at once.
struct Transfer {
  struct Stream {
    Flow flow;
    std::uint64_t chunk_bytes = 1;  // of each message, 1 and more
    // How much the sender may be ahead of what it knows to have arrived, about; four messages at
    // least. Buffers in flight may take far more, for which everybody would wait at the end.
    std::uint64_t ahead_bytes = 0;
  };
  std::vector<Stream> streams;
  double seconds = 0;  // how long they send
};

// Medians over a train of short messages.
struct ShortMessages {
  double round_trip_s = 0;
  double gap_s = 0;
  double send_s = 0;
};

// Medians over messages of one size.
struct MessageTimes {
  double round_trip_s = 0;  // the message there, one byte back
  double send_s = 0;        // what the sender is busy with for it
  double receive_s = 0;     // what the receiver is, when it had time to arrive before
};

class Network {
 public:
  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;

  [[nodiscard]] virtual std::size_t ranks() const = 0;
  // What each flow carried while all were in progress, bytes/s.
  virtual std::vector<double> transfer(const Transfer& transfer) = 0;
  // One byte there and back, `messages` times, and a train of ten times as many, along disjoint
  // flows at once.
  virtual std::vector<ShortMessages> exchange(std::span<const Flow> flows,
                                              std::size_t messages) = 0;
  // Messages of `bytes` along one flow, one at a time, nothing else beside them. Both at least 1.
  virtual MessageTimes time_messages(const Flow& flow, std::uint64_t bytes,
                                     std::size_t messages) = 0;
};

}  // namespace espalier::runtime::probe
