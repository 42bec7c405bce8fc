// The calls of a collective whose blocks combine.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "runtime/api/collective_state.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/memory/reduce_operation.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

using planner::Operation;

std::uint64_t Collective::State::segment_elements(std::uint64_t message,
                                                  std::uint64_t element) const {
  return std::max<std::uint64_t>(bound.segment_of(message) / element, 1);
}

std::string Collective::State::fault_of(const void* sendbuf, std::size_t count, MPI_Datatype type,
                                        MPI_Op op) const {
  if (type == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL is not a type";
  if (std::string fault = operation_fault(type, op); !fault.empty()) return fault;
  if (sendbuf == MPI_IN_PLACE && !bound.has_parts() && !bound.has_result()) {
    return "MPI_IN_PLACE on a rank that is not the root";
  }
  const ElementShape shape = element_shape_of(type);
  const auto extent = static_cast<std::size_t>(std::max<MPI_Aint>(shape.extent, 0));
  return size_fault(count, std::max(extent, shape.bytes));
}

void Collective::State::reduce(const void* sendbuf, void* recvbuf, std::size_t count,
                               MPI_Datatype type, MPI_Op op) {
  if (const std::string fault = fault_of(sendbuf, count, type, op); !fault.empty()) refuse(fault);
  const ElementShape shape = element_shape_of(type);
  const Operation operation = bound.plan.operation;
  const bool along_trees = bound.plan.nodes.size() > 1 && goes_along_trees(operation, type, op);
  const std::uint64_t bytes = count * shape.bytes;
  call.emplace(bytes, reduction_kind(type, op) + (along_trees ? 1 : 0));
  if (!along_trees) {
    judge_call();
    return reduce_by_library(bound.comm.get(), operation, bound.root, sendbuf, recvbuf, count, type,
                             op);
  }
  void* const own = sendbuf == MPI_IN_PLACE ? recvbuf : const_cast<void*>(sendbuf);
  const engine::SegmentGrid grid{count, segment_elements(bytes, shape.bytes)};
  reduce_along_trees({shape, type, op, grid, own, bound.has_result() ? recvbuf : nullptr},
                     engine::ranges_of(bound.plan, grid), bytes);
}

void Collective::State::reduce_along_trees(const ReductionJob& job,
                                           std::span<const engine::Range> ranges,
                                           std::uint64_t bytes, std::function<void()> finish) {
  // An element may be larger than a segment, and than what MPI sends eagerly.
  const engine::Message message{.element_bytes = job.shape.bytes,
                                .is_risky = job.grid.segment == 1};
  std::shared_ptr<ReducingStore> store;
  // A ring's cells hold the bytes of any part of a segment.
  const bool may_use_rings =
      uses_rings && job.shape.true_low == 0 && is_plain(bound.comm.get(), job.type);
  MpiEngine& by = engine_for(may_use_rings);
  try {
    by.prepare(message, ranges,
               {job.type, job.shape.bytes, bytes, bound.options.check_sizes ? &*call : nullptr});
    std::vector<std::uint64_t> ends;
    for (std::size_t tree = 0; tree < by.transport.roles().size(); ++tree) {
      ends.push_back(by.flows.segments_of(tree));
    }
    store = std::make_shared<ReducingStore>(job, by.transport.roles(), by.transport.windows(), ends,
                                            scratch);
  } catch (const std::bad_alloc&) {
    refuse(fmt::format("rank {}: no memory for the windows of segments of {} bytes", bound.rank,
                       job.grid.segment * job.shape.bytes));
  }
  carry_out({&by, std::move(store), std::move(finish)});
}

void Collective::State::reduce_scatter(const void* sendbuf, void* recvbuf, const Parts& parts,
                                       MPI_Datatype type, MPI_Op op) {
  const std::size_t count = parts.total();
  if (const std::string fault = fault_of(sendbuf, count, type, op); !fault.empty()) refuse(fault);
  const ElementShape shape = element_shape_of(type);
  if (const std::string fault = parts_fault(parts, bound, shape); !fault.empty()) {
    refuse(fault);
  }
  const bool along_trees =
      bound.plan.nodes.size() > 1 && goes_along_trees(Operation::kReduceScatter, type, op);
  const std::uint64_t bytes = count * shape.bytes;
  call.emplace(bytes, ((parts.kind() ^ reduction_kind(type, op)) | 2U) * 2 + (along_trees ? 1 : 0));
  if (!along_trees) {
    judge_call();
    return reduce_scatter_by_library(bound.comm.get(), sendbuf, recvbuf, parts.counts, type, op);
  }
  const auto here = static_cast<std::size_t>(bound.rank);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const auto before = static_cast<MPI_Aint>(parts.first[here]) * shape.extent;
  void* const own = in_place ? recvbuf : const_cast<void*>(sendbuf);
  const std::uint64_t segment = segment_elements(bytes, shape.bytes);
  ReductionJob job{
      shape, type, op, {count, segment}, own, in_place ? recvbuf : moved(recvbuf, -before)};
  for (const engine::TreeRole& role : engine->transport.roles()) {
    job.keeps.push_back(role.out.empty());  // the root of a tree sends nothing
  }
  std::function<void()> finish;
  if (in_place) {
    finish = [=, length = parts.counts[here]] {
      move_elements(moved(recvbuf, before), recvbuf, length, shape);
    };
  }
  reduce_along_trees(job, ranges_of(bound, parts, 1, segment), bytes, std::move(finish));
}

}  // namespace espalier::runtime
