/* An ordinary MPI program without Espalier: calls of unusual kinds. Each element of the results is
 * checked. Rank 0 prints "all right".
 *
 *   unusual_calls              user-defined operations, types, communicators, invalid calls
 *   unusual_calls sweep MOST   times of broadcasts and reductions of 1 byte to MOST */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static int world_rank = 0;
static int world_size = 0;

static void check(int right, const char* what, const char* type, long long count) {
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d: wrong result: %s of %lld %s\n", world_rank, what, count, type);
}

/* Declared commutative, but only x is added; y is that of one of the ranks. */
struct Pair {
  int x;
  int y;
};

static void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((struct Pair*)inout)[i].x += ((struct Pair*)in)[i].x;
}

/* Calls MPI itself, as a preloaded library must let it. */
static void add_modulo(void* in, void* inout, int* count, MPI_Datatype* type) {
  int one = 1;
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_SELF);
  check(one == 1 && bytes == (int)sizeof(int), "calls inside an operation", "int", *count);
  for (int i = 0; i < *count; ++i) {
    int* const sum = &((int*)inout)[i];
    *sum = (*sum + ((int*)in)[i]) % 1009;
  }
}

/* Composes affine maps x -> ax + b modulo a prime, which is not commutative. */
static void after(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct Pair* first = in;
  struct Pair* then = inout;
  for (int i = 0; i < *count; ++i) {
    then[i].y = (then[i].x * first[i].y + then[i].y) % 1009;
    then[i].x = then[i].x * first[i].x % 1009;
  }
}

static struct Pair map_of(int rank, int at) {
  return (struct Pair){(rank * 31 + at) % 1008 + 1, (rank + at * 17) % 1009};
}

static void own_operations(MPI_Comm comm, int count) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op ordered;
  MPI_Op adding;
  MPI_Op modulo;
  MPI_Op_create(after, 0, &ordered);
  MPI_Op_create(add_pairs, 1, &adding);
  MPI_Op_create(add_modulo, 1, &modulo);
  struct Pair* own = calloc((size_t)count + 1, sizeof *own);
  struct Pair* result = calloc((size_t)count + 1, sizeof *result);
  for (int root = -1; root < size; ++root) {
    for (int turn = 0; turn < 3; ++turn) {
      const MPI_Op op = turn == 0 ? ordered : turn == 1 ? adding : modulo;
      const MPI_Datatype type = turn == 2 ? MPI_INT : pair;
      for (int i = 0; i < count; ++i) own[i] = map_of(rank, i);
      const int items = turn == 2 ? 2 * count : count;
      if (root < 0) {
        MPI_Allreduce(own, result, items, type, op, comm);
      } else {
        MPI_Reduce(own, result, items, type, op, root, comm);
      }
      int right = 1;
      for (int i = 0; i < count && (root < 0 || root == rank); ++i) {
        struct Pair expected = map_of(0, i);
        for (int other = 1; other < size; ++other) {
          struct Pair next = map_of(other, i);
          int one = 1;
          MPI_Datatype integer = MPI_INT;
          if (turn == 0) after(&expected, &next, &one, NULL);
          if (turn == 1) next = (struct Pair){expected.x + next.x, result[i].y};
          if (turn == 2) add_modulo(&expected.x, &next.x, &one, &integer);
          if (turn == 2) add_modulo(&expected.y, &next.y, &one, &integer);
          expected = next;
        }
        right &= result[i].x == expected.x && result[i].y == expected.y;
      }
      check(right, turn == 0 ? "maps" : "sums of the program's own", "pairs", count);
    }
  }
  free(result);
  free(own);
  MPI_Op_free(&modulo);
  MPI_Op_free(&adding);
  MPI_Op_free(&ordered);
  MPI_Type_free(&pair);
}

/* A type whose part was never committed. */
static void broadcast_of_parts(MPI_Comm comm) {
  enum { kCount = 3000 };
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Datatype part;
  MPI_Datatype whole;
  const int place = 0;
  MPI_Type_create_indexed_block(1, 2, &place, MPI_INT, &part);
  MPI_Type_contiguous(3, part, &whole);
  MPI_Type_commit(&whole);
  MPI_Type_free(&part);
  int* values = malloc(sizeof(int) * 6 * kCount);
  for (int i = 0; i < 6 * kCount; ++i) values[i] = rank == 1 ? 3 * i : -1;
  MPI_Bcast(values, kCount, whole, 1, comm);
  int right = 1;
  for (int i = 0; i < 6 * kCount; ++i) right &= values[i] == 3 * i;
  check(right, "a broadcast", "types of uncommitted ones", kCount);
  free(values);
  MPI_Type_free(&whole);
}

