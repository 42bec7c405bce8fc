/* Tests of the C interface, compiled as C. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/api/espalier.h"

static int failures = 0;
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

/* Communicators that exist because of the library, which calls these functions. */
static int communicators = 0;
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  ++communicators;
  return PMPI_Comm_dup(comm, made);
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  ++communicators;
  return PMPI_Comm_idup(comm, made, request);
}
/* Whether ranks are taken to alternate between two hosts. */
static int pretends_hosts = 0;
static int world_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  ++communicators;
  if (pretends_hosts) return PMPI_Comm_split(comm, world_rank() % 2, key, made);
  return PMPI_Comm_split_type(comm, type, key, info, made);
}
/* Whether ranks are taken to be on hosts h0, h1, ... */
static int pretends_names = 0;
int MPI_Get_processor_name(char* name, int* length) {
  if (!pretends_names) return PMPI_Get_processor_name(name, length);
  *length = sprintf(name, "h%d", world_rank());
  return MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  return PMPI_Comm_free(comm);
}

/* A chain over `nodes` nodes in segments of 100 bytes. */
static char* chain(int nodes) {
  char* text = malloc(1000 + (size_t)nodes * 64);
  int i = 0;
  char* at = text;
  at += sprintf(at,
                "{\"format\": \"espalier-plan\", \"version\": 1, \"operation\": \"broadcast\","
                "\"platform\": \"p\", \"source\": \"n0\", \"model\": \"one-port\","
                "\"algorithm\": \"chain\", \"nodes\": [");
  for (i = 0; i < nodes; ++i) at += sprintf(at, "%s\"n%d\"", i == 0 ? "" : ", ", i);
  at += sprintf(at,
                "], \"slice_bytes\": 100, \"throughput_Bps\": 1, \"optimum_Bps\": null,"
                "\"broadcast_trees\": [{\"rate_Bps\": 1, \"edges\": [");
  for (i = 1; i < nodes; ++i) at += sprintf(at, "%s[%d, %d]", i == 1 ? "" : ", ", i - 1, i);
  sprintf(at, "]}]}");
  return text;
}

static void test_run(int rank, int ranks) {
  char* text = chain(ranks);
  espalier_broadcast* broadcast = NULL;
  double values[1000];
  int i = 0;
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, text, NULL, &broadcast) ==
         ESPALIER_OK);
  EXPECT(broadcast != NULL);
  EXPECT(strcmp(espalier_last_error(), "") == 0);
  EXPECT(espalier_broadcast_root(broadcast) == 0);
  for (i = 0; i < 1000; ++i) values[i] = rank == 0 ? i * 0.5 : -1;
  EXPECT(espalier_broadcast_run(broadcast, values, 1000, MPI_DOUBLE) == ESPALIER_OK);
  for (i = 0; i < 1000; ++i) EXPECT(values[i] == i * 0.5);
  espalier_broadcast_free(&broadcast);
  EXPECT(broadcast == NULL);
  espalier_broadcast_free(&broadcast);
  free(text);
}

/* The reversed chain, for a reduce; with `all`, also the chain down, for an allreduce. */
static char* reduce_chain(int nodes, int all) {
  char* down = chain(nodes);
  char* text = malloc(2000 + (size_t)nodes * 128);
  const char* trees = strstr(down, "\"broadcast_trees\"");
  int i = 0;
  char* at = text;
  strcpy(at, "{\"format\": \"espalier-plan\", \"version\": 1, \"operation\": \"");
  strcat(at, all ? "allreduce\"," : "reduce\",");
  strncat(at, strstr(down, "\"platform\""), (size_t)(trees - strstr(down, "\"platform\"")));
  at += strlen(at);
  at += sprintf(at, "\"reduce_trees\": [{\"rate_Bps\": 1, \"edges\": [");
  for (i = 1; i < nodes; ++i) at += sprintf(at, "%s[%d, %d]", i == 1 ? "" : ", ", i, i - 1);
  sprintf(at, "]}]%s%s", all ? ", " : "}", all ? trees : "");
  free(down);
  return text;
}

