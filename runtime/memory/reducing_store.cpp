#include "runtime/memory/reducing_store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

ReducingStore::ReducingStore(const ReductionJob& job, std::span<const engine::TreeRole> roles,
                             std::span<const engine::TreeWindows> windows,
                             std::span<const std::uint64_t> ends, ScratchWindows& scratch)
    : job_(job), scratch_(scratch) {
  ScratchWindows::Rings rings;
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    combines_.push_back(roles[tree].combines);
    buffers_.emplace_back();
    if (combines_[tree]) {
      buffers_[tree] = engine::combining_buffers(windows[tree], job.keeps_result(tree));
    }
    auto& of_tree = rings.emplace_back();
    for (std::size_t in = 0; in < buffers_[tree].size(); ++in) {
      const bool needs_none = in == 0 && comes_to_result(tree);
      of_tree.push_back(needs_none ? 0 : std::min(buffers_[tree][in], ends[tree]));
    }
  }
  const std::uint64_t longest = std::min(job.grid.segment, job.grid.message);
  scratch_.reserve(rings, job.shape, std::max<std::uint64_t>(longest, 1));
}

void* ReducingStore::place_in(void* buffer, const engine::Segment& segment) const {
  return moved(buffer, static_cast<MPI_Aint>(segment.offset) * job_.shape.extent);
}

std::byte* ReducingStore::arrival_buffer_for(const engine::Segment& segment, std::size_t in) {
  void* const at = !combines_[segment.tree] || (in == 0 && comes_to_result(segment.tree))
                       ? place_in(job_.result, segment)
                       : scratch_.buffer_for(segment.tree, in, segment.nth);
  return static_cast<std::byte*>(at);
}

std::byte* ReducingStore::buffer_for(const engine::Segment& segment) {
  if (combines_[segment.tree] && buffers_[segment.tree].empty()) {
    return static_cast<std::byte*>(place_in(job_.own, segment));
  }
  if (job_.keeps_result(segment.tree)) {
    return static_cast<std::byte*>(place_in(job_.result, segment));
  }
  return arrival_buffer_for(segment, 0);
}

void ReducingStore::combine(const engine::Segment& segment, std::size_t in) {
  // The first in-edge's segment is where the sum is to be, unless the rank's own elements are.
  const bool is_there = job_.keeps_result(segment.tree) && is_in_place();
  const bool own_is_added = in == 0 && !is_there;
  const void* const added =
      own_is_added ? place_in(job_.own, segment) : arrival_buffer_for(segment, in);
  const int code = MPI_Reduce_local(added, buffer_for(segment), static_cast<int>(segment.length),
                                    job_.type, job_.op);
  if (code != MPI_SUCCESS) throw MpiError(code, fmt::format("combining segment {}", segment.index));
}

}  // namespace espalier::runtime
