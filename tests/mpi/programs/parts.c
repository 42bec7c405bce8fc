/* An ordinary MPI program without Espalier: operations whose message has a part for each rank, of
 * several kinds and sizes, each element checked. Rank 0 prints "all right".
 *
 *   parts           everything below
 *   parts timing OPERATION N MOST [LEAST]
 *                   medians of N calls, by MPI's function and by that of PMPI in turns, of LEAST
 * (64) bytes to MOST; at least one int, or one for each rank */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static int rank = 0;
static int size = 0;
static MPI_Comm comm;

/* Two ints as one element; an int with a hole behind it. */
static MPI_Datatype pair;
static MPI_Datatype sparse;

static int value(int from, int to, int at) {
  return from * 1000003 + to * 10007 + at;
}

static void check(int right, const char* what, int count) {
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d of %d: wrong data: %s, %d ints\n", rank, size, what, count);
}

static int* ints(int count) {
  int* const values = malloc(sizeof(int) * (size_t)(count + 1));
  for (int i = 0; i <= count; ++i) values[i] = -1;
  return values;
}

/* The part that a rank sends to another one, from place `at` on, every `stride` ints. */
static void fill(int* values, int at, int stride, int from, int to, int count) {
  for (int i = 0; i < count; ++i) values[at + i * stride] = value(from, to, i);
}

static int holds(const int* values, int at, int stride, int from, int to, int count) {
  for (int i = 0; i < count; ++i) {
    if (values[at + i * stride] != value(from, to, i)) return 0;
    if (stride == 2 && values[at + i * stride + 1] != -1) return 0;
  }
  return 1;
}

static void allgather(int count) {
  int* const mine = ints(count);
  fill(mine, 0, 1, rank, 0, count);
  for (int kind = 0; kind < 4; ++kind) {
    const int stride = kind == 3 ? 2 : 1;
    int* const all = ints(size * count * stride);
    if (kind == 0) {
      MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, comm);
    } else if (kind == 1) {
      fill(all, rank * count, 1, rank, 0, count);
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, comm);
    } else if (kind == 2) {
      MPI_Allgather(mine, count / 2, pair, all, count, MPI_INT, comm);
    } else {
      MPI_Allgather(mine, count, MPI_INT, all, count, sparse, comm);
    }
    int right = all[size * count * stride] == -1;
    for (int from = 0; from < size; ++from) {
      right &= holds(all, from * count * stride, stride, from, 0, count);
    }
    check(right, "allgather", count);
    free(all);
  }
  free(mine);
}

/* Parts in proportions that depend on `turn`, the last rank's first in memory. */
static void allgatherv(int count, int turn) {
  int* const counts = ints(size);
  int* const first = ints(size);
  int end = 0;
  for (int from = size - 1; from >= 0; --from) {
    counts[from] = (from + turn) % 3 == 0 ? 0 : count / (1 + (from + turn) % 4);
    first[from] = end;
    end += counts[from] + 1;
  }
  int* const all = ints(end);
  int* const mine = ints(counts[rank]);
  fill(mine, 0, 1, rank, 0, counts[rank]);
  if (turn % 2 == 0) {
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, first, MPI_INT, comm);
  } else {
    fill(all, first[rank], 1, rank, 0, counts[rank]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, first, MPI_INT, comm);
  }
  int right = 1;
  for (int from = 0; from < size; ++from) {
    right &= holds(all, first[from], 1, from, 0, counts[from]);
    right &= all[first[from] + counts[from]] == -1;
  }
  check(right, "allgatherv", count);
  /* Places relative to the middle of the buffer, some of which are negative. */
  for (int from = 0; from < size; ++from) first[from] -= end / 2;
  for (int i = 0; i <= end; ++i) all[i] = -1;
  MPI_Allgatherv(mine, counts[rank], MPI_INT, all + end / 2, counts, first, MPI_INT, comm);
  right = 1;
  for (int from = 0; from < size; ++from) {
    right &= holds(all, first[from] + end / 2, 1, from, 0, counts[from]);
  }
  check(right, "allgatherv around the middle", count);
  free(mine);
  free(all);
  free(first);
  free(counts);
}

/* Not commutative: the left operand. */
static void left_of(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)type;
  memcpy(right, left, sizeof(int) * (size_t)*count);
}

static int sums_right(const int* values, int to, int count) {
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int from = 0; from < size; ++from) sum += value(from, to, i) % 1000;
    if (values[i] != sum) return 0;
  }
  return 1;
}

