/* Included before a program of MPI: its calls go to the functions with large counts (MPI 4). */
#include <mpi.h>
#include <stdlib.h>

/* NAME(values, comm): a number for each rank, as the functions with large counts take them. */
#define DEFINE_LARGE(NAME, NUMBER)                                \
  static NUMBER* NAME(const int* values, MPI_Comm comm) {         \
    int ranks = 0;                                                \
    if (values == NULL) return NULL;                              \
    MPI_Comm_size(comm, &ranks);                                  \
    NUMBER* const large = malloc(sizeof(NUMBER) * (size_t)ranks); \
    for (int i = 0; i < ranks; ++i) large[i] = values[i];         \
    return large;                                                 \
  }
DEFINE_LARGE(large_counts, MPI_Count)
DEFINE_LARGE(large_places, MPI_Aint)

/* Calls CALL with these numbers. */
#define WITH_COUNTS(COUNTS, COMM, CALL)                     \
  do {                                                      \
    MPI_Count* const counts_c = large_counts(COUNTS, COMM); \
    CALL;                                                   \
    free(counts_c);                                         \
  } while (0)
#define WITH_PARTS(COUNTS, FIRST, COMM, CALL)            \
  do {                                                   \
    MPI_Aint* const first_c = large_places(FIRST, COMM); \
    WITH_COUNTS(COUNTS, COMM, CALL);                     \
    free(first_c);                                       \
  } while (0)

#define MPI_Bcast(...) MPI_Bcast_c(__VA_ARGS__)
#define MPI_Allreduce(...) MPI_Allreduce_c(__VA_ARGS__)
#define MPI_Allgather(...) MPI_Allgather_c(__VA_ARGS__)
#define MPI_Alltoall(...) MPI_Alltoall_c(__VA_ARGS__)
#define MPI_Ialltoall(...) MPI_Ialltoall_c(__VA_ARGS__)
#define MPI_Scatter(...) MPI_Scatter_c(__VA_ARGS__)
#define MPI_Gather(...) MPI_Gather_c(__VA_ARGS__)
#define MPI_Reduce_scatter_block(...) MPI_Reduce_scatter_block_c(__VA_ARGS__)
#define MPI_Reduce_scatter(FROM, TO, COUNTS, TYPE, OP, COMM) \
  WITH_COUNTS(COUNTS, COMM, MPI_Reduce_scatter_c(FROM, TO, counts_c, TYPE, OP, COMM))
#define MPI_Allgatherv(FROM, N, TYPE, TO, COUNTS, FIRST, OF, COMM) \
  WITH_PARTS(COUNTS, FIRST, COMM, MPI_Allgatherv_c(FROM, N, TYPE, TO, counts_c, first_c, OF, COMM))
#define MPI_Gatherv(FROM, N, TYPE, TO, COUNTS, FIRST, OF, ROOT, COMM) \
  WITH_PARTS(COUNTS, FIRST, COMM,                                     \
             MPI_Gatherv_c(FROM, N, TYPE, TO, counts_c, first_c, OF, ROOT, COMM))
#define MPI_Scatterv(FROM, COUNTS, FIRST, TYPE, TO, N, OF, ROOT, COMM) \
  WITH_PARTS(COUNTS, FIRST, COMM,                                      \
             MPI_Scatterv_c(FROM, counts_c, first_c, TYPE, TO, N, OF, ROOT, COMM))
#define MPI_Alltoallv(FROM, SENT, SENT_FIRST, TYPE, TO, COUNTS, FIRST, OF, COMM)             \
  do {                                                                                       \
    MPI_Count* const sent_c = large_counts(SENT, COMM);                                      \
    MPI_Aint* const sent_first_c = large_places(SENT_FIRST, COMM);                           \
    WITH_PARTS(                                                                              \
        COUNTS, FIRST, COMM,                                                                 \
        MPI_Alltoallv_c(FROM, sent_c, sent_first_c, TYPE, TO, counts_c, first_c, OF, COMM)); \
    free(sent_c);                                                                            \
    free(sent_first_c);                                                                      \
  } while (0)
