/* Runs one collective operation: one_collective OPERATION BYTES. Where each rank has a share, BYTES
 * is that of one. Open MPI's monitoring counts its messages. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = atoi(argv[2]);
  const size_t size = (size_t)bytes * (size_t)ranks + 1;
  char* const data = calloc(size, 1);
  char* const result = calloc(size, 1);
  int* const shares = calloc((size_t)ranks, sizeof *shares);
  if (data == NULL || result == NULL || shares == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int rank = 0; rank < ranks; ++rank) shares[rank] = bytes;
  if (strcmp(argv[1], "broadcast") == 0) {
    MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "reduce") == 0) {
    MPI_Reduce(data, result, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "alltoall") == 0) {
    MPI_Alltoall(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "allgather") == 0) {
    MPI_Allgather(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "reduce-scatter") == 0) {
    MPI_Reduce_scatter(data, result, shares, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "scatter") == 0) {
    MPI_Scatter(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "gather") == 0) {
    MPI_Gather(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  free(data);
  free(result);
  free(shares);
  MPI_Finalize();
  return 0;
}