static void test_reduction(int rank, int ranks, int all) {
  char* text = reduce_chain(ranks, all);
  espalier_reduction* reduction = NULL;
  double own[1000];
  double sums[1000];
  int i = 0;
  EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, text, NULL, &reduction) ==
         ESPALIER_OK);
  EXPECT(strcmp(espalier_last_error(), "") == 0);
  EXPECT(espalier_reduction_root(reduction) == 0);
  for (i = 0; i < 1000; ++i) own[i] = i * 0.5 + rank;
  for (i = 0; i < 1000; ++i) sums[i] = -1;
  EXPECT(espalier_reduction_run(reduction, own, sums, 1000, MPI_DOUBLE, MPI_SUM) == ESPALIER_OK);
  for (i = 0; i < 1000; ++i) {
    EXPECT(sums[i] == (all || rank == 0 ? ranks * (i * 0.5) + ranks * (ranks - 1) / 2 : -1));
  }
  EXPECT(espalier_reduction_run(reduction, own, sums, 1000, MPI_DOUBLE, MPI_BOR) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "MPI_BOR is not defined") != NULL);
  espalier_reduction_free(&reduction);
  EXPECT(reduction == NULL);
  espalier_reduction_free(&reduction);
  free(text);
}

static void test_reduction_refusals(int ranks) {
  char* text = reduce_chain(ranks, 0);
  char* other = chain(ranks);
  espalier_broadcast* broadcast = NULL;
  espalier_reduction* reduction = NULL;
  espalier_options options = espalier_default_options();
  EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, other, NULL, &reduction) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "a plan for a broadcast") != NULL);
  options.rounds = 1;
  if (ranks > 1) {
    EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, text, &options, &reduction) ==
           ESPALIER_BAD_INPUT);
    EXPECT(strstr(espalier_last_error(), "/reduce_trees/0: rounds need colors") != NULL);
  }
  options.rounds = 0;
  options.schedule = 1;
  EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, text, &options, &reduction) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "this plan has no schedule") != NULL);
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, other, &options, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "this plan has no schedule") != NULL);
  options.schedule = 0;
  options.timeout_s = -1;
  EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, text, &options, &reduction) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "it must be finite and greater than 0") != NULL);
  EXPECT(espalier_reduction_create(MPI_COMM_WORLD, "/no/such/plan", NULL, &reduction) ==
         ESPALIER_BAD_INPUT);
  EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, NULL, NULL, &reduction) ==
         ESPALIER_BAD_INPUT);
  EXPECT(reduction == NULL);
  EXPECT(espalier_reduction_run(NULL, NULL, NULL, 0, MPI_INT, MPI_SUM) == ESPALIER_BAD_INPUT);
  EXPECT(espalier_reduction_root(NULL) == -1);
  espalier_reduction_free(NULL);
  free(text);
  free(other);
}

static void test_refusals(int ranks) {
  char* text = chain(ranks + 1);
  espalier_broadcast* broadcast = NULL;
  espalier_options options = espalier_default_options();
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, text, NULL, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(broadcast == NULL);
  EXPECT(strstr(espalier_last_error(), " rank") != NULL);
  EXPECT(espalier_broadcast_create(MPI_COMM_WORLD, "/no/such/plan", NULL, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "/no/such/plan") != NULL);
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, "{", NULL, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, NULL, NULL, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(espalier_broadcast_run(NULL, NULL, 0, MPI_INT) == ESPALIER_BAD_INPUT);
  EXPECT(espalier_broadcast_root(NULL) == -1);
  espalier_broadcast_free(NULL);
  free(text);

  text = chain(ranks);
  options.receives_in_flight = 0;
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, text, &options, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "window") != NULL);

  options = espalier_default_options();
  EXPECT(options.timeout_s == 0);
  options.timeout_s = -1;
  EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, text, &options, &broadcast) ==
         ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "timeout") != NULL);

  options = espalier_default_options();
  EXPECT(options.rounds == 0);
  options.rounds = 1;
  if (ranks > 1) {
    EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, text, &options, &broadcast) ==
           ESPALIER_BAD_INPUT);
    EXPECT(strstr(espalier_last_error(), "rounds need colors") != NULL);
  }
  free(text);
}

static int open_files(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) ++count;
  if (folder) closedir(folder);
  return count;
}

/* Nothing is left of plans that are made, run and freed; each has a communicator, and a ring in
 * shared memory. */
