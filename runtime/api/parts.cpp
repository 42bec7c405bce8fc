#include "runtime/api/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/memory/checksum.hpp"
#include "runtime/memory/stores.hpp"

namespace espalier::runtime {

std::size_t Parts::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::uint64_t Parts::kind() const {
  return hash_of(std::as_bytes(counts)) >> 1U | 2U;
}

std::vector<std::size_t> divided(std::uint64_t units, std::span<const double> shares) {
  std::size_t last = shares.size() - 1;  // it gets what rounding leaves
  while (last > 0 && shares[last] == 0) --last;
  std::vector<std::size_t> counts(shares.size(), 0);
  double sum = 0;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    if (shares[i] == 0) continue;
    sum += shares[i];
    const auto rounded = static_cast<std::uint64_t>(std::round(sum * static_cast<double>(units)));
    const std::uint64_t to = i == last ? units : std::clamp(rounded, end, units);
    counts[i] = to - std::exchange(end, to);
  }
  return counts;
}

std::vector<std::size_t> one_after_another(std::span<const std::size_t> counts) {
  std::vector<std::size_t> first(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), first.begin(), std::size_t{0});
  return first;
}

std::string parts_fault(const Parts& parts, std::size_t ranks, const ElementShape& shape) {
  for (const auto& list : {parts.counts, parts.first}) {
    if (list.size() == ranks) continue;
    return fmt::format("{} parts for {} ranks", list.size(), ranks);
  }
  const auto extent = static_cast<std::size_t>(std::max<MPI_Aint>(shape.extent, 1));
  const std::size_t most =
      std::numeric_limits<std::size_t>::max() / 2 / std::max(extent, shape.bytes);
  std::size_t total = 0;
  for (std::size_t rank = 0; rank < parts.counts.size(); ++rank) {
    if (parts.counts[rank] > most - total || parts.first[rank] > most - parts.counts[rank]) {
      return fmt::format("the part of rank {} exceeds the address space", rank);
    }
    total += parts.counts[rank];
  }
  return {};
}

std::string parts_fault(const Parts& parts, const BoundPlan& bound, const ElementShape& shape) {
  if (std::string fault = parts_fault(parts, bound.comm.size(), shape); !fault.empty()) {
    return fault;
  }
  const std::vector<double> shares = planner::shares_of(bound.plan);
  for (std::size_t node = 0; node < shares.size(); ++node) {
    const auto rank = static_cast<std::size_t>(bound.rank_of_node[node]);
    if (shares[node] > 0 || parts.counts[rank] == 0) continue;
    return fmt::format("rank {} has {}, but no share in the plan", rank,
                       counted(parts.counts[rank], "element"));
  }
  return {};
}

std::vector<engine::Range> ranges_of(const BoundPlan& bound, const Parts& parts,
                                     std::uint64_t element_units, std::uint64_t segment_units) {
  std::vector<engine::Range> ranges;
  for (const planner::PlanBlock& block : bound.plan.blocks) {
    const auto rank = static_cast<std::size_t>(bound.rank_of_node[block.root]);
    ranges.push_back(
        {parts.first[rank] * element_units, {parts.counts[rank] * element_units, segment_units}});
  }
  return ranges;
}

std::vector<engine::Range> ranges_of(const BoundPlan& bound, const engine::SegmentGrid& grid) {
  const std::vector<planner::PlanTrees> blocks = planner::blocks_of(bound.plan);
  std::vector<double> shares;  // a block after another one has the same part
  for (const planner::PlanTrees& block : blocks) shares.push_back(block.after ? 0 : block.share);
  const std::vector<std::size_t> counts = divided(grid.message, shares);
  const std::vector<std::size_t> first = one_after_another(counts);
  std::vector<engine::Range> ranges;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& after = blocks[i].after;
    ranges.push_back(after ? ranges[*after] : engine::Range{first[i], {counts[i], grid.segment}});
  }
  return ranges;
}

GatheredParts::GatheredParts(MPI_Comm comm, const void* sendbuf, void* recvbuf, const Parts& parts,
                             int rank, MPI_Datatype type, const ElementShape& shape)
    : comm_(comm),
      recvbuf_(recvbuf),
      parts_(parts),
      rank_(rank),
      type_(type),
      element_bytes_(shape.bytes),
      first_(parts.first.begin(), parts.first.end()) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const auto own = static_cast<std::size_t>(rank);
  void* const sent = const_cast<void*>(sendbuf);
  if (is_plain(comm, type)) {
    bytes_ = static_cast<std::byte*>(moved(recvbuf, shape.true_low));
    const std::size_t size = parts.counts[own] * element_bytes_;
    if (in_place || size == 0) return;
    std::memcpy(bytes_ + first_[own] * element_bytes_, moved(sent, shape.true_low), size);
    return;
  }
  first_ = one_after_another(parts.counts);
  packed_ = std::make_unique_for_overwrite<std::byte[]>(parts.total() * element_bytes_);
  bytes_ = packed_.get();
  const ElementPacker packer(comm, in_place ? recvbuf : sent, type, element_bytes_);
  std::byte* const to = bytes_ + first_[own] * element_bytes_;
  packer.pack(in_place ? parts.first[own] : 0, parts.counts[own], to);
  if (!in_place) {
    ElementPacker(comm, recvbuf, type, element_bytes_)
        .unpack(parts.first[own], parts.counts[own], to);
  }
}

void GatheredParts::unpack() const {
  if (!packed_) return;
  const ElementPacker packer(comm_, recvbuf_, type_, element_bytes_);
  for (std::size_t rank = 0; rank < first_.size(); ++rank) {
    if (rank == static_cast<std::size_t>(rank_)) continue;
    packer.unpack(parts_.first[rank], parts_.counts[rank], bytes_ + first_[rank] * element_bytes_);
  }
}

}  // namespace espalier::runtime
