// The store of a call whose parts are routed: what this rank sends, what it receives, and small
// rings of buffers for what it only forwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/segments.hpp"
#include "engine/tree_role.hpp"
#include "engine/windows.hpp"
#include "runtime/memory/scratch_windows.hpp"

namespace espalier::runtime {

// Parts as consecutive bytes. The offsets of a tree's segments are those in `sent` if this rank
// sends it, in `received` if it receives it.
struct RoutedBytes {
  std::byte* sent;
  std::byte* received;
};

class RoutingStore : public engine::SegmentStore {
 public:
  // roles: this rank's. windows: of the message. ends: the number of segments of each tree.
  // segment: bytes of the longest. scratch: for this object alone. Throws std::bad_alloc.
  RoutingStore(const RoutedBytes& bytes, std::span<const engine::TreeRole> roles,
               std::span<const engine::TreeWindows> windows, std::span<const std::uint64_t> ends,
               std::uint64_t segment, ScratchWindows& scratch);

  std::byte* buffer_for(const engine::Segment& segment) override;
  [[nodiscard]] std::uint64_t capacity(std::size_t tree, std::size_t in) const override;

 private:
  RoutedBytes bytes_;
  std::span<const engine::TreeRole> roles_;
  ScratchWindows& scratch_;
  std::vector<std::uint64_t> buffers_;  // of each tree; 0: not one that is forwarded
};

}  // namespace espalier::runtime
