// The C API of collectives along plans.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/api/c/guarded.hpp"
#include "runtime/api/espalier.h"
#include "runtime/api/reduction.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {

template <class Collective, class CollectiveOptions>
struct Handle {
  using Options = CollectiveOptions;
  Handle(MPI_Comm comm, const planner::Plan& plan, const Options& options)
      : collective(comm, plan, options) {}
  Collective collective;
};

}  // namespace espalier::runtime

struct espalier_broadcast
    : espalier::runtime::Handle<espalier::runtime::Broadcast, espalier::runtime::BroadcastOptions> {
  using Handle::Handle;
};

struct espalier_reduction
    : espalier::runtime::Handle<espalier::runtime::Reduction, espalier::runtime::ReductionOptions> {
  using Handle::Handle;
};

struct espalier_collective : espalier::runtime::Handle<espalier::runtime::Collective,
                                                       espalier::runtime::ReductionOptions> {
  using Handle::Handle;
  bool starts_next = false;
};

namespace {

namespace runtime = espalier::runtime;
using runtime::beginnings;
using runtime::guarded;
using runtime::require;

// A plan for another operation is refused where it is bound.
constexpr auto kAnyRoots = espalier::planner::Roots::kAny;

espalier_options default_options() {
  const runtime::BroadcastOptions defaults;
  return {.size = sizeof(espalier_options),
          .sends_in_flight = defaults.sends_in_flight,
          .receives_in_flight = defaults.receives_in_flight,
          .ports = defaults.ports,
          .mapping = ESPALIER_BY_ORDER,
          .direct_copies = defaults.direct_copies ? 1 : 0,
          .check_sizes = defaults.check_sizes ? 1 : 0,
          .rounds = defaults.rounds ? 1 : 0,
          .schedule = defaults.schedule ? 1 : 0,
          .slice_bytes = defaults.segment_bytes,
          .timeout_s = 0};
}

// The options of a caller whose struct may be shorter or longer than this library's.
espalier_options complete(const espalier_options* given) {
  constexpr std::size_t kOwn = sizeof(espalier_options);
  const std::size_t size = given->size;
  if (size < sizeof size) {
    throw espalier::InputError(fmt::format(
        "options.size is {}; start from espalier_default_options(), which sets it", size));
  }
  const std::span bytes(reinterpret_cast<const std::byte*>(given), size);
  const auto unknown = bytes.subspan(std::min(size, kOwn));
  if (std::ranges::any_of(unknown, [](std::byte byte) { return byte != std::byte{0}; })) {
    throw espalier::InputError(
        fmt::format("the options are of a later version: this library knows {} of their {} bytes, "
                    "and the others are not all 0",
                    kOwn, size));
  }
  espalier_options whole = default_options();
  std::memcpy(&whole, given, std::min(size, kOwn));
  return whole;
}

void set(runtime::CollectiveOptions& to, const espalier_options& from) {
  to.sends_in_flight = from.sends_in_flight;
  to.receives_in_flight = from.receives_in_flight;
  to.ports = from.ports;
  to.direct_copies = from.direct_copies != 0;
  to.check_sizes = from.check_sizes != 0;
  to.rounds = from.rounds != 0;
  to.schedule = from.schedule != 0;
  to.segment_bytes = from.slice_bytes;
  if (from.timeout_s != 0) to.timeout = espalier::Seconds{from.timeout_s};
  if (from.mapping == ESPALIER_BY_HOST_NAME) to.mapping = runtime::RankMapping::kByHostName;
}

// plan_of: returns the plan, given `source`.
template <class Handle, class PlanOf>
espalier_status create(MPI_Comm comm, const char* source, const espalier_options* options,
                       Handle** handle, const PlanOf& plan_of) noexcept {
  return guarded([&] {
    require(handle != nullptr && source != nullptr);
    *handle = nullptr;
    typename Handle::Options with;
    if (options != nullptr) set(with, complete(options));
    *handle = std::make_unique<Handle>(comm, plan_of(source), with).release();
  });
}

template <class Handle>
espalier_status create_from_file(MPI_Comm comm, const char* file, const espalier_options* options,
                                 Handle** handle) noexcept {
  return create(comm, file, options, handle,
                [comm](const char* name) { return runtime::share_plan(comm, name, kAnyRoots); });
}

template <class Handle>
espalier_status create_from_text(MPI_Comm comm, const char* json, const espalier_options* options,
                                 Handle** handle) noexcept {
  return create(comm, json, options, handle,
                [](const char* text) { return runtime::checked_plan(text, "<text>", kAnyRoots); });
}

template <class Handle, class... Arguments>
espalier_status run(Handle* handle, Arguments... arguments) noexcept {
  return guarded([&] {
    require(handle != nullptr);
    handle->collective.run(arguments...);
  });
}

// Calls act(collective), or starts that call.
template <class Act>
espalier_status run_or_start(espalier_collective* handle, const Act& act) noexcept {
  return guarded([&] {
    require(handle != nullptr);
    if (std::exchange(handle->starts_next, false)) {
      handle->collective.start(act);
    } else {
      act(handle->collective);
    }
  });
}
// Likewise act(collective, counts of the ranks).
template <class Act>
espalier_status run_with_counts(espalier_collective* handle, const size_t* counts,
                                const Act& act) noexcept {
  return run_or_start(handle, [&](runtime::Collective& collective) {
    require(counts != nullptr);
    act(collective, std::span(counts, collective.ranks()));
  });
}
template <class Act>
espalier_status run_with_count(espalier_collective* handle, size_t count, const Act& act) noexcept {
  return run_or_start(handle, [&](runtime::Collective& collective) {
    const std::vector<std::size_t> equal(collective.ranks(), count);
    act(collective, std::span(equal));
  });
}

template <class Handle>
int root_of(const Handle* handle) {
  return handle == nullptr ? -1 : handle->collective.root();
}

template <class Handle>
void free_handle(Handle** handle) {
  if (handle != nullptr) delete std::exchange(*handle, nullptr);
}

}  // namespace

