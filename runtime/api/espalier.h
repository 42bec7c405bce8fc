/* Executes plans from C.
 *
 *   espalier_broadcast* broadcast = NULL;
 *   if (espalier_broadcast_create(MPI_COMM_WORLD, "plan.json", NULL, &broadcast) != ESPALIER_OK) {
 *     fprintf(stderr, "%s\n", espalier_last_error());
 *     MPI_Abort(MPI_COMM_WORLD, 1);
 *   }
 *   espalier_broadcast_run(broadcast, buffer, count, MPI_DOUBLE);
 *   espalier_broadcast_free(&broadcast);
 * The same functions as runtime/api/broadcast.hpp; no C++ exception crosses this interface. */
#ifndef ESPALIER_RUNTIME_ESPALIER_H
#define ESPALIER_RUNTIME_ESPALIER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espalier_broadcast espalier_broadcast;

/* The result of every function. After any other than ESPALIER_OK, espalier_last_error() gives the
 * reason. */
typedef enum espalier_status {
  ESPALIER_OK = 0,
  ESPALIER_INTERNAL_FAULT = 1, /* an internal error, an error of MPI, or out of memory */
  ESPALIER_BAD_INPUT = 2,      /* an invalid plan, argument or message */
  ESPALIER_TIMED_OUT = 4       /* no progress within options.timeout_s */
} espalier_status;

typedef enum espalier_rank_mapping {
  ESPALIER_BY_ORDER = 0,    /* rank i is the plan's node i */
  ESPALIER_BY_HOST_NAME = 1 /* the rank on host h is the plan's node h */
} espalier_rank_mapping;

/* Start from espalier_default_options(). Later versions of Espalier add members at the end and
 * never change the others, so a program runs with a library of another version: of options, the
 * library reads `size` bytes, and members beyond them have their defaults. A library that is older
 * than the program refuses members that it does not know, unless they are 0. */
typedef struct espalier_options {
  size_t size;               /* sizeof(espalier_options) where the program was compiled */
  size_t sends_in_flight;    /* outstanding sends per child of a tree */
  size_t receives_in_flight; /* posted ahead per tree */
  size_t ports; /* most sends in progress at once over all children and trees; 0: no limit */
  espalier_rank_mapping mapping;
  int direct_copies;    /* through a host's shared memory, all copies from the first of its ranks */
  int check_sizes;      /* compare the message's size among the ranks while it is sent */
  int rounds;           /* synchronised rounds by the plan's colors, which must exist */
  int schedule;         /* in the order of the plan's periodic schedule, which must exist */
  uint64_t slice_bytes; /* 0: chosen for message and plan, at most the plan's segment */
  /* Seconds that a rank waits without any of its sends and receives completing. Then the call fails
   * with ESPALIER_TIMED_OUT, and the error text names the ranks that it waits for. Afterwards MPI
   * is of little use: MPI_Finalize may hang, MPI_Abort ends all ranks. 0: indefinitely. */
  double timeout_s;
} espalier_options;

/* Sets the first `size` bytes of *options: what espalier_default_options() is made of, for other
 * languages. */
void espalier_set_default_options(espalier_options* options, size_t size);

/* Inline, because the program's struct may be shorter than the library's. */
static inline espalier_options espalier_default_options(void) {
  espalier_options options;
  espalier_set_default_options(&options, sizeof options);
  return options;
}

/* Collective over comm. Rank 0 reads the plan file; the other ranks do not need it. options: NULL
 * for the defaults; the same on all ranks. After a failure, which occurs on all ranks, *broadcast
 * is NULL. */
espalier_status espalier_broadcast_create(MPI_Comm comm, const char* plan_file,
                                          const espalier_options* options,
                                          espalier_broadcast** broadcast);

/* The same from the plan's JSON text, which every rank must pass. */
espalier_status espalier_broadcast_create_from_text(MPI_Comm comm, const char* plan_json,
                                                    const espalier_options* options,
                                                    espalier_broadcast** broadcast);

/* Collective. The data is in buffer on the source; every other rank receives it in buffer. After a
 * failure the broadcast can only be freed. */
espalier_status espalier_broadcast_run(espalier_broadcast* broadcast, void* buffer, size_t count,
                                       MPI_Datatype type);

/* The rank that is the plan's source; -1 for NULL. */
int espalier_broadcast_root(const espalier_broadcast* broadcast);

/* Call it before MPI_Finalize. Sets *broadcast to NULL; does nothing if it is NULL already. */
void espalier_broadcast_free(espalier_broadcast** broadcast);

/* Reduce and allreduce plans: the same functions as runtime/api/reduction.hpp, which lists what
 * runs along the plan's trees. The plan determines whether a reduction is a reduce or an allreduce.
 */
