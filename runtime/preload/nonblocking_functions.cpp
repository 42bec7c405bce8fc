// The functions of MPI that return before a collective is complete. They go to MPI unchanged, and
// are only counted. A plan needs its ranks to forward segments until all have the message. MPI does
// this in whatever blocking call the program makes meanwhile, for example MPI_Recv, which knows
// nothing of plans: the ranks would wait for each other.
#include <mpi.h>

#include "runtime/preload/calls/calls.hpp"
#include "runtime/preload/calls/varying_calls.hpp"
#include "runtime/preload/interposer.hpp"

using espalier::planner::Operation;
using espalier::preload::AllgatherCall;
using espalier::preload::AlltoallCall;
using espalier::preload::AlltoallvCall;
using espalier::preload::BroadcastCall;
using espalier::preload::elements;
using espalier::preload::Interposer;
using espalier::preload::ReduceScatterCall;
using espalier::preload::ReductionCall;
using espalier::preload::RootedPartsCall;
using espalier::preload::RootedVaryingCall;

namespace {

// make_call: describes the call.
template <class MakeCall>
void count(const MakeCall& make_call) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed() || !interposer.counts_calls()) return;
  interposer.count_non_blocking(make_call());
}

}  // namespace

// NAME, with PARAMETERS and, in the same order, ARGUMENTS; the rest describes the call.
#define ESPALIER_COUNTED(NAME, PARAMETERS, ARGUMENTS, ...) \
  extern "C" int MPI_##NAME PARAMETERS {                   \
    count([&] { return __VA_ARGS__; });                    \
    return PMPI_##NAME ARGUMENTS;                          \
  }

ESPALIER_COUNTED(
    Ibcast, (void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
    (buffer, n, type, root, comm, request), BroadcastCall({buffer, n, type}, root, comm))
ESPALIER_COUNTED(Ireduce,
                 (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm, MPI_Request* request),
                 (from, to, n, type, op, root, comm, request),
                 ReductionCall(Operation::kReduce, from, {to, n, type}, op, root, comm))
ESPALIER_COUNTED(Iallreduce,
                 (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request),
                 (from, to, n, type, op, comm, request),
                 ReductionCall(Operation::kAllreduce, from, {to, n, type}, op, 0, comm))
ESPALIER_COUNTED(Ireduce_scatter_block,
                 (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request),
                 (from, to, n, type, op, comm, request),
                 ReduceScatterCall(from, {to, n, type}, op, comm))
ESPALIER_COUNTED(Ireduce_scatter,
                 (const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request),
                 (from, to, counts, type, op, comm, request),
                 ReduceScatterCall(from, {to, 0, type}, op, comm, counts))
ESPALIER_COUNTED(Iallgather,
                 (const void* from, int sent, MPI_Datatype sent_type, void* to, int got,
                  MPI_Datatype got_type, MPI_Comm comm, MPI_Request* request),
                 (from, sent, sent_type, to, got, got_type, comm, request),
                 AllgatherCall(elements(from, sent, sent_type), {to, got, got_type}, comm))
ESPALIER_COUNTED(Iallgatherv,
                 (const void* from, int sent, MPI_Datatype sent_type, void* to, const int* counts,
                  const int* first, MPI_Datatype got_type, MPI_Comm comm, MPI_Request* request),
                 (from, sent, sent_type, to, counts, first, got_type, comm, request),
                 AllgatherCall(elements(from, sent, sent_type), {to, 0, got_type}, comm, counts,
                               first))
ESPALIER_COUNTED(Iscatter,
                 (const void* from, int sent, MPI_Datatype sent_type, void* to, int got,
                  MPI_Datatype got_type, int root, MPI_Comm comm, MPI_Request* request),
                 (from, sent, sent_type, to, got, got_type, root, comm, request),
                 RootedPartsCall(Operation::kScatter, elements(from, sent, sent_type),
                                 {to, got, got_type}, root, comm))
ESPALIER_COUNTED(Igather,
                 (const void* from, int sent, MPI_Datatype sent_type, void* to, int got,
                  MPI_Datatype got_type, int root, MPI_Comm comm, MPI_Request* request),
                 (from, sent, sent_type, to, got, got_type, root, comm, request),
                 RootedPartsCall(Operation::kGather, {to, got, got_type},
                                 elements(from, sent, sent_type), root, comm))
ESPALIER_COUNTED(Ialltoall,
                 (const void* from, int sent, MPI_Datatype sent_type, void* to, int got,
                  MPI_Datatype got_type, MPI_Comm comm, MPI_Request* request),
                 (from, sent, sent_type, to, got, got_type, comm, request),
                 AlltoallCall(elements(from, sent, sent_type), {to, got, got_type}, comm))
ESPALIER_COUNTED(Iscatterv,
                 (const void* from, const int* counts, const int* first, MPI_Datatype sent_type,
                  void* to, int got, MPI_Datatype got_type, int root, MPI_Comm comm,
                  MPI_Request* request),
                 (from, counts, first, sent_type, to, got, got_type, root, comm, request),
                 RootedVaryingCall(Operation::kScatter, elements(from, 0, sent_type), counts, first,
                                   {to, got, got_type}, root, comm))
ESPALIER_COUNTED(Igatherv,
                 (const void* from, int sent, MPI_Datatype sent_type, void* to, const int* counts,
                  const int* first, MPI_Datatype got_type, int root, MPI_Comm comm,
                  MPI_Request* request),
                 (from, sent, sent_type, to, counts, first, got_type, root, comm, request),
                 RootedVaryingCall(Operation::kGather, {to, 0, got_type}, counts, first,
                                   elements(from, sent, sent_type), root, comm))
ESPALIER_COUNTED(Ialltoallv,
                 (const void* from, const int* sent, const int* sent_first, MPI_Datatype sent_type,
                  void* to, const int* got, const int* got_first, MPI_Datatype got_type,
                  MPI_Comm comm, MPI_Request* request),
                 (from, sent, sent_first, sent_type, to, got, got_first, got_type, comm, request),
                 AlltoallvCall(elements(from, 0, sent_type), sent, sent_first, {to, 0, got_type},
                               got, got_first, comm))
