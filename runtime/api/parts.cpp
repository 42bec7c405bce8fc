#include "runtime/api/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/memory/checksum.hpp"

namespace espalier::runtime {

std::size_t Parts::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::uint64_t Parts::kind() const {
  return hash_of(std::as_bytes(counts)) >> 1U | 2U;
}

PlacedParts::PlacedParts(const Parts& given)
    : counts_(given.counts.begin(), given.counts.end()),
      first_(given.first.begin(), given.first.end()) {
  if (first_.empty()) first_ = one_after_another(counts_);
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

PartsInMemory::PartsInMemory(MPI_Comm comm, void* buffer, const Parts& parts, MPI_Datatype type,
                             const ElementShape& shape, bool is_copied)
    : comm_(comm), type_(type), shape_(shape), parts_(parts), element_bytes_(shape.bytes) {
  if (!is_copied && is_plain(comm, type)) {
    bytes_ = static_cast<std::byte*>(moved(buffer, shape.true_low));
    return;
  }
  dense_ = one_after_another(parts.counts);
  packer_.emplace(comm, buffer, type, element_bytes_);
  packed_ = std::make_unique_for_overwrite<std::byte[]>(parts.total() * element_bytes_);
  bytes_ = packed_.get();
}

void PartsInMemory::pack(std::size_t rank) const {
  if (packer_) packer_->pack(parts_.first[rank], parts_.counts[rank], bytes_ + offset(rank));
}

void PartsInMemory::pack_all() const {
  for (std::size_t rank = 0; rank < parts_.counts.size(); ++rank) pack(rank);
}

void PartsInMemory::unpack_all(std::optional<std::size_t> but) const {
  if (!packer_) return;
  for (std::size_t rank = 0; rank < dense_.size(); ++rank) {
    if (rank == but) continue;
    packer_->unpack(parts_.first[rank], parts_.counts[rank], bytes_ + offset(rank));
  }
}

void PartsInMemory::take(std::size_t rank, void* from) const {
  const std::size_t count = parts_.counts[rank];
  if (count * element_bytes_ == 0) return;
  std::byte* const to = bytes_ + offset(rank);
  if (packer_) {
    ElementPacker(comm_, from, type_, element_bytes_).pack(0, count, to);
    packer_->unpack(parts_.first[rank], count, to);
  } else {
    std::memcpy(to, moved(from, shape_.true_low), count * element_bytes_);
  }
}

}  // namespace espalier::runtime