typedef struct espalier_reduction espalier_reduction;

/* As for a broadcast. NULL: the same defaults, except for 4 outstanding sends per tree. */
espalier_status espalier_reduction_create(MPI_Comm comm, const char* plan_file,
                                          const espalier_options* options,
                                          espalier_reduction** reduction);
espalier_status espalier_reduction_create_from_text(MPI_Comm comm, const char* plan_json,
                                                    const espalier_options* options,
                                                    espalier_reduction** reduction);

/* Collective. sendbuf: may be MPI_IN_PLACE, with this rank's elements in recvbuf, on the root of a
 * reduce and on any rank of an allreduce. recvbuf: unused on the other ranks of a reduce. After a
 * failure the reduction can only be freed. */
espalier_status espalier_reduction_run(espalier_reduction* reduction, const void* sendbuf,
                                       void* recvbuf, size_t count, MPI_Datatype type, MPI_Op op);

/* The rank that is the plan's source; -1 for NULL. */
int espalier_reduction_root(const espalier_reduction* reduction);

/* Call it before MPI_Finalize. Sets *reduction to NULL; does nothing if it is NULL already. */
void espalier_reduction_free(espalier_reduction** reduction);

/* Plans of every operation, and calls that do not wait for their end. */
typedef struct espalier_collective espalier_collective;

/* As for a broadcast or a reduction. For an operation whose message has a part for each rank,
 * options with rounds or a schedule are refused, for a scatter, a gather and an alltoall also those
 * with ports; direct_copies has no effect on them. NULL: the defaults of a reduction. */
espalier_status espalier_collective_create(MPI_Comm comm, const char* plan_file,
                                           const espalier_options* options,
                                           espalier_collective** collective);
espalier_status espalier_collective_create_from_text(MPI_Comm comm, const char* plan_json,
                                                     const espalier_options* options,
                                                     espalier_collective** collective);

/* As espalier_broadcast_run, and, with a plan of a reduce or an allreduce, espalier_reduction_run.
 */
espalier_status espalier_bcast(espalier_collective* collective, void* buffer, size_t count,
                               MPI_Datatype type);
espalier_status espalier_reduce(espalier_collective* collective, const void* sendbuf, void* recvbuf,
                                size_t count, MPI_Datatype type, MPI_Op op);

/* Collective, with an allgather plan, as MPI_Allgather and MPI_Allgatherv with one type for both
 * buffers: every rank's part to all ranks. count: of each rank. counts: of each rank, the same on
 * all ranks; first: where each part begins in recvbuf, in elements; NULL: one after another.
 * sendbuf: may be MPI_IN_PLACE on any rank, with its part in its place in recvbuf. After a failure
 * the collective can only be freed. */
espalier_status espalier_allgather(espalier_collective* collective, const void* sendbuf,
                                   void* recvbuf, size_t count, MPI_Datatype type);
espalier_status espalier_allgatherv(espalier_collective* collective, const void* sendbuf,
                                    void* recvbuf, const size_t* counts, const size_t* first,
                                    MPI_Datatype type);

/* Collective, with a reduce-scatter plan, as MPI_Reduce_scatter_block and MPI_Reduce_scatter: the
 * combination of all ranks' sendbuf, of which each keeps its part in recvbuf. sendbuf: may be
 * MPI_IN_PLACE, with all parts in recvbuf, whose contents behind the result are then undefined. */
espalier_status espalier_reduce_scatter_block(espalier_collective* collective, const void* sendbuf,
                                              void* recvbuf, size_t count, MPI_Datatype type,
                                              MPI_Op op);
espalier_status espalier_reduce_scatter(espalier_collective* collective, const void* sendbuf,
                                        void* recvbuf, const size_t* counts, MPI_Datatype type,
                                        MPI_Op op);

/* Collective, with a barrier plan: returns when all ranks have called it. */
espalier_status espalier_barrier(espalier_collective* collective);

/* Collective, with a scatter plan, as MPI_Scatter and MPI_Scatterv with one type: every rank gets
 * its part of the root's sendbuf in recvbuf. counts: of each rank, the same on all ranks; first:
 * where each part begins in sendbuf, in elements; NULL: one after another. sendbuf and first matter
 * on the root only, where recvbuf may be MPI_IN_PLACE. */
espalier_status espalier_scatter(espalier_collective* collective, const void* sendbuf,
                                 void* recvbuf, size_t count, MPI_Datatype type);
espalier_status espalier_scatterv(espalier_collective* collective, const void* sendbuf,
                                  void* recvbuf, const size_t* counts, const size_t* first,
                                  MPI_Datatype type);

