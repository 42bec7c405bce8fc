#include "runtime/api/library_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <vector>

#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/reduce_operation.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/choice.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {
namespace {

// act(offset in bytes, elements) for pieces that MPI's ints can count; also once for no elements.
template <class Act>
void in_pieces(std::size_t count, MPI_Datatype type, const Act& act) {
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  check(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  std::size_t done = 0;
  do {
    const int now = static_cast<int>(std::min<std::size_t>(count - done, INT_MAX));
    act(static_cast<MPI_Aint>(done) * extent, now);
    done += static_cast<std::size_t>(now);
  } while (done < count);
}

}  // namespace

std::string_view library_function(planner::Operation operation) {
  using planner::Operation;
  static constexpr std::array<Choice<Operation>, 9> kFunctions{
      {{"MPI_Bcast", Operation::kBroadcast},
       {"MPI_Reduce", Operation::kReduce},
       {"MPI_Allreduce", Operation::kAllreduce},
       {"MPI_Allgatherv", Operation::kAllgather},
       {"MPI_Reduce_scatter", Operation::kReduceScatter},
       {"MPI_Scatterv", Operation::kScatter},
       {"MPI_Gatherv", Operation::kGather},
       {"MPI_Alltoallv", Operation::kAlltoall},
       {"MPI_Barrier", Operation::kBarrier}}};
  return name_of(kFunctions, operation);
}

void broadcast_by_library(MPI_Comm comm, void* buffer, std::size_t count, MPI_Datatype type,
                          int root) {
  if (count == 0) return;
  in_pieces(count, type, [&](MPI_Aint from, int now) {
    check(MPI_Bcast(moved(buffer, from), now, type, root, comm), "MPI_Bcast");
  });
}

void reduce_by_library(MPI_Comm comm, planner::Operation operation, int root, const void* sendbuf,
                       void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op) {
  in_pieces(count, type, [&](MPI_Aint from, int now) {
    const void* const own =
        sendbuf == MPI_IN_PLACE ? sendbuf : moved(const_cast<void*>(sendbuf), from);
    void* const result = moved(recvbuf, from);
    if (planner::goes_both_ways(operation)) {
      check(MPI_Allreduce(own, result, now, type, op, comm), "MPI_Allreduce");
    } else {
      check(MPI_Reduce(own, result, now, type, op, root, comm), "MPI_Reduce");
    }
  });
}

void reduce_scatter_by_library(MPI_Comm comm, const void* sendbuf, void* recvbuf,
                               std::span<const std::size_t> counts, MPI_Datatype type, MPI_Op op) {
  std::vector<int> parts;
  for (const std::size_t count : counts) {
    if (count > INT_MAX) {
      throw InputError(fmt::format(
          "a part of {} elements, which MPI_Reduce_scatter cannot count; the operation or its type "
          "cannot go along trees",
          count));
    }
    parts.push_back(static_cast<int>(count));
  }
  check(MPI_Reduce_scatter(sendbuf, recvbuf, parts.data(), type, op, comm), "MPI_Reduce_scatter");
}

bool goes_along_trees(planner::Operation operation, MPI_Datatype type, MPI_Op op) {
  if (!operation_fault(type, op).empty()) return false;
  int commutes = 0;
  check(MPI_Op_commutative(op, &commutes), "MPI_Op_commutative");
  const ElementShape shape = element_shape_of(type);
  if (commutes == 0 || shape.extent <= 0 || shape.bytes == 0) return false;
  return !planner::goes_both_ways(operation) ||
         (shape.bytes <= kLargestSegment && is_plain(MPI_COMM_SELF, type));
}

}  // namespace espalier::runtime
