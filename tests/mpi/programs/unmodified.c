/* An ordinary MPI program without Espalier: broadcasts of many kinds, each checked byte by byte.
 * Rank 0 prints "all right".
 *
 *   unmodified            everything below
 *   unmodified reductions MPI_Reduce and MPI_Allreduce of many kinds
 *   unmodified hosts      all three within each host, among one rank of each host, and over all
 * ranks unmodified errors     MPI_Bcast with an invalid root, which must return its error code
 *   unmodified handler    an error handler that makes collective calls
 *   unmodified learning BYTES
 *                         broadcasts of so many bytes, between sums of all ranks and of all but one
 *   unmodified gathering BYTES
 *                         allgathers of so many bytes together
 *   unmodified own_op     reductions by an operation of the program's that calls MPI
 *   unmodified mismatch   ranks that disagree on the length of a message, which is an error
 *   unmodified timing N [MOST]   times per call of N broadcasts of one byte, and of fewer of 16
 * KiB, 64 KiB ... MOST, alternately by MPI_Bcast and by PMPI_Bcast */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static unsigned char expected(size_t at, int salt) {
  return (unsigned char)(((at * 2654435761U) >> 11) + (unsigned)salt * 37U);
}

static void check(int right, const char* what, size_t bytes, int root, int rank) {
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d: wrong data: %s, %zu bytes from rank %d\n", rank, what, bytes, root);
}

static void bytes_from_each(MPI_Comm comm, const char* what, size_t bytes) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  unsigned char* buffer = malloc(bytes + 1);
  for (int root = 0; root < size; ++root) {
    for (size_t i = 0; i < bytes; ++i) buffer[i] = rank == root ? expected(i, root) : 0;
    buffer[bytes] = 77;
    MPI_Bcast(bytes == 0 ? NULL : buffer, (int)bytes, MPI_BYTE, root, comm);
    int right = buffer[bytes] == 77;
    for (size_t i = 0; i < bytes; ++i) right &= buffer[i] == expected(i, root);
    check(right, what, bytes, root, rank);
  }
  free(buffer);
}

/* Every second int of a matrix; odd ranks have them contiguously. */
static void types_with_holes(MPI_Comm comm) {
  enum { kCount = 40000 };
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype every_second;
  MPI_Datatype resized;
  MPI_Type_vector(5, 1, 2, MPI_INT, &every_second);
  MPI_Type_create_resized(every_second, 0, 10 * (MPI_Aint)sizeof(int), &resized);
  MPI_Type_commit(&resized);
  int* values = malloc(sizeof(int) * 2 * kCount);
  for (int root = 0; root < size; ++root) {
    const int with_holes = rank % 2 == 0;
    for (int i = 0; i < 2 * kCount; ++i) values[i] = -1;
    for (int i = 0; i < kCount && rank == root; ++i) values[with_holes ? 2 * i : i] = i ^ root;
    if (with_holes) {
      MPI_Bcast(values, kCount / 5, resized, root, comm);
    } else {
      MPI_Bcast(values, kCount, MPI_INT, root, comm);
    }
    int right = 1;
    for (int i = 0; i < kCount; ++i) {
      right &= values[with_holes ? 2 * i : i] == (i ^ root);
      right &= values[with_holes ? 2 * i + 1 : kCount + i] == -1;
    }
    check(right, "a type with holes", sizeof(int) * kCount, root, rank);
  }
  free(values);
  MPI_Type_free(&resized);
  MPI_Type_free(&every_second);
}

/* Two pieces of a buffer, by absolute addresses. */
static void from_bottom(MPI_Comm comm, int ints) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* values = malloc(sizeof(int) * 2 * (size_t)ints);
  const int lengths[] = {ints / 2, ints / 2};
  MPI_Aint places[2];
  MPI_Get_address(values, &places[0]);
  MPI_Get_address(values + ints, &places[1]);
  MPI_Datatype pieces;
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &pieces);
  MPI_Type_commit(&pieces);
  for (int root = 0; root < size; ++root) {
    for (int i = 0; i < 2 * ints; ++i) values[i] = rank == root ? i ^ root : -1;
    MPI_Bcast(MPI_BOTTOM, 1, pieces, root, comm);
    int right = 1;
    for (int i = 0; i < ints / 2; ++i) {
      right &= values[i] == (i ^ root) && values[ints + i] == ((ints + i) ^ root);
    }
    check(right, "by absolute addresses", sizeof(int) * (size_t)ints, root, rank);
  }
  MPI_Type_free(&pieces);
  free(values);
}

