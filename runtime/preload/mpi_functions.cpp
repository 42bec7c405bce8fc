// The functions of MPI that the library replaces. MPI_Finalize need not be among them
// (Interposer::start).
#include <mpi.h>

#include <utility>

#include "runtime/preload/calls/calls.hpp"
#include "runtime/preload/calls/varying_calls.hpp"
#include "runtime/preload/interposer.hpp"

using espalier::planner::Operation;
using espalier::preload::AllgatherCall;
using espalier::preload::AlltoallCall;
using espalier::preload::AlltoallvCall;
using espalier::preload::BroadcastCall;
using espalier::preload::CallMpi;
using espalier::preload::Elements;
using espalier::preload::elements;
using espalier::preload::Interposer;
using espalier::preload::ReduceScatterCall;
using espalier::preload::ReductionCall;
using espalier::preload::RootedPartsCall;
using espalier::preload::RootedVaryingCall;

namespace {

// make_call: describes the call. call_mpi: calls MPI's own function.
template <class MakeCall, class MpiCall>
int taken_or_left(const MakeCall& make_call, const MpiCall& call_mpi) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed()) return call_mpi();
  auto call = make_call();
  if (interposer.goes_to_mpi(call)) return call_mpi();
  return interposer.make(std::move(call), CallMpi(call_mpi));
}

}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) Interposer::get().started();
  return code;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) Interposer::get().started();
  return code;
}