static void reduce_scatter(int count) {
  int* const counts = ints(size);
  int most = 0;
  for (int to = 0; to < size; ++to) {
    counts[to] = (to + 1) % 3 == 0 ? 0 : count * (to + 1) / size;
    most += counts[to] > count ? counts[to] : count;
  }
  for (int kind = 0; kind < 4; ++kind) {
    const int is_block = kind < 2;
    int* const sent = ints(most);
    int at = 0;
    for (int to = 0; to < size; ++to) {
      const int length = is_block ? count : counts[to];
      for (int i = 0; i < length; ++i) sent[at++] = value(rank, to, i) % 1000;
    }
    const int mine = is_block ? count : counts[rank];
    int* const result = ints(mine);
    int* at_result = result;
    if (kind == 0) {
      MPI_Reduce_scatter_block(sent, result, count, MPI_INT, MPI_SUM, comm);
    } else if (kind == 1) {
      MPI_Reduce_scatter_block(MPI_IN_PLACE, sent, count, MPI_INT, MPI_SUM, comm);
      at_result = sent;
    } else if (kind == 2) {
      MPI_Reduce_scatter(sent, result, counts, MPI_INT, MPI_SUM, comm);
    } else {
      MPI_Reduce_scatter(MPI_IN_PLACE, sent, counts, MPI_INT, MPI_SUM, comm);
      at_result = sent;
    }
    check(sums_right(at_result, rank, mine), "reduce_scatter", count);
    check(at_result != result || result[mine] == -1, "behind a reduce_scatter", count);
    free(result);
    free(sent);
  }
  MPI_Op left;
  MPI_Op_create(left_of, 0, &left);
  int* const sent = ints(size * count);
  int* const result = ints(count);
  for (int to = 0; to < size; ++to) fill(sent, to * count, 1, rank, to, count);
  MPI_Reduce_scatter_block(sent, result, count, MPI_INT, left, comm);
  check(holds(result, 0, 1, 0, rank, count), "reduce_scatter in order", count);
  MPI_Op_free(&left);
  free(result);
  free(sent);
  free(counts);
}

static void scatter(int root, int count) {
  int* const all = ints(2 * size * count);
  int* const mine = ints(2 * count);
  for (int kind = 0; kind < 4; ++kind) {
    const int stride = kind == 3 ? 2 : 1;
    for (int i = 0; i < 2 * size * count; ++i) all[i] = -1;
    for (int i = 0; i < 2 * count; ++i) mine[i] = -1;
    for (int to = 0; to < size; ++to) fill(all, to * count * stride, stride, root, to, count);
    if (kind == 0) {
      MPI_Scatter(all, count, MPI_INT, mine, count, MPI_INT, root, comm);
    } else if (kind == 1 && rank == root) {
      MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
      memcpy(mine, all + root * count, sizeof(int) * (size_t)count);
    } else if (kind == 3) { /* the root's elements have holes */
      MPI_Scatter(all, count, sparse, mine, count, MPI_INT, root, comm);
    } else { /* receivers count in pairs; what is for sending matters on the root only */
      MPI_Scatter(rank == root ? all : NULL, rank == root ? count : -5,
                  rank == root ? MPI_INT : MPI_DATATYPE_NULL, mine, count / 2, pair, root, comm);
    }
    check(holds(mine, 0, 1, root, rank, count), "scatter", count);
  }
  free(mine);
  free(all);
}

static void gather(int root, int count) {
  int* const all = ints(2 * size * count);
  int* const mine = ints(count);
  fill(mine, 0, 1, rank, root, count);
  for (int kind = 0; kind < 4; ++kind) {
    const int stride = kind == 3 ? 2 : 1;
    for (int i = 0; i < 2 * size * count; ++i) all[i] = -1;
    if (kind == 0) {
      MPI_Gather(mine, count, MPI_INT, all, count, MPI_INT, root, comm);
    } else if (kind == 1 && rank == root) {
      fill(all, root * count, 1, root, root, count);
      MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, root, comm);
    } else if (kind == 3) {
      MPI_Gather(mine, count, MPI_INT, all, count, sparse, root, comm);
    } else {
      MPI_Gather(mine, count / 2, pair, rank == root ? all : NULL, rank == root ? count : -5,
                 rank == root ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
    }
    int right = 1;
    for (int from = 0; from < size && rank == root; ++from) {
      right &= holds(all, from * count * stride, stride, from, root, count);
    }
    check(right, "gather", count);
  }
  free(mine);
  free(all);
}

