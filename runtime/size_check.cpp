#include "runtime/size_check.hpp"

#include <fmt/format.h>

#include "runtime/mpi_error.hpp"

namespace espalier::runtime {

void SizeCheck::begin(MPI_Comm comm, std::uint64_t bytes, MPI_Request& request) {
  here_ = {bytes, ~bytes};
  check(MPI_Iallreduce(here_.data(), all_.data(), 2, MPI_UINT64_T, MPI_MAX, comm, &request),
        "MPI_Iallreduce");
}

void SizeCheck::judge(int rank) const {
  if (all_[0] == ~all_[1]) return;
  throw InputError(fmt::format(
      "the ranks disagree on the size of the message: {} bytes on rank {}, from {} to {} on all",
      here_[0], rank, ~all_[1], all_[0]));
}

}  // namespace espalier::runtime
