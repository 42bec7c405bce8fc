#include "tests/mpi/recorded_calls.hpp"

#include <mpi.h>

namespace {

using espalier::testing::Recording;

void record(bool recorded, bool is_send, int tree, int peer) {
  if (recorded) espalier::testing::calls.push_back({is_send, tree, peer});
}

}  // namespace

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  record(espalier::testing::recording != Recording::kOff, false, tag, from);
  return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  record(espalier::testing::recording == Recording::kIsend, true, tag, to);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

extern "C" int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  record(espalier::testing::recording == Recording::kIssend, true, tag, to);
  return PMPI_Issend(buffer, count, type, to, tag, comm, request);
}
