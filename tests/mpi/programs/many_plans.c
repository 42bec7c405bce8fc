/* Broadcasts of ever longer messages from every rank, for which a decision table can give a plan
 * each; counts the communicators that exist because of them, without those that are made for a
 * moment to find the ranks of a host. Rank 0 prints "all right", and the most communicators at a
 * time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int communicators = 0;
static int most = 0;
static MPI_Comm of_host = MPI_COMM_NULL;

static int counted(int code) {
  if (++communicators > most) most = communicators;
  return code;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return counted(PMPI_Comm_dup(comm, made));
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return counted(PMPI_Comm_idup(comm, made, request));
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  const int code = PMPI_Comm_split_type(comm, type, key, info, made);
  of_host = *made;
  return code;
}
int MPI_Comm_free(MPI_Comm* comm) {
  if (*comm == of_host) {
    of_host = MPI_COMM_NULL;
  } else {
    --communicators;
  }
  return PMPI_Comm_free(comm);
}

int main(int argc, char** argv) {
  enum { kMost = 60000 };
  int rank = 0;
  int size = 0;
  int wrong = 0;
  int all = 0;
  char* const buffer = malloc(kMost);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int turn = 0; turn < 2; ++turn) {
    for (int bytes = 10000; bytes <= kMost; bytes += 10000) {
      for (int root = 0; root < size; ++root) {
        for (int i = 0; i < bytes; ++i) buffer[i] = (char)(rank == root ? i / 100 + root : -1);
        MPI_Bcast(buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        for (int i = 0; i < bytes; ++i) wrong += buffer[i] != (char)(i / 100 + root);
      }
    }
  }
  PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("all right\n");
  if (rank == 0) printf("communicators: %d\n", most);
  free(buffer);
  MPI_Finalize();
  return all != 0;
}
