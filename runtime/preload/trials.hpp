// Whether plans or MPI's own algorithms are faster for a program's calls: both run in turns, then
// all ranks agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::preload {

// Of one or several plans. A way is MPI's own algorithm (0) or that by a plan (1, ...). Messages of
// one size class are measured together, by their time per byte. The fastest of a way's runs counts,
// on the rank where that is the slowest. A plan runs only if it is clearly faster than MPI's own.
class Trials {
 public:
  static constexpr std::size_t kMpi = 0;
  // each: measured runs of each way, after one that is not; 0: every call runs by the last plan.
  Trials(std::size_t each, std::size_t plans) : each_(each), ways_(1 + plans) {}

  // The way of the next call. bytes: at least 1; equal on all ranks, as in all functions here.
  [[nodiscard]] std::size_t next(std::uint64_t bytes);
  // Whether the next call is one of the trials.
  [[nodiscard]] bool is_trial(std::uint64_t bytes) { return !of(bytes).chosen; }
  // The call has ended on this rank. Collective over `comm` after the last of the trials. Throws
  // MpiError, TimedOut.
  void note(std::uint64_t bytes, double seconds, const runtime::OwnedComm& comm,
            runtime::Timeout timeout);
  // How much faster than MPI's own a way was for so many bytes; unset before the ranks agree.
  [[nodiscard]] std::optional<double> saved_s(std::uint64_t bytes, std::size_t way) const;

 private:
  struct Size {
    std::size_t calls = 0;          // the ways take turns
    std::vector<double> fastest_s;  // of each way, per byte
    std::optional<std::size_t> chosen{};
  };
  Size& of(std::uint64_t bytes);

  std::size_t each_;
  std::size_t ways_;
  std::map<int, Size> sizes_;  // by size_class
};

}  // namespace espalier::preload
