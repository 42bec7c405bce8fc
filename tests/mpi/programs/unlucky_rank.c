/* To be preloaded: a rank gets a signal, or runs a command, at a certain call.
 *   UNLUCKY_RANK    the rank
 *   UNLUCKY_SIGNAL  the number of the signal; 19 (SIGSTOP) simulates a host that hangs
 *   UNLUCKY_COMMAND instead of the signal: a shell command
 *   UNLUCKY_CALL    the call: segment (the twentieth posted send or receive), report, barrier,
 *                   agree (the first MPI_Iallreduce), finalize
 *   NO_THREADS      if set, MPI provides MPI_THREAD_SINGLE only
 *   NO_TMPFILE      if set, no rank's file system supports O_TMPFILE */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void at(const char* call) {
  const char* wanted = getenv("UNLUCKY_CALL");
  if (!wanted || strcmp(wanted, call) != 0) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != atoi(getenv("UNLUCKY_RANK"))) return;
  const char* command = getenv("UNLUCKY_COMMAND");
  if (!command) {
    raise(atoi(getenv("UNLUCKY_SIGNAL")));
    return;
  }
  unsetenv("LD_PRELOAD"); /* for the shell */
  if (system(command) != 0) abort();
}

static void at_segment(void) {
  static int segments = 0;
  if (++segments == 20) at("segment");
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  at_segment();
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  at_segment();
  return PMPI_Issend(buffer, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  at_segment();
  return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  at("report");
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  at("barrier");
  return PMPI_Barrier(comm);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request* request) {
  at("agree");
  return PMPI_Iallreduce(from, to, count, type, operation, comm, request);
}

int MPI_Query_thread(int* provided) {
  const int code = PMPI_Query_thread(provided);
  if (getenv("NO_THREADS")) *provided = MPI_THREAD_SINGLE;
  return code;
}

int MPI_Finalize(void) {
  at("finalize");
  return PMPI_Finalize();
}

static int refuses(int flags) {
  if (!getenv("NO_TMPFILE") || (flags & O_TMPFILE) != O_TMPFILE) return 0;
  errno = EOPNOTSUPP;
  return 1;
}

static int open_by(const char* symbol, const char* file, int flags, va_list arguments) {
  int (*next)(const char*, int, ...);
  if (refuses(flags)) return -1;
  *(void**)&next = dlsym(RTLD_NEXT, symbol);
  return next(file, flags, (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, unsigned) : 0U);
}

int open(const char* file, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int descriptor = open_by("open", file, flags, arguments);
  va_end(arguments);
  return descriptor;
}

int open64(const char* file, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int descriptor = open_by("open64", file, flags, arguments);
  va_end(arguments);
  return descriptor;
}