static void everything(size_t threshold) {
  const size_t sizes[] = {0,     1,      8192,   threshold - 1, threshold, threshold + 1,
                          98304, 524288, 524289, 1500001};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    bytes_from_each(MPI_COMM_WORLD, "world", sizes[i]);
  }
  types_with_holes(MPI_COMM_WORLD);
  from_bottom(MPI_COMM_WORLD, 20000);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Comm backwards;
    MPI_Comm part;
    MPI_Comm copy;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    bytes_from_each(backwards, "backwards", 300000);
    MPI_Comm_split(backwards, rank % 2, rank, &part);
    bytes_from_each(part, "every second rank", 300000);
    MPI_Comm_dup(backwards, &copy);
    MPI_Comm_free(&backwards);
    bytes_from_each(copy, "copy", 300001);
    types_with_holes(copy);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
  }
  MPI_Comm kept; /* until MPI_Finalize */
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  bytes_from_each(kept, "kept", 200000);
}

/* An intercommunicator of two halves: the first rank of one half sends to the whole other half. */
static void between_halves(void) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = rank < size / 2;
  MPI_Comm half;
  MPI_Comm both;
  MPI_Comm_split(MPI_COMM_WORLD, left, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? size / 2 : 0, 9, &both);
  enum { kBytes = 200000 };
  unsigned char* buffer = malloc(kBytes);
  for (size_t i = 0; i < kBytes; ++i) buffer[i] = rank == 0 ? expected(i, 3) : 0;
  MPI_Bcast(buffer, kBytes, MPI_BYTE, left ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, both);
  int right = 1;
  for (size_t i = 0; i < kBytes && !left; ++i) right &= buffer[i] == expected(i, 3);
  check(right, "between halves", kBytes, 0, rank);
  free(buffer);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* A non-commutative operation: the last rank's elements are the result. */
static void last(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}

/* MPICH 4.0.2's own MPI_Reduce crashes with MPI_IN_PLACE at a root other than rank 0. */
#ifdef MPICH
static int in_place_at(int root) {
  return root <= 0;
}
#else
static int in_place_at(int root) {
  return root >= -1;
}
#endif

/* `root` < 0: allreduce. */
static void reduce_ints(MPI_Comm comm, int count, int root, int in_place) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* own = malloc(sizeof(int) * (size_t)count);
  int* result = malloc(sizeof(int) * (size_t)count);
  const int has_result = root < 0 || rank == root;
  for (int i = 0; i < count; ++i) own[i] = (i ^ (37 * rank)) % 1000;
  for (int i = 0; i < count; ++i) result[i] = in_place && has_result ? own[i] : -1;
  const void* from = in_place && has_result ? MPI_IN_PLACE : own;
  if (root < 0) {
    MPI_Allreduce(from, result, count, MPI_INT, MPI_SUM, comm);
  } else {
    MPI_Reduce(from, result, count, MPI_INT, MPI_SUM, root, comm);
  }
  int right = 1;
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int other = 0; other < size; ++other) sum += (i ^ (37 * other)) % 1000;
    right &= result[i] == (has_result ? sum : -1);
  }
  check(right, "a sum", sizeof(int) * (size_t)count, root, rank);
  free(result);
  free(own);
}

/* Doubles, with MPI_MAX and with a non-commutative operation. */
static void reduce_others(int root) {
  enum { kCount = 20000 };
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* own = malloc(sizeof(double) * kCount);
  double* result = malloc(sizeof(double) * kCount);
  MPI_Op op;
  MPI_Op_create(last, 0, &op);
  for (int turn = 0; turn < 2; ++turn) {
    const MPI_Op with = turn == 0 ? MPI_MAX : op;
    for (int i = 0; i < kCount; ++i) own[i] = i + (turn == 0 ? -rank : rank);
    if (root < 0) {
      MPI_Allreduce(own, result, kCount, MPI_DOUBLE, with, MPI_COMM_WORLD);
    } else {
      MPI_Reduce(own, result, kCount, MPI_DOUBLE, with, root, MPI_COMM_WORLD);
    }
    int right = 1;
    for (int i = 0; i < kCount && (root < 0 || rank == root); ++i) {
      right &= result[i] == i + (turn == 0 ? 0 : size - 1);
    }
    check(right, turn == 0 ? "a maximum" : "the last rank's", sizeof(double) * kCount, root, rank);
  }
  MPI_Op_free(&op);
  free(result);
  free(own);
}