static void alltoall(int count) {
  int* const sent = ints(size * count);
  for (int to = 0; to < size; ++to) fill(sent, to * count, 1, rank, to, count);
  for (int kind = 0; kind < 4; ++kind) {
    const int stride = kind == 3 ? 2 : 1;
    int* const all = ints(size * count * stride);
    if (kind == 0) {
      MPI_Alltoall(sent, count, MPI_INT, all, count, MPI_INT, comm);
    } else if (kind == 1) {
      memcpy(all, sent, sizeof(int) * (size_t)(size * count));
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, comm);
    } else if (kind == 2 && rank % 2 == 0) { /* types differ among ranks */
      MPI_Alltoall(sent, count / 2, pair, all, count, MPI_INT, comm);
    } else if (kind == 2) {
      MPI_Alltoall(sent, count, MPI_INT, all, count, MPI_INT, comm);
    } else {
      MPI_Alltoall(sent, count, MPI_INT, all, count, sparse, comm);
    }
    int right = all[size * count * stride] == -1;
    for (int from = 0; from < size; ++from) {
      right &= holds(all, from * count * stride, stride, from, rank, count);
    }
    check(right, "alltoall", count);
    free(all);
  }
  free(sent);
}

/* How the parts of different sizes are described: kinds 0 to 3 are plain ints, some in place (1),
 * pairs (2), and ints with holes (3). Parts lie in reverse order around the middle of the memory.
 */
static int part_of(int from, int to, int count) {
  return (from + to) % 3 == 0 ? 0 : count / (1 + (2 * from + to) % 4) / 2 * 2;
}

struct places {
  int* counts;
  int* first;
  int* memory;
  int* middle; /* where displacements are relative to */
  int ints;
};

/* each: the elements of each rank's part, of `stride` ints in memory. */
static struct places places_of(const int* each, int stride) {
  struct places p = {ints(size), ints(size), NULL, NULL, 0};
  for (int i = size - 1; i >= 0; --i) {
    p.counts[i] = each[i];
    p.first[i] = p.ints;
    p.ints += each[i] + 1;
  }
  const int middle = p.ints / 2;
  for (int i = 0; i < size; ++i) p.first[i] -= middle;
  p.memory = ints(p.ints * stride);
  p.middle = p.memory + middle * stride;
  return p;
}

static void free_places(struct places p) {
  free(p.counts);
  free(p.first);
  free(p.memory);
}

/* In pairs of ints instead of ints; each count is even. */
static void in_pairs(struct places* p) {
  for (int i = 0; i < size; ++i) p->counts[i] /= 2;
}

static void scatterv_and_gatherv(int root, int count, int kind) {
  const int stride = kind == 3 ? 2 : 1;
  const MPI_Datatype type = kind == 3 ? sparse : MPI_INT;
  const int in_place = kind == 1 && rank == root;
  const int here = part_of(root, rank, count);
  int* const each = ints(size);
  for (int to = 0; to < size; ++to) each[to] = part_of(root, to, count);
  struct places all = places_of(each, stride);
  int* const mine = ints(here);
  for (int to = 0; to < size; ++to) {
    fill(all.middle, all.first[to] * stride, stride, root, to, each[to]);
  }
  if (rank == root) {
    MPI_Scatterv(all.middle, all.counts, all.first, type, in_place ? MPI_IN_PLACE : mine, here,
                 MPI_INT, root, comm);
  } else { /* what is for sending matters on the root only */
    MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, kind == 2 ? here / 2 : here,
                 kind == 2 ? pair : MPI_INT, root, comm);
  }
  check(in_place || (holds(mine, 0, 1, root, rank, here) && mine[here] == -1), "scatterv", count);

  fill(mine, 0, 1, rank, root, here);
  for (int i = 0; i < all.ints * stride; ++i) all.memory[i] = -1;
  if (in_place) fill(all.middle, all.first[root], 1, root, root, here);
  if (rank == root) {
    MPI_Gatherv(in_place ? MPI_IN_PLACE : mine, here, MPI_INT, all.middle, all.counts, all.first,
                type, root, comm);
  } else {
    MPI_Gatherv(mine, kind == 2 ? here / 2 : here, kind == 2 ? pair : MPI_INT, NULL, NULL, NULL,
                MPI_DATATYPE_NULL, root, comm);
  }
  int right = 1;
  for (int from = 0; from < size && rank == root; ++from) {
    const int at = all.first[from] * stride;
    right &= holds(all.middle, at, stride, from, root, each[from]);
    right &= all.middle[at + each[from] * stride] == -1;
  }
  check(right, "gatherv", count);
  free_places(all);
  free(mine);
  free(each);
}

