// The C API without plans, and its last failure.
#include "runtime/api/c/guarded.hpp"
#include "runtime/pull/pull_collective.hpp"
#include "runtime/topology/rank_order.hpp"
#include "runtime/transport/comm_facts.hpp"

namespace espalier::runtime {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

}  // namespace espalier::runtime

namespace {

namespace runtime = espalier::runtime;
using runtime::beginnings;
using runtime::guarded;
using runtime::require;

runtime::PullOptions pull_options(uint64_t segment_bytes, double timeout_s) {
  runtime::PullOptions options{.segment_bytes = segment_bytes};
  if (!(timeout_s >= 0)) throw espalier::InputError("timeout_s is not 0 or more");
  if (timeout_s > 0) options.timeout = espalier::Seconds{timeout_s};
  return options;
}

}  // namespace

extern "C" {

espalier_status espalier_pull_bcast(MPI_Comm comm, void* buffer, size_t count, MPI_Datatype type,
                                    int root, uint64_t segment_bytes, double timeout_s) {
  return guarded([&] {
    runtime::pull_broadcast(comm, buffer, count, type, root,
                            pull_options(segment_bytes, timeout_s));
  });
}

espalier_status espalier_pull_allgatherv(MPI_Comm comm, const void* sendbuf, void* recvbuf,
                                         const size_t* counts, const size_t* first,
                                         MPI_Datatype type, uint64_t segment_bytes,
                                         double timeout_s) {
  return guarded([&] {
    require(counts != nullptr);
    const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
    runtime::pull_allgather(comm, sendbuf, recvbuf, {counts, ranks}, beginnings(first, ranks), type,
                            pull_options(segment_bytes, timeout_s));
  });
}

espalier_status espalier_reorder(MPI_Comm comm, const char* groups_file, MPI_Comm* reordered) {
  return guarded([&] {
    require(reordered != nullptr);
    *reordered = runtime::reordered_comm(comm, groups_file == nullptr ? "" : groups_file);
  });
}

const char* espalier_last_error(void) {
  return runtime::last_error().c_str();
}

}  // extern "C"
