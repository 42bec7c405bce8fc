// Checksums of slices that arrive in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier::runtime {

// XXH3, 64 bits. Finds damage, not malice.
std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// The sum (modulo 2^64) of the slices' hashes, each seeded with the slice's place: the same
// whatever the order in which slices come, another when two of them are swapped.
class MessageChecksum {
 public:
  void add(std::uint64_t offset, std::span<const std::byte> slice) {
    sum_ += hash_of(slice, offset);
  }
  [[nodiscard]] std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace espalier::runtime