static void reductions(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int root = -1; root < size; ++root) {
    reduce_ints(MPI_COMM_WORLD, 3, root, 0);
    reduce_ints(MPI_COMM_WORLD, 20000, root, 0);
    reduce_ints(MPI_COMM_WORLD, 100000, root, 0);
    reduce_ints(MPI_COMM_WORLD, 100000, root, in_place_at(root));
    reduce_others(root);
  }
}

static void of_each_kind(MPI_Comm comm, const char* what) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  bytes_from_each(comm, what, 300000);
  for (int root = -1; root < size; ++root) {
    reduce_ints(comm, 20000, root, 0);
    reduce_ints(comm, 100000, root, 0);
    reduce_ints(comm, 100000, root, in_place_at(root));
  }
}

static void by_hosts(void) {
  int rank = 0;
  int rank_in_host = 0;
  MPI_Comm host;
  MPI_Comm across;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &rank_in_host);
  MPI_Comm_split(MPI_COMM_WORLD, rank_in_host, rank, &across);
  of_each_kind(MPI_COMM_WORLD, "world");
  of_each_kind(host, "within a host");
  of_each_kind(across, "one rank of each host");
  MPI_Comm_free(&across);
  MPI_Comm_free(&host);
}

static void errors(void) {
  enum { kBytes = 200000 };
  char* buffer = calloc(kBytes, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bcast(buffer, kBytes, MPI_CHAR, 4711, MPI_COMM_WORLD);
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  if (class != MPI_ERR_ROOT) {
    ++failures;
    fprintf(stderr, "a wrong root gives error class %d\n", class);
  }
  free(buffer);
}

static void mismatch(int rank) {
  char* buffer = calloc(400000, 1);
  MPI_Bcast(buffer, rank == 1 ? 390000 : 310000, MPI_CHAR, 1, MPI_COMM_WORLD);
  free(buffer);
}

/* Every rank's call fails in the preloaded library (an element of over 2 GiB with holes), and the
 * handler makes a call that succeeds. MPI itself would send the element, so only with the library.
 */
static MPI_Comm of_handler;
static int handled = 0;

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
  bytes_from_each(of_handler, "in an error handler", 300000);
}

static void handler(void) {
  enum { kGibibyte = 1 << 30 };
  MPI_Comm fails;
  MPI_Datatype huge;
  MPI_Errhandler calls;
  char byte = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &of_handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &fails);
  MPI_Comm_create_errhandler(handle, &calls);
  MPI_Comm_set_errhandler(fails, calls);
  MPI_Type_create_hvector(3, kGibibyte, (MPI_Aint)kGibibyte + 1, MPI_BYTE, &huge);
  MPI_Type_commit(&huge);
  if (MPI_Bcast(&byte, 1, huge, 1, fails) == MPI_SUCCESS || handled != 1) {
    ++failures;
    fprintf(stderr, "the error handler was called %d times\n", handled);
  }
  MPI_Type_free(&huge);
  MPI_Errhandler_free(&calls);
  MPI_Comm_free(&fails);
  MPI_Comm_free(&of_handler);
}

/* A sum that asks MPI for everything that it needs. */
static void sum_by_mpi(void* in, void* inout, int* count, MPI_Datatype* type) {
  int elements = *count;
  int all = 0;
  MPI_Allreduce(&elements, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_SELF);
  MPI_Reduce_local(in, inout, all, *type, MPI_SUM);
}

