#include "runtime/api/size_check.hpp"

#include <fmt/format.h>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

void SizeCheck::begin(MPI_Comm comm, std::uint64_t bytes, MPI_Request& request) {
  sizes_->here = {bytes, ~bytes};
  check(MPI_Iallreduce(sizes_->here.data(), sizes_->all.data(), 2, MPI_UINT64_T, MPI_MAX, comm,
                       &request),
        "MPI_Iallreduce");
}

void SizeCheck::judge(int rank) const {
  const auto& [here, all] = *sizes_;
  if (all[0] == ~all[1]) return;
  throw InputError(fmt::format(
      "the ranks disagree on the size of the message: {} bytes on rank {}, from {} to {} on all",
      here[0], rank, ~all[1], all[0]));
}

}  // namespace espalier::runtime
