/* An ordinary MPI program without Espalier: MPI_Reduce and MPI_Allreduce with each of MPI's
 * operations on types of every kind. Each element of the results is checked. Rank 0 prints "all
 * right". */
#include <complex.h>
#include <mpi.h>
#include <stdint.h>
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

enum { kInteger = 1, kFloating = 2, kComplex = 4, kBytes = 8, kTruth = 16, kAddress = 32 };

typedef long long Fold(long long, long long);
static long long max_of(long long a, long long b) {
  return a > b ? a : b;
}
static long long min_of(long long a, long long b) {
  return a < b ? a : b;
}
static long long sum_of(long long a, long long b) {
  return a + b;
}
static long long product_of(long long a, long long b) {
  return a * b;
}
static long long both(long long a, long long b) {
  return a && b;
}
static long long either(long long a, long long b) {
  return a || b;
}
static long long one_of(long long a, long long b) {
  return !a != !b;
}
static long long bits_of_both(long long a, long long b) {
  return a & b;
}
static long long bits_of_either(long long a, long long b) {
  return a | b;
}
static long long bits_of_one(long long a, long long b) {
  return a ^ b;
}

struct Type {
  const char* name;
  MPI_Datatype type;
  size_t size;
  int kind;
  void (*store)(void* values, size_t at, long long value);
  long long (*load)(const void* values, size_t at);
};

#define ACCESS(NAME, CTYPE)                                            \
  static void store_##NAME(void* values, size_t at, long long value) { \
    ((CTYPE*)values)[at] = (CTYPE)value;                               \
  }                                                                    \
  static long long load_##NAME(const void* values, size_t at) {        \
    return (long long)((const CTYPE*)values)[at];                      \
  }
ACCESS(i8, int8_t)
ACCESS(u8, uint8_t)
ACCESS(i16, int16_t)
ACCESS(u16, uint16_t)
ACCESS(i32, int32_t)
ACCESS(u32, uint32_t)
ACCESS(i64, int64_t)
ACCESS(u64, uint64_t)
ACCESS(long, long)
ACCESS(aint, MPI_Aint)
ACCESS(bool, _Bool)
ACCESS(float, float)
ACCESS(double, double)
ACCESS(wide, long double)
ACCESS(float_complex, float complex)
ACCESS(double_complex, double complex)

#define TYPE(MPITYPE, NAME, KIND, CTYPE) \
  { #MPITYPE, MPITYPE, sizeof(CTYPE), KIND, store_##NAME, load_##NAME }

/* A number so small that no result exceeds 127 with up to 24 ranks. */
static long long element(MPI_Op op, int rank, size_t at) {
  const long long mixed = (long long)((at * 2654435761U) >> 7) + rank;
  if (op == MPI_PROD) return mixed % 6 == 0 ? 2 : 1;
  if (op == MPI_LAND) return (at + 1) % 3 != 0 || rank != 1;
  if (op == MPI_LOR) return at % 2 == 0 && rank == 2;
  if (op == MPI_LXOR) return mixed % 2;
  return mixed % 6;
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

/* root < 0: allreduce. */
static void reduce_by(MPI_Op op, const char* op_name, Fold* fold, const struct Type* type,
                      size_t count, int root, int in_place) {
  const int has_result = root < 0 || root == world_rank;
  char* own = malloc((count + 1) * type->size);
  char* result = malloc((count + 1) * type->size);
  char* const from = in_place && has_result ? result : own;
  memset(result, 7, (count + 1) * type->size);
  for (size_t i = 0; i < count; ++i) type->store(from, i, element(op, world_rank, i));
  const void* const sent = from == result ? MPI_IN_PLACE : own;
  if (root < 0) {
    MPI_Allreduce(sent, result, (int)count, type->type, op, MPI_COMM_WORLD);
  } else {
    MPI_Reduce(sent, result, (int)count, type->type, op, root, MPI_COMM_WORLD);
  }
  int right = 1;
  for (size_t i = 0; i < count && has_result; ++i) {
    long long expected = element(op, 0, i);
    for (int rank = 1; rank < world_size; ++rank) expected = fold(expected, element(op, rank, i));
    right &= type->load(result, i) == expected;
  }
  /* Memory beyond the result is unchanged, and the whole buffer on ranks without a result. */
  for (size_t i = has_result ? count * type->size : 0; i < (count + 1) * type->size; ++i) {
    right &= result[i] == 7;
  }
  check(right, op_name, type->name, (long long)count);
  free(result);
  free(own);
}

static void every_variant(MPI_Op op, const char* op_name, Fold* fold, const struct Type* type) {
  static const size_t counts[] = {0, 1, 5, 3001};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    for (int in_place = 0; in_place < 2; ++in_place) {
      reduce_by(op, op_name, fold, type, counts[i], -1, in_place);
      reduce_by(op, op_name, fold, type, counts[i], 0, in_place);
      reduce_by(op, op_name, fold, type, counts[i], world_size - 1,
                in_place && in_place_at(world_size - 1));
    }
  }
}

static void every_operation(void) {
  const struct Type types[] = {
      TYPE(MPI_SIGNED_CHAR, i8, kInteger, int8_t),
      TYPE(MPI_UNSIGNED_CHAR, u8, kInteger, uint8_t),
      TYPE(MPI_SHORT, i16, kInteger, int16_t),
      TYPE(MPI_UNSIGNED_SHORT, u16, kInteger, uint16_t),
      TYPE(MPI_INT, i32, kInteger, int32_t),
      TYPE(MPI_UNSIGNED, u32, kInteger, uint32_t),
      TYPE(MPI_LONG, long, kInteger, long),
      TYPE(MPI_INT64_T, i64, kInteger, int64_t),
      TYPE(MPI_UINT64_T, u64, kInteger, uint64_t),
      TYPE(MPI_AINT, aint, kAddress, MPI_Aint),
      TYPE(MPI_C_BOOL, bool, kTruth, _Bool),
      TYPE(MPI_BYTE, u8, kBytes, uint8_t),
      TYPE(MPI_FLOAT, float, kFloating, float),
      TYPE(MPI_DOUBLE, double, kFloating, double),
      TYPE(MPI_LONG_DOUBLE, wide, kFloating, long double),
      TYPE(MPI_C_FLOAT_COMPLEX, float_complex, kComplex, float complex),
      TYPE(MPI_C_DOUBLE_COMPLEX, double_complex, kComplex, double complex),
  };
  const struct {
    const char* name;
    MPI_Op op;
    Fold* fold;
    int kinds;
  } operations[] = {
      {"MPI_MAX", MPI_MAX, max_of, kInteger | kFloating | kAddress},
      {"MPI_MIN", MPI_MIN, min_of, kInteger | kFloating | kAddress},
      {"MPI_SUM", MPI_SUM, sum_of, kInteger | kFloating | kComplex | kAddress},
      {"MPI_PROD", MPI_PROD, product_of, kInteger | kFloating | kComplex | kAddress},
      {"MPI_LAND", MPI_LAND, both, kInteger | kTruth},
      {"MPI_LOR", MPI_LOR, either, kInteger | kTruth},
      {"MPI_LXOR", MPI_LXOR, one_of, kInteger | kTruth},
      {"MPI_BAND", MPI_BAND, bits_of_both, kInteger | kBytes | kAddress},
      {"MPI_BOR", MPI_BOR, bits_of_either, kInteger | kBytes | kAddress},
      {"MPI_BXOR", MPI_BXOR, bits_of_one, kInteger | kBytes | kAddress},
  };
  for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o) {
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
      if ((operations[o].kinds & types[t].kind) == 0) continue;
      every_variant(operations[o].op, operations[o].name, operations[o].fold, &types[t]);
    }
  }
}

