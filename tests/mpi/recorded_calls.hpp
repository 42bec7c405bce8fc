// Records the engine's MPI calls, in order, with MPI's profiling interface. Defines MPI_Irecv, so
// only one file of a test program can include it; that file also defines the send to be recorded.
#pragma once

#include <mpi.h>

#include <vector>

namespace espalier::testing {

struct Call {
  bool is_send;
  int tree;
  int peer;
  bool operator==(const Call&) const = default;
};

inline bool recording = false;
inline std::vector<Call> calls;

inline void record(const Call& call) {
  if (recording) calls.push_back(call);
}

}  // namespace espalier::testing

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  espalier::testing::record({false, tag, from});
  return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}
