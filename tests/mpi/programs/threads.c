/* Two threads that make collective calls at the same time, each on communicators of its own. Rank 0
 * prints "all right", or "no threads" if MPI does not support them. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kRounds = 6, kInts = 40000 };

static atomic_int failures;

static void check(int right, const char* what, int thread, int root) {
  if (right) return;
  ++failures;
  fprintf(stderr, "wrong data: %s, thread %d, root %d\n", what, thread, root);
}

static void of_each_kind(MPI_Comm comm, int thread, int round, int* own, int* result) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int root = 0; root < size; ++root) {
    const int salt = 1000 * thread + 100 * round + root;
    for (int i = 0; i < kInts; ++i) own[i] = rank == root ? i ^ salt : -1;
    MPI_Bcast(own, kInts, MPI_INT, root, comm);
    int right = 1;
    for (int i = 0; i < kInts; ++i) right &= own[i] == (i ^ salt);
    check(right, "a broadcast", thread, root);

    for (int i = 0; i < kInts; ++i) own[i] = i + salt * rank;
    MPI_Reduce(own, result, kInts, MPI_INT, MPI_SUM, root, comm);
    const int ranks = size * (size - 1) / 2;
    right = 1;
    for (int i = 0; i < kInts; ++i) right &= result[i] == size * i + salt * ranks;
    if (rank == root) check(right, "a reduce", thread, root);
    MPI_Allreduce(own, result, kInts, MPI_INT, MPI_SUM, comm);
    right = 1;
    for (int i = 0; i < kInts; ++i) right &= result[i] == size * i + salt * ranks;
    check(right, "an allreduce", thread, root);
  }
}

struct task {
  int thread;
  MPI_Comm comm;
};

static void* work(void* argument) {
  const struct task* const task = argument;
  int* const own = malloc(sizeof(int) * kInts);
  int* const result = malloc(sizeof(int) * kInts);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm copy;
    of_each_kind(task->comm, task->thread, round, own, result);
    MPI_Comm_dup(task->comm, &copy);
    of_each_kind(copy, task->thread, round, own, result);
    MPI_Comm_free(&copy);
  }
  free(result);
  free(own);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  int rank = 0;
  int all = 0;
  pthread_t threads[kThreads];
  struct task tasks[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("no threads\n");
    MPI_Finalize();
    return 0;
  }
  for (int i = 0; i < kThreads; ++i) {
    tasks[i].thread = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, &tasks[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&tasks[i].comm);
  const int mine = failures;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("all right\n");
  MPI_Finalize();
  return all != 0;
}