/* MPI_MINLOC and MPI_MAXLOC: the extreme value, and the lowest rank that has it. */
#define PLACES(NAME, CTYPE, MPITYPE)                                                       \
  static void places_##NAME(int to_all) {                                                  \
    enum { kCount = 2500 };                                                                \
    struct Pair {                                                                          \
      CTYPE value;                                                                         \
      int rank;                                                                            \
    };                                                                                     \
    struct Pair* own = calloc(kCount, sizeof *own);                                        \
    struct Pair* result = calloc(kCount, sizeof *result);                                  \
    for (int largest = 0; largest < 2; ++largest) {                                        \
      const MPI_Op op = largest ? MPI_MAXLOC : MPI_MINLOC;                                 \
      for (int i = 0; i < kCount; ++i) {                                                   \
        own[i] = (struct Pair){(CTYPE)((i + 3 * world_rank) % 5), world_rank};             \
      }                                                                                    \
      if (to_all) {                                                                        \
        MPI_Allreduce(own, result, kCount, MPITYPE, op, MPI_COMM_WORLD);                   \
      } else {                                                                             \
        MPI_Reduce(own, result, kCount, MPITYPE, op, 1, MPI_COMM_WORLD);                   \
      }                                                                                    \
      int right = 1;                                                                       \
      for (int i = 0; i < kCount && (to_all || world_rank == 1); ++i) {                    \
        int best = 0;                                                                      \
        for (int rank = 1; rank < world_size; ++rank) {                                    \
          const int here = (i + 3 * rank) % 5;                                             \
          const int there = (i + 3 * best) % 5;                                            \
          if (largest ? here > there : here < there) best = rank;                          \
        }                                                                                  \
        right &= result[i].rank == best && result[i].value == (CTYPE)((i + 3 * best) % 5); \
      }                                                                                    \
      check(right, largest ? "MPI_MAXLOC" : "MPI_MINLOC", #MPITYPE, kCount);               \
    }                                                                                      \
    free(result);                                                                          \
    free(own);                                                                             \
  }
PLACES(int, int, MPI_2INT)
PLACES(short, short, MPI_SHORT_INT)
PLACES(float, float, MPI_FLOAT_INT)
PLACES(double, double, MPI_DOUBLE_INT)
PLACES(long, long, MPI_LONG_INT)

static void every_place(void) {
  for (int to_all = 0; to_all < 2; ++to_all) {
    places_int(to_all);
    places_short(to_all);
    places_float(to_all);
    places_double(to_all);
    places_long(to_all);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  every_operation();
  every_place();
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0 && all == 0) printf("all right\n");
  MPI_Finalize();
  return all != 0;
}
