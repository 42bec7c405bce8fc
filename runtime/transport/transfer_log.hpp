// A log of the segments that a rank sent and received, with times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/segments.hpp"

namespace espalier::runtime {

struct Transfer {
  double begun_s;  // MPI_Wtime of this rank when the send or receive was posted
  double ended_s;  // when it was found complete; below begun_s: never
  std::uint64_t segment;
  std::uint32_t bytes;
  std::uint32_t tree;
  std::uint32_t message;  // number of the run, from 0
  int peer;               // rank
  bool is_send;
};

// Memory is allocated once; transfers that do not fit are counted and left out.
class TransferLog {
 public:
  explicit TransferLog(std::size_t most) : most_(most) { transfers_.reserve(most); }

  // Call it at the start of a run whose requests are numbered from 0 to requests - 1, as far as
  // that is known.
  void begin_run(std::size_t requests);
  // Request `place` has begun to transfer this segment to or from `peer`.
  void begun(std::size_t place, const engine::Segment& segment, int peer, bool is_send);
  void ended(std::size_t place);

  // In the order of their start.
  [[nodiscard]] std::span<const Transfer> transfers() const { return transfers_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  std::size_t most_;
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> open_;  // by request: index of its transfer
  std::uint32_t runs_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace espalier::runtime
