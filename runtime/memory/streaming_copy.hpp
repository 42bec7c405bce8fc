// Copies of what nobody reads soon.
#pragma once

#include <cstddef>

namespace espalier::runtime {

// As std::memcpy, but where the processor can (x86-64) past its caches: `to` is neither read first
// nor takes another's place in them. In a ring (runtime/memory/host_ring.hpp) it also spares the
// writer from asking each processor that has read a line to forget it, which took five times as
// long as the copy in every other run.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace espalier::runtime
