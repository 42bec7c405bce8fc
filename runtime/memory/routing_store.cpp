#include "runtime/memory/routing_store.hpp"

#include <algorithm>

namespace espalier::runtime {

RoutingStore::RoutingStore(const RoutedBytes& bytes, std::span<const engine::TreeRole> roles,
                           std::span<const engine::TreeWindows> windows,
                           std::span<const std::uint64_t> ends, std::uint64_t segment,
                           ScratchWindows& scratch)
    : bytes_(bytes), roles_(roles), scratch_(scratch) {
  ScratchWindows::Rings rings;
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    buffers_.push_back(engine::routing_buffers(roles[tree], windows[tree], ends[tree]));
    rings.push_back({buffers_.back()});
  }
  constexpr ElementShape kOneByte{.bytes = 1, .extent = 1, .true_low = 0, .true_span = 1};
  scratch_.reserve(rings, kOneByte, std::max<std::uint64_t>(segment, 1));
}

std::byte* RoutingStore::buffer_for(const engine::Segment& segment) {
  const engine::TreeRole& role = roles_[segment.tree];
  if (role.passes_on()) {
    return static_cast<std::byte*>(scratch_.buffer_for(segment.tree, 0, segment.nth));
  }
  return (role.in.empty() ? bytes_.sent : bytes_.received) + segment.offset;
}

std::uint64_t RoutingStore::capacity(std::size_t tree, std::size_t /*in*/) const {
  return roles_[tree].passes_on() ? buffers_[tree] : UINT64_MAX;
}

}  // namespace espalier::runtime