/* Communicators that are created and freed, some only at the end, and an intercommunicator. */
static void communicators(void) {
  MPI_Comm kept[6];
  for (int turn = 0; turn < 6; ++turn) {
    MPI_Comm backwards;
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, 0, turn % 2 == 0 ? -world_rank : world_rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < (world_size + turn) / 2, world_rank, &part);
    own_operations(backwards, 40);
    own_operations(part, 40);
    MPI_Comm_dup(backwards, &kept[turn]);
    MPI_Comm_free(&part);
    own_operations(kept[turn], 30);
    MPI_Comm_free(&backwards);
  }
  for (int turn = 5; turn >= 0; --turn) {
    own_operations(kept[turn], 20);
    if (turn > 0) MPI_Comm_free(&kept[turn]);
  }
  const int left = world_rank < world_size / 2;
  MPI_Comm half;
  MPI_Comm across;
  MPI_Comm_split(MPI_COMM_WORLD, left, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? world_size / 2 : 0, 9, &across);
  int own[500];
  int result[500];
  for (int i = 0; i < 500; ++i) own[i] = i + world_rank;
  MPI_Allreduce(own, result, 500, MPI_INT, MPI_MAX, across);
  int highest = left ? world_size - 1 : world_size / 2 - 1;
  int right = 1;
  for (int i = 0; i < 500; ++i) right &= result[i] == i + highest;
  check(right, "MPI_MAX across", "MPI_INT", 500);
  const int root = left ? (world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  MPI_Reduce(own, result, 500, MPI_INT, MPI_MIN, root, across);
  right = 1;
  for (int i = 0; i < 500 && root == MPI_ROOT; ++i) right &= result[i] == i + world_size / 2;
  check(right, "MPI_MIN across", "MPI_INT", 500);
  MPI_Comm_free(&across);
  MPI_Comm_free(&half);
}

static void expect_class(int code, int wanted, int or_else, const char* what) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  if (class == wanted || class == or_else) return;
  ++failures;
  fprintf(stderr, "rank %d: %s gives error class %d\n", world_rank, what, class);
}

/* Invalid arguments that a rank can detect locally are returned as errors, and do not affect the
 * next call. */