static void test_many(int rank, int ranks) {
  char* down = chain(ranks);
  char* up = reduce_chain(ranks, 1);
  espalier_options options = espalier_default_options();
  const int files = open_files();
  for (int i = 0; i < (ranks == 1 ? 5000 : 1000); ++i) {
    int value = rank == 0 ? i : -1;
    espalier_broadcast* broadcast = NULL;
    options.timeout_s = i % 3 == 0 ? 60 : 0;
    EXPECT(espalier_broadcast_create_from_text(MPI_COMM_WORLD, down, &options, &broadcast) ==
           ESPALIER_OK);
    EXPECT(espalier_broadcast_run(broadcast, &value, 1, MPI_INT) == ESPALIER_OK);
    EXPECT(value == i);
    espalier_broadcast_free(&broadcast);
    if (i % 10 == 0) {
      int sum = 0;
      espalier_reduction* reduction = NULL;
      EXPECT(espalier_reduction_create_from_text(MPI_COMM_WORLD, up, &options, &reduction) ==
             ESPALIER_OK);
      EXPECT(espalier_reduction_run(reduction, &value, &sum, 1, MPI_INT, MPI_SUM) == ESPALIER_OK);
      EXPECT(sum == ranks * i);
      espalier_reduction_free(&reduction);
    }
  }
  EXPECT(communicators == 0);
  EXPECT(open_files() == files);
  free(up);
  free(down);
}

/* espalier_options as a program has them that was compiled with an earlier, or a later, header. */
struct earlier_options {
  size_t size;
  size_t sends_in_flight;
  size_t receives_in_flight;
};
struct later_options {
  espalier_options known;
  long added;
};

/* Memory for `bytes`, after which nothing may be read or written. */
static void* before_a_wall(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const pages =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) abort();
  return pages + page - bytes;
}

static espalier_status create_with(const char* text, void* options) {
  espalier_broadcast* broadcast = NULL;
  const espalier_status status =
      espalier_broadcast_create_from_text(MPI_COMM_WORLD, text, options, &broadcast);
  EXPECT((status == ESPALIER_OK) == (broadcast != NULL));
  espalier_broadcast_free(&broadcast);
  return status;
}

static void test_options_of_other_versions(int ranks) {
  char* text = chain(ranks);
  struct earlier_options* earlier = before_a_wall(sizeof *earlier);
  struct later_options later;
  espalier_set_default_options((espalier_options*)earlier, sizeof *earlier);
  EXPECT(earlier->size == sizeof *earlier);
  EXPECT(earlier->sends_in_flight == espalier_default_options().sends_in_flight);
  EXPECT(create_with(text, earlier) == ESPALIER_OK);
  earlier->receives_in_flight = 0;
  EXPECT(create_with(text, earlier) == ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "window") != NULL);

  memset(&later, 1, sizeof later);
  espalier_set_default_options(&later.known, sizeof later);
  EXPECT(later.known.size == sizeof later);
  EXPECT(later.added == 0);
  EXPECT(create_with(text, &later) == ESPALIER_OK);
  later.added = 1;
  EXPECT(create_with(text, &later) == ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "the options are of a later version") != NULL);
  later.known.size = 0;
  EXPECT(create_with(text, &later) == ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "options.size is 0; start from") != NULL);
  free(text);
}

/* A ring for each root: its part goes round, or all ranks' copies of it come round to it. */
static char* rings(int nodes, int combine) {
  char* text = malloc(2000 + (size_t)(nodes * nodes) * 64);
  char* at = text;
  int root = 0;
  int i = 0;
  at +=
      sprintf(at,
              "{\"format\": \"espalier-plan\", \"version\": 2, \"operation\": \"%s\","
              "\"platform\": \"p\", \"model\": \"one-port\", \"algorithm\": \"ring\", \"nodes\": [",
              combine ? "reduce-scatter" : "allgather");
  for (i = 0; i < nodes; ++i) at += sprintf(at, "%s\"n%d\"", i == 0 ? "" : ", ", i);
  at += sprintf(at, "], \"segment_bytes\": 100, \"throughput_Bps\": %d, \"optimum_Bps\": null,",
                nodes);
  at += sprintf(at, "\"blocks\": [");
  for (root = 0; root < nodes; ++root) {
    at += sprintf(at, "%s{\"kind\": \"%s\", \"root\": %d, \"share\": %.17g, \"after\": null,",
                  root == 0 ? "" : ", ", combine ? "combine" : "spread", root, 1.0 / nodes);
    at += sprintf(at, "\"trees\": [{\"rate_Bps\": 1, \"edges\": [");
    for (i = 1; i < nodes; ++i) {
      at += sprintf(at, "%s[%d, %d]", i == 1 ? "" : ", ", (root + i - (combine ? 0 : 1)) % nodes,
                    (root + i - (combine ? 1 : 0)) % nodes);
    }
    at += sprintf(at, "]}]}");
  }
  sprintf(at, "]}");
  return text;
}

