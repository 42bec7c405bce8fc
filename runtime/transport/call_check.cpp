#include "runtime/transport/call_check.hpp"

#include <fmt/format.h>

#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {

CallCheck::CallCheck(std::uint64_t bytes, std::uint64_t kind)
    : words_(std::make_unique<Words>(Words{{bytes, ~bytes, kind, ~kind}, {}})) {}

void CallCheck::begin(MPI_Comm comm, MPI_Request& request) {
  check(
      MPI_Iallreduce(words_->here.data(), words_->all.data(), static_cast<int>(words_->here.size()),
                     MPI_UINT64_T, MPI_MAX, comm, &request),
      "MPI_Iallreduce");
}

void CallCheck::judge(int rank) const {
  const auto& [here, all] = *words_;
  if (~all[3] == kRefused) throw InputError("another rank refused this call");
  if (all[0] != ~all[1]) {
    throw InputError(fmt::format(
        "the ranks disagree on the size of the message: {} bytes on rank {}, from {} to {} on all",
        here[0], rank, ~all[1], all[0]));
  }
  if (all[2] != ~all[3]) {
    throw InputError("the ranks disagree on the type or on the operation");
  }
}

}  // namespace espalier::runtime
