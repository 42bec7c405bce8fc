/* A network that damages data, to be preloaded: the third segment that a rank sends gets one bit
 * flipped in flight. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int sent = 0;

/* What is to be sent instead of the buffer. */
static const void* damaged(const void* buffer, int count, MPI_Datatype type) {
  int size = 0;
  char* copy;
  MPI_Type_size(type, &size);
  if (count * size <= 2000 || ++sent != 3) return buffer;
  copy = malloc((size_t)count * (size_t)size);
  memcpy(copy, buffer, (size_t)count * (size_t)size);
  copy[1234] = (char)(copy[1234] ^ 4);
  return copy; /* is in use until the send is complete; the process is short-lived */
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Isend(damaged(buffer, count, type), count, type, to, tag, comm, request);
}

int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return PMPI_Issend(damaged(buffer, count, type), count, type, to, tag, comm, request);
}
