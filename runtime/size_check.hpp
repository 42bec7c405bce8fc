// Do all ranks expect a message of the same size? Asked while the message is under way, so that it
// costs no time: a rank that expects another one would otherwise wait for ever.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

namespace espalier::runtime {

class SizeCheck {
 public:
  // Collective; `request` completes when all ranks have begun. This object must stay where it is
  // until then.
  void begin(MPI_Comm comm, std::uint64_t bytes, MPI_Request& request);
  // After that. Throws InputError when the sizes differ.
  void judge(int rank) const;

 private:
  // The largest size, and the largest complement, which is that of the smallest size.
  std::array<std::uint64_t, 2> here_{};
  std::array<std::uint64_t, 2> all_{};
};

}  // namespace espalier::runtime
