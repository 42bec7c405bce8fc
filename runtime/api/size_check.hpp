// Do all ranks expect a message of the same size? Asked while the message is in progress, so that
// it costs no time: a rank that expects another one would otherwise wait indefinitely.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

namespace espalier::runtime {

class SizeCheck {
 public:
  // Collective; `request` completes when all ranks have begun. This object must live until then, or
  // leave its numbers to MPI.
  void begin(MPI_Comm comm, std::uint64_t bytes, MPI_Request& request);
  // After that. Throws InputError when the sizes differ.
  void judge(int rank) const;
  // The request will never be waited for: what it reads and writes stays indefinitely.
  void leave_to_mpi() { static_cast<void>(new std::shared_ptr<Sizes>(sizes_)); }

 private:
  struct Sizes {
    std::array<std::uint64_t, 2> here{};
    // The largest size, and the largest complement, which is that of the smallest size.
    std::array<std::uint64_t, 2> all{};
  };
  std::shared_ptr<Sizes> sizes_ = std::make_shared<Sizes>();
};

}  // namespace espalier::runtime
