/* Preloaded into ranks that share processors: a waiting rank sleeps instead of spinning.
 *
 * Open MPI calls sched_yield while it waits (mpi_yield_when_idle); MPICH's UCX polls with
 * epoll_wait(timeout 0). Both take processor time from the ranks that have work. So do short naps
 * of many ranks on few processors; PATIENT_NAP_NS makes the naps longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

enum { kNapNanoseconds = 50000, kLongestNap = 100000000, kPollsBeforeNap = 20 };

static long nap_length(void) {
  const char* const text = getenv("PATIENT_NAP_NS");
  const long length = text ? strtol(text, NULL, 10) : kNapNanoseconds;
  return length > 0 && length <= kLongestNap ? length : kNapNanoseconds;
}

static void nap(void) {
  static __thread long length;
  if (length == 0) length = nap_length();
  const struct timespec pause = {0, length};
  nanosleep(&pause, 0);
}

int sched_yield(void) {
  nap();
  return 0;
}

int epoll_wait(int file, struct epoll_event* events, int most, int timeout) {
  static int (*next)(int, struct epoll_event*, int, int);
  static __thread int empty_polls;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "epoll_wait");
  const int found = next(file, events, most, timeout);
  if (timeout != 0) return found;
  if (found != 0) {
    empty_polls = 0;
  } else if (++empty_polls >= kPollsBeforeNap) {
    nap();
  }
  return found;
}

/* MPICH 4.0.2 over UCX's TCP often hangs in MPI_Finalize: ranks flush their connections while their
 * peers have stopped polling. No communication is outstanding by then. */
void* ucp_disconnect_nb(void* endpoint) {
  (void)endpoint;
  return 0;
}
