#include "runtime/stop_words.hpp"

#include "runtime/mpi_error.hpp"

namespace espalier::runtime {

void StopWords::begin(bool listen) {
  said_ = heard_ = false;
  if (!listen || !is_source()) return;
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, request_), "MPI_Irecv");
}

void StopWords::say() {
  said_ = true;
  if (is_source()) return;
  check(MPI_Isend(nullptr, 0, MPI_BYTE, source_, tag_, comm_, request_), "MPI_Isend");
}

bool StopWords::settle() {
  const int mine = said_ ? 1 : 0;
  int all = 0;
  check(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm_), "MPI_Allreduce");
  if (!is_source()) {
    check(MPI_Wait(request_, MPI_STATUS_IGNORE), "MPI_Wait");
    return all != 0;
  }
  int words = all - mine - (heard_ ? 1 : 0);
  if (*request_ != MPI_REQUEST_NULL) {
    if (words == 0) check(MPI_Cancel(request_), "MPI_Cancel");
    check(MPI_Wait(request_, MPI_STATUS_IGNORE), "MPI_Wait");
    if (words > 0) --words;
  }
  for (; words > 0; --words) {
    check(MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  return all != 0;
}

}  // namespace espalier::runtime
