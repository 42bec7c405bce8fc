// Checks that all ranks expect a message of the same size; with different sizes a rank could wait
// indefinitely. The check runs while the message is in progress, so it costs no extra time.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

namespace espalier::runtime {

class SizeCheck {
 public:
  // Collective; `request` completes when all ranks have begun. Keep this object until then, or call
  // leave_to_mpi().
  void begin(MPI_Comm comm, std::uint64_t bytes, MPI_Request& request);
  // Call it after the request has completed. Throws InputError when the sizes differ.
  void judge(int rank) const;
  // The request will never be waited for: the memory that it uses is never freed.
  void leave_to_mpi() { static_cast<void>(new std::shared_ptr<Sizes>(sizes_)); }

 private:
  struct Sizes {
    std::array<std::uint64_t, 2> here{};
    // The largest size, and the complement of the smallest size (the largest complement).
    std::array<std::uint64_t, 2> all{};
  };
  std::shared_ptr<Sizes> sizes_ = std::make_shared<Sizes>();
};

}  // namespace espalier::runtime
