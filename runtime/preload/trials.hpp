// Whether plans or MPI's own algorithms are faster for a program's calls: both run in turns, then
// all ranks agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::preload {

enum class Way : std::uint8_t { kMpi, kPlan };

// Of one plan. Messages of one size class are measured together, by their time per byte.
// The fastest of a way's runs counts, on the rank where that is the slowest. The plan runs only if
// it is clearly faster.
class Trials {
 public:
  // each: measured runs of each way, after one that is not; 0: every call runs by the plan.
  explicit Trials(std::size_t each) : each_(each) {}

  // The way of the next call. bytes: at least 1; equal on all ranks, as in all functions here.
  [[nodiscard]] Way next(std::uint64_t bytes);
  // Whether the next call is one of the trials.
  [[nodiscard]] bool is_trial(std::uint64_t bytes) { return !of(bytes).is_agreed; }
  // The call has ended on this rank. Collective over `comm` after the last of the trials. Throws
  // MpiError, TimedOut.
  void note(std::uint64_t bytes, double seconds, const runtime::OwnedComm& comm,
            runtime::Timeout timeout);
  // How much faster than MPI's own the plan was for so many bytes; unset before the ranks agree.
  [[nodiscard]] std::optional<double> saved_s(std::uint64_t bytes) const;

 private:
  struct Size {
    std::size_t calls = 0;  // the next one is MPI's where this is even
    double mpi_s;           // per byte
    double plan_s;
    bool is_agreed;
  };
  Size& of(std::uint64_t bytes);

  std::size_t each_;
  std::map<int, Size> sizes_;  // by size_class
};

}  // namespace espalier::preload
