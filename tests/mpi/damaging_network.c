/* A network that damages data, to be preloaded: the third slice that a rank sends gets one bit
 * flipped on its way. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int sent = 0;

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  if (count * size > 2000 && ++sent == 3) {
    char* copy = malloc((size_t)count * (size_t)size);
    memcpy(copy, buffer, (size_t)count * (size_t)size);
    copy[1234] = (char)(copy[1234] ^ 4);
    buffer = copy; /* is in use until the send is complete; the process is short-lived */
  }
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}