static void wrong_calls(void) {
  enum { kCount = 3000 };
  static int own[kCount];
  static int result[kCount];
  static double numbers[kCount];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          MPI_ERRORS_RETURN); /* Open MPI may use this one instead */
  for (int turn = 0; turn < 2; ++turn) {
    expect_class(MPI_Reduce(own, result, kCount, MPI_INT, MPI_SUM, world_size, comm), MPI_ERR_ROOT,
                 MPI_ERR_ROOT, "a wrong root");
    expect_class(MPI_Reduce(own, result, kCount, MPI_INT, MPI_OP_NULL, 0, comm), MPI_ERR_OP,
                 MPI_ERR_OP, "no operation");
    expect_class(MPI_Allreduce(own, result, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT,
                 MPI_ERR_COUNT, "a negative count");
    expect_class(MPI_Allreduce(numbers, numbers + 1, 100, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP,
                 MPI_ERR_OP, "bits of doubles");
    expect_class(MPI_Allreduce(own, MPI_IN_PLACE, kCount, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER,
                 MPI_ERR_ARG, "no place for the result");
    /* Only the root can detect this, so only the root may call. */
    if (world_rank == 0) {
      expect_class(MPI_Reduce(own, own, kCount, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER,
                   MPI_ERR_ARG, "one buffer for two");
    }
    if (world_rank == 1) {
      expect_class(MPI_Reduce(MPI_IN_PLACE, result, kCount, MPI_INT, MPI_SUM, 0, comm),
                   MPI_ERR_BUFFER, MPI_ERR_ARG, "MPI_IN_PLACE on a rank that is not the root");
#ifndef MPICH /* which does not check, and crashes */
      expect_class(MPI_Bcast(MPI_IN_PLACE, kCount, MPI_INT, 1, comm), MPI_ERR_BUFFER, MPI_ERR_ARG,
                   "MPI_IN_PLACE to broadcast");
#endif
    }
    for (int i = 0; i < kCount; ++i) own[i] = i + world_rank;
    MPI_Reduce(own, result, kCount, MPI_INT, MPI_MAX, 0, comm);
    int right = 1;
    for (int i = 0; i < kCount && world_rank == 0; ++i) right &= result[i] == i + world_size - 1;
    check(right, "MPI_MAX after errors", "MPI_INT", kCount);
  }
  MPI_Comm_free(&comm);
}

enum Collective { kBcast, kReduce, kAllreduce };

/* The time of one call in seconds, on the slowest rank; each result is checked. by_library: call
 * MPI's own functions. */
static double one_call(enum Collective which, size_t bytes, int turn, int by_library, void* own,
                       void* result) {
  const int root = turn % world_size;
  const int ints = (int)(bytes / sizeof(int));
  unsigned char* const message = own;
  const unsigned salt = (unsigned)turn * 31U;
  for (size_t i = 0; which == kBcast && i < bytes; ++i) {
    message[i] = world_rank == root ? (unsigned char)((i * 2654435761U >> 9) + salt) : 0;
  }
  for (int i = 0; which != kBcast && i < ints; ++i) {
    ((int*)own)[i] = (i + turn) % 1000 + world_rank * (i % 7);
    ((int*)result)[i] = -1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (which == kBcast) {
    (by_library ? PMPI_Bcast : MPI_Bcast)(own, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
  } else if (which == kReduce) {
    (by_library ? PMPI_Reduce : MPI_Reduce)(own, result, ints, MPI_INT, MPI_SUM, root,
                                            MPI_COMM_WORLD);
  } else {
    (by_library ? PMPI_Allreduce : MPI_Allreduce)(own, result, ints, MPI_INT, MPI_SUM,
                                                  MPI_COMM_WORLD);
  }
  double seconds = MPI_Wtime() - start;
  PMPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int right = 1;
  for (size_t i = 0; which == kBcast && i < bytes; ++i) {
    right &= message[i] == (unsigned char)((i * 2654435761U >> 9) + salt);
  }
  const int has_result = which == kAllreduce || (which == kReduce && world_rank == root);
  const int ranks = world_size * (world_size - 1) / 2;
  for (int i = 0; i < ints && which != kBcast; ++i) {
    const int sum = world_size * ((i + turn) % 1000) + ranks * (i % 7);
    right &= ((int*)result)[i] == (has_result ? sum : -1);
  }
  check(right, which == kBcast ? "a broadcast" : "a sum", "bytes", (long long)bytes);
  return seconds;
}

static int by_value(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static void sweep(size_t most) {
  static const char* const names[] = {"MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"};
  void* own = malloc(most + sizeof(int));
  void* result = malloc(most + sizeof(int));
  for (int which = kBcast; which <= kAllreduce; ++which) {
    for (size_t bytes = which == kBcast ? 1 : sizeof(int); bytes <= most; bytes *= 4) {
      enum { kTurns = 11 };
      double taken[2][kTurns];
      for (int turn = -world_size; turn < kTurns; ++turn) { /* one warm-up per root */
        for (int second = 0; second < 2; ++second) {
          const int by_library = (turn + world_size + second) % 2;
          const double seconds =
              one_call((enum Collective)which, bytes, turn + world_size, by_library, own, result);
          if (turn >= 0) taken[by_library][turn] = seconds;
        }
      }
      qsort(taken[0], kTurns, sizeof(double), by_value);
      qsort(taken[1], kTurns, sizeof(double), by_value);
      if (world_rank == 0) {
        printf("%s %zu bytes: %.2f us, MPI's own %.2f us: %.2f times as fast\n", names[which],
               bytes, taken[0][kTurns / 2] * 1e6, taken[1][kTurns / 2] * 1e6,
               taken[1][kTurns / 2] / taken[0][kTurns / 2]);
      }
    }
  }
  free(result);
  free(own);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (argc > 2 && strcmp(argv[1], "sweep") == 0) {
    sweep(strtoull(argv[2], NULL, 10));
  } else {
    own_operations(MPI_COMM_WORLD, 0);
    own_operations(MPI_COMM_WORLD, 1000);
    broadcast_of_parts(MPI_COMM_WORLD);
    communicators();
    wrong_calls();
  }
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0 && all == 0) printf("all right\n");
  MPI_Finalize();
  return all != 0;
}