extern "C" {

void espalier_set_default_options(espalier_options* options, size_t size) {
  espalier_options defaults = default_options();
  defaults.size = size;
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
}

// What every kind of handle has.
// NOLINTBEGIN(bugprone-macro-parentheses): KIND is a type
#define ESPALIER_HANDLE(KIND)                                                               \
  espalier_status KIND##_create(MPI_Comm comm, const char* plan_file,                       \
                                const espalier_options* options, KIND** handle) {           \
    return create_from_file(comm, plan_file, options, handle);                              \
  }                                                                                         \
  espalier_status KIND##_create_from_text(MPI_Comm comm, const char* plan_json,             \
                                          const espalier_options* options, KIND** handle) { \
    return create_from_text(comm, plan_json, options, handle);                              \
  }                                                                                         \
  int KIND##_root(const KIND* handle) {                                                     \
    return root_of(handle);                                                                 \
  }                                                                                         \
  void KIND##_free(KIND** handle) {                                                         \
    free_handle(handle);                                                                    \
  }
// NOLINTEND(bugprone-macro-parentheses)
ESPALIER_HANDLE(espalier_broadcast)
ESPALIER_HANDLE(espalier_reduction)
ESPALIER_HANDLE(espalier_collective)

espalier_status espalier_broadcast_run(espalier_broadcast* broadcast, void* buffer, size_t count,
                                       MPI_Datatype type) {
  return run(broadcast, buffer, count, type);
}

espalier_status espalier_reduction_run(espalier_reduction* reduction, const void* sendbuf,
                                       void* recvbuf, size_t count, MPI_Datatype type, MPI_Op op) {
  return run(reduction, sendbuf, recvbuf, count, type, op);
}

espalier_status espalier_bcast(espalier_collective* collective, void* buffer, size_t count,
                               MPI_Datatype type) {
  return run_or_start(collective,
                      [&](runtime::Collective& bound) { bound.run(buffer, count, type); });
}

espalier_status espalier_reduce(espalier_collective* collective, const void* sendbuf, void* recvbuf,
                                size_t count, MPI_Datatype type, MPI_Op op) {
  return run_or_start(collective, [&](runtime::Collective& bound) {
    bound.run(sendbuf, recvbuf, count, type, op);
  });
}

espalier_status espalier_allgather(espalier_collective* collective, const void* sendbuf,
                                   void* recvbuf, size_t count, MPI_Datatype type) {
  return run_with_count(collective, count, [&](auto& bound, auto counts) {
    bound.allgather(sendbuf, recvbuf, counts, {}, type);
  });
}

