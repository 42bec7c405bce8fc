#include "runtime/transport/transfer_log.hpp"

#include <mpi.h>

namespace espalier::runtime {

void TransferLog::begin_run(std::size_t requests) {
  open_.assign(requests, kNone);
  ++runs_;
}

void TransferLog::begun(std::size_t place, const engine::Segment& segment, int peer, bool is_send) {
  if (place >= open_.size()) open_.resize(place + 1, kNone);
  if (transfers_.size() == most_) {
    open_[place] = kNone;
    ++left_out_;
    return;
  }
  open_[place] = transfers_.size();
  transfers_.push_back({MPI_Wtime(), -1, segment.index, static_cast<std::uint32_t>(segment.length),
                        static_cast<std::uint32_t>(segment.tree), runs_ - 1, peer, is_send});
}

void TransferLog::ended(std::size_t place) {
  if (open_[place] == kNone) return;
  transfers_[open_[place]].ended_s = MPI_Wtime();
  open_[place] = kNone;
}

}  // namespace espalier::runtime