/* Collective, with a gather plan, as MPI_Gather and MPI_Gatherv with one type: the root gets the
 * parts of all ranks in recvbuf. counts and first: as for a scatter, of recvbuf. recvbuf and first
 * matter on the root only, where sendbuf may be MPI_IN_PLACE. */
espalier_status espalier_gather(espalier_collective* collective, const void* sendbuf, void* recvbuf,
                                size_t count, MPI_Datatype type);
espalier_status espalier_gatherv(espalier_collective* collective, const void* sendbuf,
                                 void* recvbuf, const size_t* counts, const size_t* first,
                                 MPI_Datatype type);

/* Collective, with an alltoall plan, as MPI_Alltoall and MPI_Alltoallv with one type: every rank
 * sends a part to each rank. count: of each part. counts and beginnings (in elements; NULL: one
 * after another): of the parts to and from each rank, which ranks share first. sendbuf: may be
 * MPI_IN_PLACE on all ranks; then sendcounts and sendfirst are not read. */
espalier_status espalier_alltoall(espalier_collective* collective, const void* sendbuf,
                                  void* recvbuf, size_t count, MPI_Datatype type);
espalier_status espalier_alltoallv(espalier_collective* collective, const void* sendbuf,
                                   const size_t* sendcounts, const size_t* sendfirst, void* recvbuf,
                                   const size_t* recvcounts, const size_t* recvfirst,
                                   MPI_Datatype type);

/* Calls that do not wait for their end, as MPI_Ialltoall:
 *
 *   espalier_start(collective);
 *   espalier_alltoall(collective, sendbuf, recvbuf, count, MPI_DOUBLE);
 *   for (int is_complete = 0; !is_complete; espalier_test(collective, &is_complete)) compute();
 *
 * After espalier_start, the next call of this collective only begins. Its buffers belong to it, and
 * it must be called no more, until espalier_test has set *is_complete to 1 or espalier_wait has
 * returned; without such a call they do this at once. The message makes progress in these
 * functions, of any collective of the thread that began it, which also calls them for this one. At
 * once, before the call that begins returns: espalier_alltoallv shares its counts, and MPI's own
 * reductions run where they run instead of the plan's trees. Several collectives may have such
 * calls in progress. */
espalier_status espalier_start(espalier_collective* collective);
espalier_status espalier_test(espalier_collective* collective, int* is_complete);
espalier_status espalier_wait(espalier_collective* collective);

/* The rank that is the root of a broadcast, reduce, scatter or gather; 0 of other operations, -1
 * for NULL. */
int espalier_collective_root(const espalier_collective* collective);

/* Call it before MPI_Finalize. Sets *collective to NULL; does nothing if it is NULL already. */
void espalier_collective_free(espalier_collective** collective);

/* Collective: a broadcast without a plan (runtime/pull/pull_collective.hpp). The data is in buffer
 * on rank `root`; every other rank receives it in buffer, asks all that have a part of it, and
 * measures the links meanwhile. It pays for messages of some MiB and more. segment_bytes: 1 to 1
 * GiB; 0: chosen for the message. timeout_s: seconds that a rank waits without any sign of those
 * that it waits for; 0: indefinitely. Both are the same on all ranks. Each call makes and frees two
 * communicators. */
espalier_status espalier_pull_bcast(MPI_Comm comm, void* buffer, size_t count, MPI_Datatype type,
                                    int root, uint64_t segment_bytes, double timeout_s);

/* Collective: an allgather without a plan, with the arguments of espalier_allgatherv and of
 * espalier_pull_bcast. */
espalier_status espalier_pull_allgatherv(MPI_Comm comm, const void* sendbuf, void* recvbuf,
                                         const size_t* counts, const size_t* first,
                                         MPI_Datatype type, uint64_t segment_bytes,
                                         double timeout_s);

/* Collective: the ranks of comm in the order in which those of a host, and the hosts of a group,
 * are contiguous; rank 0 stays first, otherwise nothing changes place. MPI's own collectives, and
 * other code that goes by rank, then cross the network less often. groups_file: lines HOST GROUP,
 * where lyon/rack1 is a group in a group, or (unless the library was built without the planner)
 * Slurm's topology.conf or a platform in Espalier's JSON; read by rank 0; NULL: no groups.
 * *reordered has comm's error handler, and is freed with MPI_Comm_free; a failure, which occurs on
 * all ranks, leaves it alone.
 */
espalier_status espalier_reorder(MPI_Comm comm, const char* groups_file, MPI_Comm* reordered);

/* The last failure of this thread, in one line; "" if there was none. Valid until the thread's next
 * call. */
const char* espalier_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
