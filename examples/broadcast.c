/* The same from C.
 *   mpirun -np 8 ./broadcast_c plan.json */
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
  const size_t count = 1000000;
  double* values = malloc(count * sizeof *values);
  espalier_broadcast* broadcast = NULL;
  int rank = 0;
  size_t i = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(espalier_broadcast_create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "plan.json", NULL,
                                    &broadcast));
  for (i = 0; i < count; ++i)
    values[i] = rank == espalier_broadcast_root(broadcast) ? (double)i : 0;
  require(espalier_broadcast_run(broadcast, values, count, MPI_DOUBLE));
  printf("rank %d has %.0f\n", rank, values[count - 1]);
  espalier_broadcast_free(&broadcast);
  free(values);
  MPI_Finalize();
  return 0;
}
