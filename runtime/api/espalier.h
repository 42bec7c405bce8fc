/* Executing plans from C.
 *
 *   espalier_broadcast* broadcast = NULL;
 *   if (espalier_broadcast_create(MPI_COMM_WORLD, "plan.json", NULL, &broadcast) != ESPALIER_OK) {
 *     fprintf(stderr, "%s\n", espalier_last_error());
 *     MPI_Abort(MPI_COMM_WORLD, 1);
 *   }
 *   espalier_broadcast_run(broadcast, buffer, count, MPI_DOUBLE);
 *   espalier_broadcast_free(&broadcast);
 *
 * The same as runtime/api/broadcast.hpp; no C++ exception crosses this interface. */
#ifndef ESPALIER_RUNTIME_ESPALIER_H
#define ESPALIER_RUNTIME_ESPALIER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espalier_broadcast espalier_broadcast;

/* What every function returns. After any but ESPALIER_OK, espalier_last_error() says what happened.
 */
typedef enum espalier_status {
  ESPALIER_OK = 0,
  ESPALIER_INTERNAL_FAULT = 1, /* an internal error, of MPI, or no memory */
  ESPALIER_BAD_INPUT = 2,      /* a plan, an argument or a message that is refused */
  ESPALIER_TIMED_OUT = 4       /* what was waited for did not come in options.timeout_s */
} espalier_status;

typedef enum espalier_rank_mapping {
  ESPALIER_BY_ORDER = 0,    /* rank i is the plan's node i */
  ESPALIER_BY_HOST_NAME = 1 /* the rank on host h is the plan's node h */
} espalier_rank_mapping;

/* Start from espalier_default_options(). */
typedef struct espalier_options {
  size_t sends_in_flight;    /* outstanding sends per child of a tree */
  size_t receives_in_flight; /* posted ahead per tree */
  size_t ports; /* sends in progress at once over all children and trees; 0: any number */
  espalier_rank_mapping mapping;
  int direct_copies; /* ranks of one host copy from the first of them, whatever the plan's edges */
  int check_sizes;   /* compare the message's size among the ranks while it runs */
  int rounds;        /* synchronised rounds by the plan's colors, which it must have */
  int schedule;      /* in the order of the plan's periodic schedule, which it must have */
  uint64_t slice_bytes; /* 0: what suits message and plan, the plan's segment at most */
  /* Seconds that a rank waits without any of its sends and receives getting done; then the call
   * fails with ESPALIER_TIMED_OUT and its text says who is waited for. MPI is of little use any
   * more then: MPI_Finalize may hang, MPI_Abort ends all ranks. 0: indefinitely. */
  double timeout_s;
} espalier_options;

espalier_options espalier_default_options(void);

/* Collective over comm. Rank 0 reads the plan file; the others need not have it. options: NULL for
 * the defaults; the same on all ranks. *broadcast is NULL after a failure, which all ranks get
 * alike. */
espalier_status espalier_broadcast_create(MPI_Comm comm, const char* plan_file,
                                          const espalier_options* options,
                                          espalier_broadcast** broadcast);

/* The same from the plan's JSON text, which every rank has. */
espalier_status espalier_broadcast_create_from_text(MPI_Comm comm, const char* plan_json,
                                                    const espalier_options* options,
                                                    espalier_broadcast** broadcast);

/* Collective. The source holds the data in buffer, every other rank receives them there. After a
 * failure the broadcast can only be freed. */
espalier_status espalier_broadcast_run(espalier_broadcast* broadcast, void* buffer, size_t count,
                                       MPI_Datatype type);

/* The rank that is the plan's source; -1 for NULL. */
int espalier_broadcast_root(const espalier_broadcast* broadcast);

/* Before MPI_Finalize. Sets *broadcast to NULL; does nothing when it is. */
void espalier_broadcast_free(espalier_broadcast** broadcast);

/* Reduce and allreduce plans: the same as runtime/api/reduction.hpp, which says what runs along the
 * plan's trees. Which of the two a reduction is, its plan says. */
typedef struct espalier_reduction espalier_reduction;

/* As for a broadcast. Options with rounds, a schedule or a timeout are refused; direct_copies has
 * no meaning. NULL: 4 sends outstanding per tree, otherwise the same defaults. */
espalier_status espalier_reduction_create(MPI_Comm comm, const char* plan_file,
                                          const espalier_options* options,
                                          espalier_reduction** reduction);
espalier_status espalier_reduction_create_from_text(MPI_Comm comm, const char* plan_json,
                                                    const espalier_options* options,
                                                    espalier_reduction** reduction);

/* Collective. sendbuf: MPI_IN_PLACE where recvbuf holds this rank's elements: on the root, in an
 * allreduce on any rank. recvbuf: unused on the other ranks of a reduce. After a failure the
 * reduction can only be freed. */
espalier_status espalier_reduction_run(espalier_reduction* reduction, const void* sendbuf,
                                       void* recvbuf, size_t count, MPI_Datatype type, MPI_Op op);

/* The rank that is the plan's source; -1 for NULL. */
int espalier_reduction_root(const espalier_reduction* reduction);

/* Before MPI_Finalize. Sets *reduction to NULL; does nothing when it is. */
void espalier_reduction_free(espalier_reduction** reduction);

/* What the last failure of this thread was, in one line; "" when there was none. Valid until the
 * next call from this thread. */
const char* espalier_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