static void own_op(void) {
  enum { kCount = 100000 };
  int rank = 0;
  int size = 0;
  MPI_Op op;
  int* const own = malloc(sizeof(int) * kCount);
  int* const result = malloc(sizeof(int) * kCount);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(sum_by_mpi, 1, &op);
  for (int root = -1; root < size; ++root) {
    int right = 1;
    for (int i = 0; i < kCount; ++i) own[i] = i + rank;
    if (root < 0) {
      MPI_Allreduce(own, result, kCount, MPI_INT, op, MPI_COMM_WORLD);
    } else {
      MPI_Reduce(own, result, kCount, MPI_INT, op, root, MPI_COMM_WORLD);
    }
    for (int i = 0; i < kCount && (root < 0 || rank == root); ++i) {
      right &= result[i] == size * i + size * (size - 1) / 2;
    }
    check(right, "a sum by MPI", sizeof(int) * kCount, root, rank);
  }
  MPI_Op_free(&op);
  free(result);
  free(own);
}

typedef int Bcast(void*, int, MPI_Datatype, int, MPI_Comm);

static double seconds_each(Bcast* bcast, void* buffer, int bytes, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - start) / times;
}

static void timing(int times, int most_bytes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffer = calloc((size_t)most_bytes, 1);
  for (int bytes = 1; bytes <= most_bytes; bytes = bytes == 1 ? 16384 : bytes * 4) {
    const int repeats = bytes == 1 ? times : 1 + times / 1000;
    seconds_each(MPI_Bcast, buffer, bytes, 1);
    for (int turn = 0; turn < 3; ++turn) {
      const double ours = seconds_each(MPI_Bcast, buffer, bytes, repeats);
      const double theirs = seconds_each(PMPI_Bcast, buffer, bytes, repeats);
      if (rank == 0) {
        printf("%d bytes: MPI_Bcast %.3f us, PMPI_Bcast %.3f us\n", bytes, ours * 1e6,
               theirs * 1e6);
      }
    }
  }
  free(buffer);
}

/* Of 100,000 ints. */
static void sums(MPI_Comm comm) {
  enum { kCount = 100000 };
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* values = malloc(sizeof(int) * kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i + rank;
  MPI_Allreduce(MPI_IN_PLACE, values, kCount, MPI_INT, MPI_SUM, comm);
  int right = 1;
  for (int i = 0; i < kCount; ++i) right &= values[i] == i * size + size * (size - 1) / 2;
  check(right, "sums", sizeof(int) * kCount, 0, rank);
  free(values);
}

static void learning(size_t bytes) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm fewer;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &fewer);
  for (int turn = 0; turn < 2; ++turn) {
    sums(MPI_COMM_WORLD);
    for (int again = 0; rank != 0 && again < 3; ++again) sums(fewer);
    bytes_from_each(MPI_COMM_WORLD, "to learn", bytes);
  }
  if (rank != 0) MPI_Comm_free(&fewer);
}

static void gathering(size_t bytes) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t part = bytes / (size_t)size;
  unsigned char* const all = malloc(part * (size_t)size);
  for (int turn = 0; turn < 6; ++turn) {
    memset(all, 0xee, part * (size_t)size);
    for (size_t at = 0; at < part; ++at) {
      all[(size_t)rank * part + at] = expected(at, rank + 31 * turn);
    }
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, (int)part, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from) {
      size_t wrong = 0;
      for (size_t at = 0; at < part; ++at) {
        wrong += all[(size_t)from * part + at] != expected(at, from + 31 * turn);
      }
      check(wrong == 0, "gathered", part, from, rank);
    }
  }
  free(all);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "errors") == 0) {
    errors();
  } else if (strcmp(what, "reductions") == 0) {
    reductions();
  } else if (strcmp(what, "hosts") == 0) {
    by_hosts();
  } else if (strcmp(what, "handler") == 0) {
    handler();
  } else if (strcmp(what, "own_op") == 0) {
    own_op();
  } else if (strcmp(what, "mismatch") == 0) {
    mismatch(rank);
  } else if (strcmp(what, "learning") == 0 && argc > 2) {
    learning((size_t)atoll(argv[2]));
  } else if (strcmp(what, "gathering") == 0 && argc > 2) {
    gathering((size_t)atoll(argv[2]));
  } else if (strcmp(what, "timing") == 0 && argc > 2) {
    timing(atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 1);
  } else {
    everything(65536);
    if (size > 1) between_halves();
  }
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("all right\n");
  MPI_Finalize();
  return all != 0;
}