// A function of MPI, and since MPI 4 its form with large counts. COUNT: the type of counts.
#define ESPALIER_BCAST(NAME, COUNT)                                                 \
  extern "C" int MPI_##NAME(void* buffer, COUNT count, MPI_Datatype type, int root, \
                            MPI_Comm comm) {                                        \
    return taken_or_left(                                                           \
        [&] {                                                                       \
          return BroadcastCall({buffer, count, type}, root, comm);                  \
        },                                                                          \
        [&] { return PMPI_##NAME(buffer, count, type, root, comm); });              \
  }
#define ESPALIER_REDUCE(NAME, COUNT)                                                            \
  extern "C" int MPI_##NAME(const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype type, \
                            MPI_Op op, int root, MPI_Comm comm) {                               \
    return taken_or_left(                                                                       \
        [&] {                                                                                   \
          return ReductionCall(Operation::kReduce, sendbuf, {recvbuf, count, type}, op, root,   \
                               comm);                                                           \
        },                                                                                      \
        [&] { return PMPI_##NAME(sendbuf, recvbuf, count, type, op, root, comm); });            \
  }
#define ESPALIER_ALLREDUCE(NAME, COUNT)                                                         \
  extern "C" int MPI_##NAME(const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype type, \
                            MPI_Op op, MPI_Comm comm) {                                         \
    return taken_or_left(                                                                       \
        [&] {                                                                                   \
          return ReductionCall(Operation::kAllreduce, sendbuf, {recvbuf, count, type}, op, 0,   \
                               comm);                                                           \
        },                                                                                      \
        [&] { return PMPI_##NAME(sendbuf, recvbuf, count, type, op, comm); });                  \
  }
#define ESPALIER_REDUCE_SCATTER_BLOCK(NAME, COUNT)                                              \
  extern "C" int MPI_##NAME(const void* sendbuf, void* recvbuf, COUNT count, MPI_Datatype type, \
                            MPI_Op op, MPI_Comm comm) {                                         \
    return taken_or_left(                                                                       \
        [&] {                                                                                   \
          return ReduceScatterCall(sendbuf, {recvbuf, count, type}, op, comm);                  \
        },                                                                                      \
        [&] { return PMPI_##NAME(sendbuf, recvbuf, count, type, op, comm); });                  \
  }
// CALL: of the elements that are sent and that are received, in `sent` and `received`.
#define ESPALIER_EXCHANGE(NAME, COUNT, CALL)                                                    \
  extern "C" int MPI_##NAME(const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype,        \
                            void* recvbuf, COUNT recvcount, MPI_Datatype recvtype,              \
                            MPI_Comm comm) {                                                    \
    return taken_or_left(                                                                       \
        [&] {                                                                                   \
          const Elements sent = elements(sendbuf, sendcount, sendtype);                         \
          return CALL(sent, {recvbuf, recvcount, recvtype}, comm);                              \
        },                                                                                      \
        [&] {                                                                                   \
          return PMPI_##NAME(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); \
        });                                                                                     \
  }
#define ESPALIER_ROOTED(NAME, COUNT, OPERATION, ALL, OWN)                                      \
  extern "C" int MPI_##NAME(const void* sendbuf, COUNT sendcount, MPI_Datatype sendtype,       \
                            void* recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root,   \
                            MPI_Comm comm) {                                                   \
    return taken_or_left(                                                                      \
        [&] {                                                                                  \
          const Elements sent = elements(sendbuf, sendcount, sendtype);                        \
          const Elements received = elements(recvbuf, recvcount, recvtype);                    \
          return RootedPartsCall(Operation::OPERATION, ALL, OWN, root, comm);                  \
        },                                                                                     \
        [&] {                                                                                  \
          return PMPI_##NAME(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, \
                             comm);                                                            \
        });                                                                                    \
  }
#define ESPALIER_WITH_EQUAL_PARTS(SUFFIX, COUNT)                     \
  ESPALIER_BCAST(Bcast##SUFFIX, COUNT)                               \
  ESPALIER_REDUCE(Reduce##SUFFIX, COUNT)                             \
  ESPALIER_ALLREDUCE(Allreduce##SUFFIX, COUNT)                       \
  ESPALIER_REDUCE_SCATTER_BLOCK(Reduce_scatter_block##SUFFIX, COUNT) \
  ESPALIER_EXCHANGE(Allgather##SUFFIX, COUNT, AllgatherCall)         \
  ESPALIER_EXCHANGE(Alltoall##SUFFIX, COUNT, AlltoallCall)           \
  ESPALIER_ROOTED(Scatter##SUFFIX, COUNT, kScatter, sent, received)  \
  ESPALIER_ROOTED(Gather##SUFFIX, COUNT, kGather, received, sent)

ESPALIER_WITH_EQUAL_PARTS(, int)
#if MPI_VERSION >= 4
ESPALIER_WITH_EQUAL_PARTS(_c, MPI_Count)
#endif

extern "C" int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const int* recvcounts, const int* displs,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  return taken_or_left(
      [&] {
        return AllgatherCall(elements(sendbuf, sendcount, sendtype), {recvbuf, 0, recvtype}, comm,
                             recvcounts, displs);
      },
      [&] {
        return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               comm);
      });
}

extern "C" int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int* recvcounts,
                                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return taken_or_left(
      [&] {
        return ReduceScatterCall(sendbuf, {recvbuf, 0, type}, op, comm, recvcounts);
      },
      [&] { return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm); });
}

extern "C" int MPI_Scatterv(const void* sendbuf, const int* sendcounts, const int* displs,
                            MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return taken_or_left(
      [&] {
        return RootedVaryingCall(Operation::kScatter, elements(sendbuf, 0, sendtype), sendcounts,
                                 displs, {recvbuf, recvcount, recvtype}, root, comm);
      },
      [&] {
        return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
      });
}

extern "C" int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int* recvcounts, const int* displs, MPI_Datatype recvtype,
                           int root, MPI_Comm comm) {
  return taken_or_left(
      [&] {
        return RootedVaryingCall(Operation::kGather, {recvbuf, 0, recvtype}, recvcounts, displs,
                                 elements(sendbuf, sendcount, sendtype), root, comm);
      },
      [&] {
        return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm);
      });
}

extern "C" int MPI_Alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls,
                             MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                             const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  return taken_or_left(
      [&] {
        return AlltoallvCall(elements(sendbuf, 0, sendtype), sendcounts, sdispls,
                             {recvbuf, 0, recvtype}, recvcounts, rdispls, comm);
      },
      [&] {
        return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                              recvtype, comm);
      });
}
