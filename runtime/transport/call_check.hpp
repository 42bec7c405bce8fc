// Checks that all ranks have called a collective with matching arguments, while it is in progress:
// with different sizes a rank could wait indefinitely.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

namespace espalier::runtime {

class CallCheck {
 public:
  // bytes: the message's size on this rank. kind: not 0; encodes what else must be the same on all
  // ranks (of a reduction: runtime/memory/reduce_operation.hpp).
  explicit CallCheck(std::uint64_t bytes, std::uint64_t kind = 1);
  // For a rank that refuses the call, so that the other ranks give up as well.
  static CallCheck refusal() { return CallCheck(0, kRefused); }

  // Collective; `request` completes when all ranks have begun.
  void begin(MPI_Comm comm, MPI_Request& request);
  // Call it after the request has completed. Throws InputError when the ranks differ.
  void judge(int rank) const;
  // The request will never be waited for: the memory that it writes to is never freed.
  void leave_to_mpi() { (void)words_.release(); }

 private:
  static constexpr std::uint64_t kRefused = 0;
  struct Words {
    // Each value and its complement: the maxima give the largest and the smallest value.
    std::array<std::uint64_t, 4> here;
    std::array<std::uint64_t, 4> all;
  };
  std::unique_ptr<Words> words_;
};

}  // namespace espalier::runtime
