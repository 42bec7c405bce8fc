/* Simulates a network that damages data; to be preloaded. One bit of the third segment that a rank
 * sends is flipped. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int sent = 0;

/* The data to send instead of the buffer. */
static const void* damaged(const void* buffer, int count, MPI_Datatype type) {
  int size = 0;
  char* copy;
  MPI_Type_size(type, &size);
  if (count * size <= 2000 || ++sent != 3) return buffer;
  copy = malloc((size_t)count * (size_t)size);
  memcpy(copy, buffer, (size_t)count * (size_t)size);
  copy[1234] = (char)(copy[1234] ^ 4);
  return copy; /* never freed: it is in use until the send completes, and the process is short-lived
                */
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Isend(damaged(buffer, count, type), count, type, to, tag, comm, request);
}

int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return PMPI_Issend(damaged(buffer, count, type), count, type, to, tag, comm, request);
}