static void alltoallv(int count, int kind) {
  const int stride = kind == 3 ? 2 : 1;
  const MPI_Datatype type = kind == 3 ? sparse : MPI_INT;
  int* const to_each = ints(size);
  int* const from_each = ints(size);
  for (int i = 0; i < size; ++i) {
    /* In place, what a rank sends to another one is as long as what it gets from it. */
    to_each[i] = kind == 1 ? part_of(rank + i, 0, count) : part_of(rank, i, count);
    from_each[i] = kind == 1 ? to_each[i] : part_of(i, rank, count);
  }
  struct places sent = places_of(to_each, 1);
  struct places got = places_of(from_each, stride);
  for (int to = 0; to < size; ++to) fill(sent.middle, sent.first[to], 1, rank, to, to_each[to]);
  if (kind == 1) {
    for (int to = 0; to < size; ++to) fill(got.middle, got.first[to], 1, rank, to, to_each[to]);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, got.middle, got.counts, got.first,
                  type, comm);
  } else if (kind == 2 && rank % 2 == 0) { /* types differ among ranks */
    in_pairs(&sent);
    int* const first_pair = ints(size);
    int* const packed = ints(sent.ints);
    int at = 0;
    for (int to = 0; to < size; ++to) {
      first_pair[to] = at / 2;
      fill(packed, at, 1, rank, to, to_each[to]);
      at += to_each[to];
    }
    MPI_Alltoallv(packed, sent.counts, first_pair, pair, got.middle, got.counts, got.first, type,
                  comm);
    free(packed);
    free(first_pair);
  } else {
    MPI_Alltoallv(sent.middle, sent.counts, sent.first, MPI_INT, got.middle, got.counts, got.first,
                  type, comm);
  }
  int right = 1;
  for (int from = 0; from < size; ++from) {
    const int at = got.first[from] * stride;
    right &= holds(got.middle, at, stride, from, rank, from_each[from]);
    right &= got.middle[at + from_each[from] * stride] == -1;
  }
  check(right, "alltoallv", count);
  free_places(sent);
  free_places(got);
  free(to_each);
  free(from_each);
}

/* Collectives of two communicators at the same time, begun in different orders; each rank waits for
 * the one before it in MPI_Recv before it looks at any of them. */
static void at_the_same_time(int count) {
  MPI_Comm other;
  MPI_Comm_dup(comm, &other);
  int* const message = ints(count);
  int* const sent = ints(size * count);
  int* const got = ints(size * count);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == size - 1) fill(message, 0, 1, rank, 0, count);
  for (int to = 0; to < size; ++to) fill(sent, to * count, 1, rank, to, count);
  for (int i = 0; i < 2; ++i) {
    if (i == rank % 2) {
      MPI_Ibcast(message, count, MPI_INT, size - 1, comm, &requests[0]);
    } else {
      MPI_Ialltoall(sent, count, MPI_INT, got, count, MPI_INT, other, &requests[1]);
    }
  }
  int token = 0;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 5, comm, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 5, comm);
  check(holds(message, 0, 1, size - 1, 0, count), "ibcast", count);
  for (int from = 0; from < size; ++from) {
    check(holds(got, from * count, 1, from, rank, count), "ialltoall", count);
  }
  free(message);
  free(sent);
  free(got);
  MPI_Comm_free(&other);
}

