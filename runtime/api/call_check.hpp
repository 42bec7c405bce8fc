// Have all ranks called a reduction alike? Asked while it is in progress; what SizeCheck is to a
// broadcast.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

namespace espalier::runtime {

class CallCheck {
 public:
  // bytes: of the message on this rank. kind: not 0; what else is to be the same on all ranks
  // (runtime/engine/reduce_operation.hpp).
  CallCheck(std::uint64_t bytes, std::uint64_t kind);
  // Of a rank that will not do what it is called for, so that the others give up as well.
  static CallCheck refusal() { return CallCheck(0, kRefused); }

  // Collective; `request` completes when all ranks have begun.
  void begin(MPI_Comm comm, MPI_Request& request);
  // After that. Throws InputError when the ranks differ.
  void judge(int rank) const;
  // The request will never be waited for: what it writes to stays indefinitely.
  void leave_to_mpi() { (void)words_.release(); }

 private:
  static constexpr std::uint64_t kRefused = 0;
  struct Words {
    // Each value and its complement: their largest are the largest and the smallest value.
    std::array<std::uint64_t, 4> here;
    std::array<std::uint64_t, 4> all;
  };
  std::unique_ptr<Words> words_;
};

}  // namespace espalier::runtime