static void test_parts(int rank, int ranks) {
  enum { kCount = 50 };
  char* text = rings(ranks, 0);
  espalier_collective* collective = NULL;
  int* all = malloc((size_t)ranks * 2 * kCount * sizeof *all);
  size_t* counts = malloc((size_t)ranks * sizeof *counts);
  size_t* first = malloc((size_t)ranks * sizeof *first);
  int own[2 * kCount];
  int i = 0;
  EXPECT(espalier_collective_create_from_text(MPI_COMM_WORLD, text, NULL, &collective) ==
         ESPALIER_OK);
  for (i = 0; i < 2 * kCount; ++i) own[i] = rank * 1000 + i;
  EXPECT(espalier_allgather(collective, own, all, kCount, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) EXPECT(all[i] == i / kCount * 1000 + i % kCount);
  /* Parts of unlike lengths, in reverse order, and a gap of one element between them. */
  for (i = 0; i < ranks; ++i) {
    counts[i] = (size_t)(i % 3 * 10);
    first[i] = (size_t)((ranks - 1 - i) * (kCount + 1));
  }
  for (i = 0; i < ranks * (kCount + 1); ++i) all[i] = -1;
  EXPECT(espalier_allgatherv(collective, own, all, counts, first, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < ranks * (kCount + 1); ++i) {
    const int of = ranks - 1 - i / (kCount + 1);
    const int at = i % (kCount + 1);
    EXPECT(all[i] == (at < (int)counts[of] ? of * 1000 + at : -1));
  }
  EXPECT(espalier_allgatherv(collective, own, all, NULL, NULL, MPI_INT) == ESPALIER_BAD_INPUT);
  espalier_collective_free(&collective);
  EXPECT(collective == NULL);
  free(text);

  text = rings(ranks, 1);
  EXPECT(espalier_collective_create_from_text(MPI_COMM_WORLD, text, NULL, &collective) ==
         ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) all[i] = rank + i;
  EXPECT(espalier_reduce_scatter_block(collective, all, own, kCount, MPI_INT, MPI_SUM) ==
         ESPALIER_OK);
  for (i = 0; i < kCount; ++i) {
    EXPECT(own[i] == ranks * (ranks - 1) / 2 + ranks * (rank * kCount + i));
  }
  for (i = 0; i < ranks; ++i) counts[i] = i == ranks - 1 ? kCount : 0;
  for (i = 0; i < kCount; ++i) own[i] = -1;
  EXPECT(espalier_reduce_scatter(collective, all, own, counts, MPI_INT, MPI_MAX) == ESPALIER_OK);
  for (i = 0; i < kCount; ++i) EXPECT(own[i] == (rank == ranks - 1 ? ranks - 1 + i : -1));
  EXPECT(espalier_allgather(collective, own, all, 1, MPI_INT) == ESPALIER_BAD_INPUT);
  espalier_collective_free(&collective);
  free(text);
  free(all);
  free(counts);
  free(first);
}

/* A path for each part: round the ring to its receiver. root: of a scatter or a gather. */
static char* paths(int nodes, const char* operation, int root) {
  char* text = malloc(2000 + (size_t)(nodes * nodes) * (200 + (size_t)nodes * 20));
  char* at = text;
  const char* comma = "";
  int from = 0;
  int to = 0;
  int i = 0;
  at +=
      sprintf(at,
              "{\"format\": \"espalier-plan\", \"version\": 2, \"operation\": \"%s\","
              "\"platform\": \"p\", \"model\": \"one-port\", \"algorithm\": \"ring\", \"nodes\": [",
              operation);
  for (i = 0; i < nodes; ++i) at += sprintf(at, "%s\"n%d\"", i == 0 ? "" : ", ", i);
  at += sprintf(at, "], \"segment_bytes\": 100, \"throughput_Bps\": %d, \"optimum_Bps\": null,",
                nodes);
  at += sprintf(at, "\"blocks\": [");
  for (from = 0; from < nodes; ++from) {
    for (to = 0; to < nodes; ++to) {
      if (from == to || (strcmp(operation, "scatter") == 0 && from != root) ||
          (strcmp(operation, "gather") == 0 && to != root)) {
        continue;
      }
      at +=
          sprintf(at, "%s{\"kind\": \"route\", \"root\": %d, \"members\": [%d],", comma, from, to);
      at += sprintf(at, "\"share\": %.17g, \"after\": null, \"trees\": [{\"rate_Bps\": 1,",
                    1.0 / nodes);
      at += sprintf(at, "\"edges\": [");
      comma = "";
      for (i = from; i != to; i = (i + 1) % nodes) {
        at += sprintf(at, "%s[%d, %d]", comma, i, (i + 1) % nodes);
        comma = ", ";
      }
      at += sprintf(at, "]}]}");
      comma = ", ";
    }
  }
  sprintf(at, "]}");
  return text;
}

static espalier_collective* bound_to_paths(int ranks, const char* operation, int root) {
  char* text = paths(ranks, operation, root);
  espalier_collective* collective = NULL;
  EXPECT(espalier_collective_create_from_text(MPI_COMM_WORLD, text, NULL, &collective) ==
         ESPALIER_OK);
  free(text);
  return collective;
}

static void test_scatter_and_gather(int rank, int ranks) {
  enum { kCount = 50 };
  const int root = ranks - 1;
  espalier_collective* scatter = bound_to_paths(ranks, "scatter", root);
  espalier_collective* gather = bound_to_paths(ranks, "gather", root);
  int* all = malloc((size_t)ranks * kCount * sizeof *all);
  size_t* counts = malloc((size_t)ranks * sizeof *counts);
  size_t* first = malloc((size_t)ranks * sizeof *first);
  int own[kCount];
  int i = 0;
  EXPECT(espalier_collective_root(scatter) == root);
  EXPECT(espalier_collective_root(NULL) == -1);
  for (i = 0; i < ranks * kCount; ++i) all[i] = rank == root ? 7 * i : -1;
  EXPECT(espalier_scatter(scatter, all, own, kCount, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < kCount; ++i) EXPECT(own[i] == 7 * (rank * kCount + i));
  for (i = 0; i < ranks * kCount; ++i) all[i] = -1;
  EXPECT(espalier_gather(gather, own, all, kCount, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) EXPECT(all[i] == (rank == root ? 7 * i : -1));
  /* Parts of unlike lengths, in reverse order. */
  for (i = 0; i < ranks; ++i) {
    counts[i] = (size_t)(i % 3 * 10);
    first[i] = (size_t)((ranks - 1 - i) * kCount);
  }
  EXPECT(espalier_scatterv(scatter, all, own, counts, first, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < (int)counts[rank]; ++i) EXPECT(own[i] == 7 * ((int)first[rank] + i));
  for (i = 0; i < ranks * kCount; ++i) all[i] = -1;
  EXPECT(espalier_gatherv(gather, own, all, counts, first, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) {
    const int is_there = rank == root && i % kCount < (int)counts[ranks - 1 - i / kCount];
    EXPECT(all[i] == (is_there ? 7 * i : -1));
  }
  EXPECT(espalier_gatherv(gather, own, all, NULL, NULL, MPI_INT) == ESPALIER_BAD_INPUT);
  espalier_collective_free(&scatter);
  espalier_collective_free(&gather);
  free(all);
  free(counts);
  free(first);
}

static void test_alltoall(int rank, int ranks) {
  enum { kCount = 50 };
  espalier_collective* collective = bound_to_paths(ranks, "alltoall", 0);
  int* sent = malloc((size_t)ranks * kCount * sizeof *sent);
  int* received = malloc((size_t)ranks * kCount * sizeof *received);
  size_t* counts = malloc((size_t)ranks * sizeof *counts);
  size_t* first = malloc((size_t)ranks * sizeof *first);
  int i = 0;
  for (i = 0; i < ranks * kCount; ++i) sent[i] = rank * 1000 + i;
  EXPECT(espalier_alltoall(collective, sent, received, kCount, MPI_INT) == ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) {
    EXPECT(received[i] == i / kCount * 1000 + rank * kCount + i % kCount);
  }
  for (i = 0; i < ranks; ++i) {
    counts[i] = (size_t)((rank + i) % 4 * 10);
    first[i] = (size_t)(i * kCount);
  }
  for (i = 0; i < ranks * kCount; ++i) received[i] = -1;
  EXPECT(espalier_alltoallv(collective, sent, counts, first, received, counts, first, MPI_INT) ==
         ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) {
    const int is_there = i % kCount < (int)counts[i / kCount];
    EXPECT(received[i] == (is_there ? i / kCount * 1000 + rank * kCount + i % kCount : -1));
  }
  EXPECT(espalier_alltoallv(collective, MPI_IN_PLACE, NULL, NULL, sent, counts, first, MPI_INT) ==
         ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) {
    const int is_there = i % kCount < (int)counts[i / kCount];
    EXPECT(sent[i] ==
           (is_there ? i / kCount * 1000 + rank * kCount + i % kCount : rank * 1000 + i));
  }
  EXPECT(espalier_scatter(collective, sent, received, 1, MPI_INT) == ESPALIER_BAD_INPUT);
  espalier_collective_free(&collective);
  free(sent);
  free(received);
  free(counts);
  free(first);
}

/* A broadcast without a plan, from the last rank. */
/* An alltoall and an allreduce in progress at once. */
static void test_started(int rank, int ranks) {
  enum { kCount = 500 };
  espalier_collective* alltoall = bound_to_paths(ranks, "alltoall", 0);
  espalier_collective* allreduce = NULL;
  char* text = reduce_chain(ranks, 1);
  int* sent = malloc((size_t)ranks * kCount * sizeof *sent);
  int* received = malloc((size_t)ranks * kCount * sizeof *received);
  int sums[kCount];
  int is_complete = 0;
  int i = 0;
  EXPECT(espalier_collective_create_from_text(MPI_COMM_WORLD, text, NULL, &allreduce) ==
         ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) sent[i] = rank * 1000 + i;
  EXPECT(espalier_test(alltoall, &is_complete) == ESPALIER_OK && is_complete == 1);
  EXPECT(espalier_start(alltoall) == ESPALIER_OK);
  EXPECT(espalier_alltoall(alltoall, sent, received, kCount, MPI_INT) == ESPALIER_OK);
  EXPECT(espalier_alltoall(alltoall, sent, received, kCount, MPI_INT) == ESPALIER_BAD_INPUT);
  EXPECT(espalier_start(allreduce) == ESPALIER_OK);
  EXPECT(espalier_reduce(allreduce, sent, sums, kCount, MPI_INT, MPI_SUM) == ESPALIER_OK);
  for (is_complete = 0; !is_complete;) {
    EXPECT(espalier_test(alltoall, &is_complete) == ESPALIER_OK);
  }
  EXPECT(espalier_wait(allreduce) == ESPALIER_OK);
  EXPECT(espalier_wait(allreduce) == ESPALIER_OK);
  for (i = 0; i < ranks * kCount; ++i) {
    EXPECT(received[i] == i / kCount * 1000 + rank * kCount + i % kCount);
  }
  for (i = 0; i < kCount; ++i) EXPECT(sums[i] == ranks * (ranks - 1) / 2 * 1000 + ranks * i);
  EXPECT(espalier_start(NULL) == ESPALIER_BAD_INPUT);
  EXPECT(espalier_test(alltoall, NULL) == ESPALIER_BAD_INPUT);
  espalier_collective_free(&alltoall);
  espalier_collective_free(&allreduce);
  free(received);
  free(sent);
  free(text);
}

static void test_pull(int rank, int ranks) {
  enum { kInts = 100000 };
  const int root = ranks - 1;
  int* const all = malloc(kInts * sizeof *all);
  int i;
  for (i = 0; i < kInts; ++i) all[i] = rank == root ? 3 * i + 1 : -1;
  EXPECT(espalier_pull_bcast(MPI_COMM_WORLD, all, kInts, MPI_INT, root, 1000, 30) == ESPALIER_OK);
  for (i = 0; i < kInts; ++i) EXPECT(all[i] == 3 * i + 1);
  EXPECT(espalier_pull_bcast(MPI_COMM_WORLD, all, 1, MPI_INT, ranks, 0, 0) == ESPALIER_BAD_INPUT);
  EXPECT(strstr(espalier_last_error(), "there is no rank") != NULL);
  free(all);
}

/* The part of rank r has r + 100 ints, and begins 3 ints behind the one before it. */
static void test_pull_of_parts(int rank, int ranks) {
  size_t* const counts = malloc((size_t)ranks * sizeof *counts);
  size_t* const first = malloc((size_t)ranks * sizeof *first);
  size_t end = 0;
  int r;
  size_t i;
  int* all;
  for (r = 0; r < ranks; ++r) {
    counts[r] = (size_t)r + 100;
    first[r] = end + 3;
    end = first[r] + counts[r];
  }
  all = malloc(end * sizeof *all);
  for (i = 0; i < end; ++i) all[i] = -1;
  for (i = 0; i < counts[rank]; ++i) all[first[rank] + i] = rank * 1000 + (int)i;
  EXPECT(espalier_pull_allgatherv(MPI_COMM_WORLD, MPI_IN_PLACE, all, counts, first, MPI_INT, 128,
                                  30) == ESPALIER_OK);
  for (r = 0; r < ranks; ++r) {
    for (i = 0; i < counts[r]; ++i) EXPECT(all[first[r] + i] == r * 1000 + (int)i);
    for (i = 1; i <= 3; ++i) EXPECT(all[first[r] - i] == -1);
  }
  EXPECT(espalier_pull_allgatherv(MPI_COMM_WORLD, MPI_IN_PLACE, all, NULL, NULL, MPI_INT, 0, 0) ==
         ESPALIER_BAD_INPUT);
  free(all);
  free(first);
  free(counts);
}

static void test_reorder(int rank, int ranks) {
  const int before = communicators;
  const int on_first = (ranks + 1) / 2; /* ranks 0, 2, ... on the first host, then 1, 3, ... */
  MPI_Comm reordered = MPI_COMM_NULL;
  MPI_Errhandler handler;
  int place = -1;
  pretends_hosts = 1;
  EXPECT(espalier_reorder(MPI_COMM_WORLD, NULL, &reordered) == ESPALIER_OK);
  pretends_hosts = 0;
  EXPECT(communicators == before);
  MPI_Comm_rank(reordered, &place);
  EXPECT(place == (rank % 2 == 0 ? rank / 2 : on_first + rank / 2));
  MPI_Comm_get_errhandler(reordered, &handler);
  EXPECT(handler == MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&reordered);
  ++communicators; /* the test's own */
  EXPECT(espalier_reorder(MPI_COMM_WORLD, "no/such/file", &reordered) == ESPALIER_BAD_INPUT);
  EXPECT(reordered == MPI_COMM_NULL);
  EXPECT(strstr(espalier_last_error(), "no/such/file") != NULL);
  EXPECT(espalier_reorder(MPI_COMM_WORLD, NULL, NULL) == ESPALIER_BAD_INPUT);
}

#ifdef READS_SLURM
/* The hosts of even ranks are linked to one switch, the others to another. */
static void test_reorder_by_slurm(int rank, int ranks) {
  const char* const name = "c-interface-topology.conf";
  const int on_first = (ranks + 1) / 2;
  MPI_Comm reordered = MPI_COMM_NULL;
  int place = -1;
  if (rank == 0) {
    FILE* file = fopen(name, "w");
    int i = 0;
    int parity = 0;
    EXPECT(file != NULL);
    for (parity = 0; parity < 2; ++parity) {
      fprintf(file, "SwitchName=s%d Nodes=", parity);
      for (i = parity; i < ranks + 2; i += 2) fprintf(file, i > parity ? ",h%d" : "h%d", i);
      fprintf(file, "\n");
    }
    fprintf(file, "SwitchName=core Switches=s[0-1]\n");
    fclose(file);
  }
  pretends_names = 1;
  EXPECT(espalier_reorder(MPI_COMM_WORLD, name, &reordered) == ESPALIER_OK);
  pretends_names = 0;
  MPI_Comm_rank(reordered, &place);
  EXPECT(place == (rank % 2 == 0 ? rank / 2 : on_first + rank / 2));
  MPI_Comm_free(&reordered);
  ++communicators; /* the test's own */
  if (rank == 0) remove(name);
}
#endif

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  test_run(rank, ranks);
  if (ranks > 1) test_started(rank, ranks);
  test_many(rank, ranks);
  test_refusals(ranks);
  test_reduction(rank, ranks, 0);
  test_reduction(rank, ranks, 1);
  test_reduction_refusals(ranks);
  test_options_of_other_versions(ranks);
  test_parts(rank, ranks);
  if (ranks > 1) test_scatter_and_gather(rank, ranks);
  if (ranks > 1) test_alltoall(rank, ranks);
  test_pull(rank, ranks);
  test_pull_of_parts(rank, ranks);
  test_reorder(rank, ranks);
#ifdef READS_SLURM
  test_reorder_by_slurm(rank, ranks);
#endif
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
