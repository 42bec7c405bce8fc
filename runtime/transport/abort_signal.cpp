#include "runtime/transport/abort_signal.hpp"

#include <array>
#include <memory>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

void AbortSignal::begin(bool listen) {
  said_ = heard_ = false;
  if (!listen || !is_source()) return;
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &word()), "MPI_Irecv");
}

void AbortSignal::say() {
  said_ = true;
  if (is_source()) return;
  check(MPI_Isend(nullptr, 0, MPI_BYTE, source_, tag_, comm_, &word()), "MPI_Isend");
}

bool AbortSignal::settle(Timeout timeout) {
  constexpr const char* kOthers = "waiting for all ranks to be through with their segments";
  constexpr const char* kWord = "passing the word to stop";
  const int mine = said_ ? 1 : 0;
  const auto said = std::make_shared<std::array<int, 2>>(std::array<int, 2>{mine, 0});
  MPI_Request sum = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(said->data(), said->data() + 1, 1, MPI_INT, MPI_SUM, comm_, &sum),
        "MPI_Iallreduce");
  timeout.wait(sum, kOthers, said);
  const int all = (*said)[1];
  if (!is_source()) {
    timeout.wait(word(), kWord);
    return all != 0;
  }
  int words = all - mine - (heard_ ? 1 : 0);
  if (word() != MPI_REQUEST_NULL) {
    if (words == 0) check(MPI_Cancel(&word()), "MPI_Cancel");
    timeout.wait(word(), kWord);
    if (words > 0) --words;
  }
  for (; words > 0; --words) {
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &word()), "MPI_Irecv");
    timeout.wait(word(), kWord);
  }
  return all != 0;
}

}  // namespace espalier::runtime
