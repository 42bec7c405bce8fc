// The functions of MPI that the library replaces. MPI_Finalize need not be among them
// (Interposer::start).
//
// Those that return before a collective is complete go to MPI unchanged, and are only counted. A
// plan needs its ranks to forward segments until all have the message. MPI does this in whatever
// blocking call the program makes meanwhile, for example MPI_Recv, which knows nothing of plans:
// the ranks would wait for each other.
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

template <class MakeCall>
void count(const MakeCall& make_call) {
  Interposer& interposer = Interposer::get();
  if (interposer.is_bypassed() || !interposer.counts_calls()) return;
  interposer.count_non_blocking(make_call());
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

// FORM: the function NAME, with PARAMETERS and, in the same order, ARGUMENTS; the rest describes
// the call.
#define ESPALIER_TAKEN(NAME, PARAMETERS, ARGUMENTS, ...)                                      \
  extern "C" int MPI_##NAME PARAMETERS {                                                      \
    return taken_or_left([&] { return __VA_ARGS__; }, [&] { return PMPI_##NAME ARGUMENTS; }); \
  }
#define ESPALIER_LIST(...) __VA_ARGS__
// The same, non-blocking: with a request at the end.
#define ESPALIER_COUNTED(NAME, PARAMETERS, ARGUMENTS, ...)                    \
  extern "C" int MPI_##NAME(ESPALIER_LIST PARAMETERS, MPI_Request* request) { \
    count([&] { return __VA_ARGS__; });                                       \
    return PMPI_##NAME(ESPALIER_LIST ARGUMENTS, request);                     \
  }

// The calls, each in a FORM. COUNT, FIRST: the types of counts and of places.
#define ESPALIER_BCAST(FORM, NAME, COUNT)                                         \
  FORM(NAME, (void* buffer, COUNT n, MPI_Datatype type, int root, MPI_Comm comm), \
       (buffer, n, type, root, comm), BroadcastCall({buffer, n, type}, root, comm))
#define ESPALIER_REDUCE(FORM, NAME, COUNT)                                           \
  FORM(NAME,                                                                         \
       (const void* from, void* to, COUNT n, MPI_Datatype type, MPI_Op op, int root, \
        MPI_Comm comm),                                                              \
       (from, to, n, type, op, root, comm),                                          \
       ReductionCall(Operation::kReduce, from, {to, n, type}, op, root, comm))
#define ESPALIER_ALLREDUCE(FORM, NAME, COUNT)                                                    \
  FORM(NAME, (const void* from, void* to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
       (from, to, n, type, op, comm),                                                            \
       ReductionCall(Operation::kAllreduce, from, {to, n, type}, op, 0, comm))
#define ESPALIER_REDUCE_SCATTER_BLOCK(FORM, NAME, COUNT)                                         \
  FORM(NAME, (const void* from, void* to, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
       (from, to, n, type, op, comm), ReduceScatterCall(from, {to, n, type}, op, comm))
#define ESPALIER_REDUCE_SCATTER(FORM, NAME, COUNT)                                     \
  FORM(NAME,                                                                           \
       (const void* from, void* to, const COUNT* counts, MPI_Datatype type, MPI_Op op, \
        MPI_Comm comm),                                                                \
       (from, to, counts, type, op, comm),                                             \
       ReduceScatterCall(from, {to, 0, type}, op, comm, counts))
// CALL: an AllgatherCall or an AlltoallCall.
#define ESPALIER_EXCHANGE(FORM, NAME, COUNT, CALL)                                 \
  FORM(NAME,                                                                       \
       (const void* from, COUNT sent, MPI_Datatype sent_type, void* to, COUNT got, \
        MPI_Datatype got_type, MPI_Comm comm),                                     \
       (from, sent, sent_type, to, got, got_type, comm),                           \
       CALL(elements(from, sent, sent_type), {to, got, got_type}, comm))
#define ESPALIER_ALLGATHERV(FORM, NAME, COUNT, FIRST)                                        \
  FORM(NAME,                                                                                 \
       (const void* from, COUNT sent, MPI_Datatype sent_type, void* to, const COUNT* counts, \
        const FIRST* first, MPI_Datatype got_type, MPI_Comm comm),                           \
       (from, sent, sent_type, to, counts, first, got_type, comm),                           \
       AllgatherCall(elements(from, sent, sent_type), {to, 0, got_type}, comm, counts, first))
// ALL, OWN: the parts of all ranks and of one, of what is SENT and RECEIVED.
#define ESPALIER_SENT elements(from, sent, sent_type)
#define ESPALIER_RECEIVED elements(to, got, got_type)
#define ESPALIER_ROOTED(FORM, NAME, COUNT, OPERATION, ALL, OWN)                    \
  FORM(NAME,                                                                       \
       (const void* from, COUNT sent, MPI_Datatype sent_type, void* to, COUNT got, \
        MPI_Datatype got_type, int root, MPI_Comm comm),                           \
       (from, sent, sent_type, to, got, got_type, root, comm),                     \
       RootedPartsCall(Operation::OPERATION, ALL, OWN, root, comm))
#define ESPALIER_SCATTERV(FORM, NAME, COUNT, FIRST)                                        \
  FORM(NAME,                                                                               \
       (const void* from, const COUNT* counts, const FIRST* first, MPI_Datatype sent_type, \
        void* to, COUNT got, MPI_Datatype got_type, int root, MPI_Comm comm),              \
       (from, counts, first, sent_type, to, got, got_type, root, comm),                    \
       RootedVaryingCall(Operation::kScatter, elements(from, 0, sent_type), counts, first, \
                         {to, got, got_type}, root, comm))
#define ESPALIER_GATHERV(FORM, NAME, COUNT, FIRST)                                           \
  FORM(NAME,                                                                                 \
       (const void* from, COUNT sent, MPI_Datatype sent_type, void* to, const COUNT* counts, \
        const FIRST* first, MPI_Datatype got_type, int root, MPI_Comm comm),                 \
       (from, sent, sent_type, to, counts, first, got_type, root, comm),                     \
       RootedVaryingCall(Operation::kGather, {to, 0, got_type}, counts, first,               \
                         elements(from, sent, sent_type), root, comm))
#define ESPALIER_ALLTOALLV(FORM, NAME, COUNT, FIRST)                                               \
  FORM(NAME,                                                                                       \
       (const void* from, const COUNT* sent, const FIRST* sent_first, MPI_Datatype sent_type,      \
        void* to, const COUNT* got, const FIRST* got_first, MPI_Datatype got_type, MPI_Comm comm), \
       (from, sent, sent_first, sent_type, to, got, got_first, got_type, comm),                    \
       AlltoallvCall(elements(from, 0, sent_type), sent, sent_first, {to, 0, got_type}, got,       \
                     got_first, comm))

// All of them. SUFFIX: at the end of their names, _c where counts are large. COUNT, FIRST: the
// types of counts and of places.
#define ESPALIER_BLOCKING(SUFFIX, COUNT, FIRST)                                                 \
  ESPALIER_EACH(ESPALIER_TAKEN, COUNT, FIRST, Bcast##SUFFIX, Reduce##SUFFIX, Allreduce##SUFFIX, \
                Reduce_scatter_block##SUFFIX, Reduce_scatter##SUFFIX, Allgather##SUFFIX,        \
                Allgatherv##SUFFIX, Alltoall##SUFFIX, Alltoallv##SUFFIX, Scatter##SUFFIX,       \
                Scatterv##SUFFIX, Gather##SUFFIX, Gatherv##SUFFIX)
#define ESPALIER_NON_BLOCKING(SUFFIX, COUNT, FIRST)                                             \
  ESPALIER_EACH(ESPALIER_COUNTED, COUNT, FIRST, Ibcast##SUFFIX, Ireduce##SUFFIX,                \
                Iallreduce##SUFFIX, Ireduce_scatter_block##SUFFIX, Ireduce_scatter##SUFFIX,     \
                Iallgather##SUFFIX, Iallgatherv##SUFFIX, Ialltoall##SUFFIX, Ialltoallv##SUFFIX, \
                Iscatter##SUFFIX, Iscatterv##SUFFIX, Igather##SUFFIX, Igatherv##SUFFIX)
#define ESPALIER_EACH(FORM, COUNT, FIRST, BCAST, REDUCE, ALLREDUCE, BLOCK, REDUCE_SCATTER,   \
                      ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, SCATTER, SCATTERV, GATHER, \
                      GATHERV)                                                               \
  ESPALIER_BCAST(FORM, BCAST, COUNT)                                                         \
  ESPALIER_REDUCE(FORM, REDUCE, COUNT)                                                       \
  ESPALIER_ALLREDUCE(FORM, ALLREDUCE, COUNT)                                                 \
  ESPALIER_REDUCE_SCATTER_BLOCK(FORM, BLOCK, COUNT)                                          \
  ESPALIER_REDUCE_SCATTER(FORM, REDUCE_SCATTER, COUNT)                                       \
  ESPALIER_EXCHANGE(FORM, ALLGATHER, COUNT, AllgatherCall)                                   \
  ESPALIER_ALLGATHERV(FORM, ALLGATHERV, COUNT, FIRST)                                        \
  ESPALIER_EXCHANGE(FORM, ALLTOALL, COUNT, AlltoallCall)                                     \
  ESPALIER_ALLTOALLV(FORM, ALLTOALLV, COUNT, FIRST)                                          \
  ESPALIER_ROOTED(FORM, SCATTER, COUNT, kScatter, ESPALIER_SENT, ESPALIER_RECEIVED)          \
  ESPALIER_SCATTERV(FORM, SCATTERV, COUNT, FIRST)                                            \
  ESPALIER_ROOTED(FORM, GATHER, COUNT, kGather, ESPALIER_RECEIVED, ESPALIER_SENT)            \
  ESPALIER_GATHERV(FORM, GATHERV, COUNT, FIRST)

ESPALIER_BLOCKING(, int, int)
ESPALIER_NON_BLOCKING(, int, int)
#if MPI_VERSION >= 4
ESPALIER_BLOCKING(_c, MPI_Count, MPI_Aint)
ESPALIER_NON_BLOCKING(_c, MPI_Count, MPI_Aint)
#endif