espalier_status espalier_allgatherv(espalier_collective* collective, const void* sendbuf,
                                    void* recvbuf, const size_t* counts, const size_t* first,
                                    MPI_Datatype type) {
  return run_with_counts(collective, counts, [&](auto& bound, auto of_ranks) {
    bound.allgather(sendbuf, recvbuf, of_ranks, beginnings(first, of_ranks.size()), type);
  });
}

espalier_status espalier_reduce_scatter_block(espalier_collective* collective, const void* sendbuf,
                                              void* recvbuf, size_t count, MPI_Datatype type,
                                              MPI_Op op) {
  return run_with_count(collective, count, [&](auto& bound, auto counts) {
    bound.reduce_scatter(sendbuf, recvbuf, counts, type, op);
  });
}

espalier_status espalier_reduce_scatter(espalier_collective* collective, const void* sendbuf,
                                        void* recvbuf, const size_t* counts, MPI_Datatype type,
                                        MPI_Op op) {
  return run_with_counts(collective, counts, [&](auto& bound, auto of_ranks) {
    bound.reduce_scatter(sendbuf, recvbuf, of_ranks, type, op);
  });
}

espalier_status espalier_scatter(espalier_collective* collective, const void* sendbuf,
                                 void* recvbuf, size_t count, MPI_Datatype type) {
  return run_with_count(collective, count, [&](auto& bound, auto counts) {
    bound.scatter(sendbuf, recvbuf, counts, {}, type);
  });
}

espalier_status espalier_scatterv(espalier_collective* collective, const void* sendbuf,
                                  void* recvbuf, const size_t* counts, const size_t* first,
                                  MPI_Datatype type) {
  return run_with_counts(collective, counts, [&](auto& bound, auto of_ranks) {
    bound.scatter(sendbuf, recvbuf, of_ranks, beginnings(first, of_ranks.size()), type);
  });
}

espalier_status espalier_gather(espalier_collective* collective, const void* sendbuf, void* recvbuf,
                                size_t count, MPI_Datatype type) {
  return run_with_count(collective, count, [&](auto& bound, auto counts) {
    bound.gather(sendbuf, recvbuf, counts, {}, type);
  });
}

espalier_status espalier_gatherv(espalier_collective* collective, const void* sendbuf,
                                 void* recvbuf, const size_t* counts, const size_t* first,
                                 MPI_Datatype type) {
  return run_with_counts(collective, counts, [&](auto& bound, auto of_ranks) {
    bound.gather(sendbuf, recvbuf, of_ranks, beginnings(first, of_ranks.size()), type);
  });
}

espalier_status espalier_alltoall(espalier_collective* collective, const void* sendbuf,
                                  void* recvbuf, size_t count, MPI_Datatype type) {
  return run_or_start(collective, [&](runtime::Collective& bound) {
    bound.alltoall(sendbuf, recvbuf, count, type);
  });
}

espalier_status espalier_alltoallv(espalier_collective* collective, const void* sendbuf,
                                   const size_t* sendcounts, const size_t* sendfirst, void* recvbuf,
                                   const size_t* recvcounts, const size_t* recvfirst,
                                   MPI_Datatype type) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  return run_with_counts(collective, recvcounts, [&](auto& bound, auto received) {
    require(in_place || sendcounts != nullptr);
    const std::size_t ranks = received.size();
    bound.alltoallv(sendbuf, in_place ? received : std::span(sendcounts, ranks),
                    beginnings(in_place ? nullptr : sendfirst, ranks), recvbuf, received,
                    beginnings(recvfirst, ranks), type);
  });
}

espalier_status espalier_barrier(espalier_collective* collective) {
  return run_or_start(collective, [](runtime::Collective& bound) { bound.barrier(); });
}

espalier_status espalier_start(espalier_collective* collective) {
  return guarded([&] {
    require(collective != nullptr);
    collective->starts_next = true;
  });
}

espalier_status espalier_test(espalier_collective* collective, int* is_complete) {
  return guarded([&] {
    require(collective != nullptr && is_complete != nullptr);
    *is_complete = collective->collective.test() ? 1 : 0;
  });
}

espalier_status espalier_wait(espalier_collective* collective) {
  return guarded([&] {
    require(collective != nullptr);
    collective->collective.wait();
  });
}

}  // extern "C"
