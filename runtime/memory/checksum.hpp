// Checksums of segments that arrive in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier::runtime {

// XXH3, 64 bits. Detects accidental damage, not tampering.
std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// The sum (modulo 2^64) of the segments' hashes, each seeded with the segment's offset. It does not
// depend on the order of arrival, but changes if two segments are swapped.
class MessageChecksum {
 public:
  // so_far: checksum of the segments that are already present.
  explicit MessageChecksum(std::uint64_t so_far = 0) : sum_(so_far) {}
  void add(std::uint64_t offset, std::span<const std::byte> segment) {
    sum_ += hash_of(segment, offset);
  }
  [[nodiscard]] std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_;
};

}  // namespace espalier::runtime