static void between_halves(void) {
  const int left = rank < size / 2;
  MPI_Comm half;
  MPI_Comm both;
  MPI_Comm_split(comm, left, rank, &half);
  MPI_Intercomm_create(half, 0, comm, left ? size / 2 : 0, 9, &both);
  enum { kCount = 50000 };
  int others = 0;
  MPI_Comm_remote_size(both, &others);
  int* const mine = ints(kCount);
  int* const all = ints(others * kCount);
  fill(mine, 0, 1, rank, 0, kCount);
  MPI_Allgather(mine, kCount, MPI_INT, all, kCount, MPI_INT, both);
  int right = 1;
  for (int i = 0; i < others; ++i) {
    right &= holds(all, i * kCount, 1, left ? size / 2 + i : i, 0, kCount);
  }
  check(right, "between halves", kCount);
  free(all);
  free(mine);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* A call of about so many bytes, of MPI or, if it is plain, of PMPI. */
static void call(const char* operation, int plain, int* sent, int* got, int bytes) {
  const int count = bytes / (int)sizeof(int);
  const int each = count > size ? count / size : 1;
#define OF_MPI(NAME, ...) (plain ? PMPI_##NAME(__VA_ARGS__) : MPI_##NAME(__VA_ARGS__))
  if (strcmp(operation, "bcast") == 0) {
    OF_MPI(Bcast, got, count, MPI_INT, 0, comm);
  } else if (strcmp(operation, "reduce") == 0) {
    OF_MPI(Reduce, sent, got, count, MPI_INT, MPI_SUM, 0, comm);
  } else if (strcmp(operation, "allreduce") == 0) {
    OF_MPI(Allreduce, sent, got, count, MPI_INT, MPI_SUM, comm);
  } else if (strcmp(operation, "allgather") == 0) {
    OF_MPI(Allgather, sent, each, MPI_INT, got, each, MPI_INT, comm);
  } else if (strcmp(operation, "reduce-scatter") == 0) {
    OF_MPI(Reduce_scatter_block, sent, got, each, MPI_INT, MPI_SUM, comm);
  } else if (strcmp(operation, "scatter") == 0) {
    OF_MPI(Scatter, sent, each, MPI_INT, got, each, MPI_INT, 0, comm);
  } else if (strcmp(operation, "gather") == 0) {
    OF_MPI(Gather, sent, each, MPI_INT, got, each, MPI_INT, 0, comm);
  } else {
    OF_MPI(Alltoall, sent, each, MPI_INT, got, each, MPI_INT, comm);
  }
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

/* After the calls of the library's trials. The time of a call is that of the slowest rank. */
static void timing(const char* operation, int calls, int most, int least) {
  enum { kBefore = 12 };
  double* const times[2] = {malloc(sizeof(double) * (size_t)calls),
                            malloc(sizeof(double) * (size_t)calls)};
  for (int bytes = least; bytes <= most; bytes *= 8) {
    const int count = bytes / (int)sizeof(int);
    int* const sent = ints(count + size);
    int* const got = ints(count + size);
    for (int i = -kBefore; i < calls; ++i) {
      for (int plain = 0; plain < 2; ++plain) {
        PMPI_Barrier(comm);
        const double start = MPI_Wtime();
        call(operation, plain, sent, got, bytes);
        const double here = MPI_Wtime() - start;
        double slowest = 0;
        PMPI_Allreduce(&here, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
        if (i >= 0) times[plain][i] = slowest;
      }
    }
    for (int plain = 0; plain < 2; ++plain)
      qsort(times[plain], (size_t)calls, sizeof(double), compare);
    if (rank == 0) {
      printf("%-15s %9d bytes: %10.1f us, by MPI alone %10.1f us, %5.2f of it\n", operation, bytes,
             times[0][calls / 2] * 1e6, times[1][calls / 2] * 1e6,
             times[0][calls / 2] / times[1][calls / 2]);
    }
    free(got);
    free(sent);
  }
  free(times[0]);
  free(times[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &sparse);
  MPI_Type_commit(&sparse);
  if (argc >= 5 && strcmp(argv[1], "timing") == 0) {
    timing(argv[2], atoi(argv[3]), atoi(argv[4]), argc > 5 ? atoi(argv[5]) : 64);
  } else {
    const int sizes[] = {0, 2, 6000, 50002};
    for (int i = 0; i < 4; ++i) {
      allgather(sizes[i]);
      reduce_scatter(sizes[i]);
      alltoall(sizes[i]);
      for (int root = 0; root < size; ++root) {
        scatter(root, sizes[i]);
        gather(root, sizes[i]);
      }
    }
    for (int turn = 0; turn < 24; ++turn) allgatherv(30000, turn);
    for (int kind = 0; kind < 4; ++kind) {
      for (int root = 0; root < size; ++root) scatterv_and_gatherv(root, 20000, kind);
      alltoallv(20000, kind);
    }
    alltoallv(0, 0);
    at_the_same_time(20000);
    if (size > 1) between_halves();
  }
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("all right\n");
  MPI_Type_free(&pair);
  MPI_Type_free(&sparse);
  MPI_Finalize();
  return all != 0;
}
