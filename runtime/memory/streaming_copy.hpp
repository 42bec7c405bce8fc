// Copies of data that will not be read soon.
#pragma once

#include <cstddef>

namespace espalier::runtime {

// As std::memcpy, but bypasses the caches where the processor can (x86-64): `to` is not read first
// and does not evict other data. In a ring (runtime/memory/host_ring.hpp) it also avoids
// invalidating the line in the caches of all readers, which took five times as long as the copy in
// every other run.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace espalier::runtime
