// The duplicated communicator of bound plans.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/transport/timeout.hpp"
#include "support/pinned.hpp"
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
// are returned as codes. Copies share it; the last one frees it. Several plans may be bound to one,
// if all ranks run them in the same order: each run receives all that is sent to it, and MPI keeps
// the order of messages.
class OwnedComm {
 public:
  // Collective: `of` is duplicated. Throws MpiError, as do all its functions; TimedOut if the other
  // ranks exceed the timeout; InputError on a thread that may not call MPI.
  explicit OwnedComm(MPI_Comm of, Timeout timeout = Timeout());

  // Keeps the communicator from being freed, because messages that no rank will receive may be in
  // progress on it: MPICH would deliver them on the next communicator, which reuses the context of
  // a freed one. Nothing may run on it any more.
  void abandon() { shared_->is_abandoned = true; }
  [[nodiscard]] bool is_abandoned() const { return shared_->is_abandoned; }
  [[nodiscard]] MPI_Comm get() const { return shared_->comm; }
  [[nodiscard]] int rank() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t largest_tag() const;

 private:
  // NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
  struct Shared : public Pinned {
    MPI_Comm comm = MPI_COMM_NULL;
    bool is_abandoned = false;
    ~Shared();
  };
  std::shared_ptr<Shared> shared_;
};

// Collective over `comm`. The ranks that give the same color, in the order of `comm`; unset for
// MPI_UNDEFINED. Throws as OwnedComm's constructor.
std::optional<OwnedComm> ranks_of_color(MPI_Comm comm, int color, Timeout timeout = Timeout());

}  // namespace espalier::runtime
