// The duplicated communicator of a bound plan.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "runtime/transport/timeout.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

inline constexpr std::uint64_t kLargestSegment = std::uint64_t{1} << 30;  // MPI counts in int
// Leaves space for headers (docs/runtime.md, "Segments").
#ifdef MPICH_VERSION
inline constexpr Bytes kEagerOverTcp{15U << 10U};  // over UCX
#else
inline constexpr Bytes kEagerOverTcp{60U << 10U};
#endif

// A communicator for Espalier alone: no message of the user can match its messages, and MPI errors
// are returned as codes.
class OwnedComm {
 public:
  // Collective: `of` is duplicated. Throws MpiError, as do all its functions; TimedOut if the other
  // ranks exceed the timeout.
  explicit OwnedComm(MPI_Comm of, Timeout timeout = Timeout());
  ~OwnedComm();
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  OwnedComm(OwnedComm&&) = delete;
  OwnedComm& operator=(OwnedComm&&) = delete;

  // Keeps the communicator from being freed, because messages that no rank will receive may be in
  // progress on it: MPICH would deliver them on the next communicator, which reuses the context of
  // a freed one.
  void abandon() { abandoned_ = true; }
  [[nodiscard]] bool is_abandoned() const { return abandoned_; }
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int rank() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t largest_tag() const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool abandoned_ = false;
};

}  // namespace espalier::runtime
