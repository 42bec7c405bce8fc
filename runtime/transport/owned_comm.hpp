// What all plans that are bound to a communicator have: one of their own, and what they know of it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "runtime/transport/timeout.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

inline constexpr std::uint64_t kLargestSegment = std::uint64_t{1} << 30;  // MPI counts in int
// With room for headers (docs/runtime.md, "Slices").
#ifdef MPICH_VERSION
inline constexpr Bytes kEagerOverTcp{15U << 10U};  // over UCX
#else
inline constexpr Bytes kEagerOverTcp{60U << 10U};
#endif

// A communicator of our own: no message of the user's can match ours, and MPI's errors come back as
// codes.
class OwnedComm {
 public:
  // Collective: `of` is duplicated. Throws MpiError, as all of this does; TimedOut when timeout
  // with the other ranks ends.
  explicit OwnedComm(MPI_Comm of, Timeout timeout = Timeout());
  ~OwnedComm();
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  OwnedComm(OwnedComm&&) = delete;
  OwnedComm& operator=(OwnedComm&&) = delete;

  // Messages that nobody will receive may be in progress on it: MPICH would hand them to the next
  // communicator, which takes over the context of one that was freed.
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
