/* Gathers each rank's part on all ranks.
 *   espalier plan net.json --operation allgather -o plan.json
 *   mpirun -np 3 ./allgather_c plan.json */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/api/espalier.h"

static void require(espalier_status status) {
  if (status == ESPALIER_OK) return;
  fprintf(stderr, "%s\n", espalier_last_error());
  MPI_Abort(MPI_COMM_WORLD, status);
}

int main(int argc, char** argv) {
  const size_t count = 250000; /* of each rank */
  espalier_collective* collective = NULL;
  double* all = NULL;
  double* own = NULL;
  int rank = 0;
  int ranks = 0;
  size_t i = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  all = malloc(count * (size_t)ranks * sizeof *all);
  own = all + count * (size_t)rank; /* in its place: MPI_IN_PLACE */
  for (i = 0; i < count; ++i) own[i] = (double)(count * (size_t)rank + i);

  require(espalier_collective_create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "plan.json", NULL,
                                     &collective));
  require(espalier_allgather(collective, MPI_IN_PLACE, all, count, MPI_DOUBLE));
  printf("rank %d: the last of %zu numbers is %.0f\n", rank, count * (size_t)ranks,
         all[count * (size_t)ranks - 1]);

  espalier_collective_free(&collective);
  free(all);
  return MPI_Finalize();
}
