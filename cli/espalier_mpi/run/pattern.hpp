// The bytes of a test message: each depends on its place and on the round, so that a segment in a
// wrong place, a segment of the round before or a missing one shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace espalier::cli {

// The eight bytes at `index` times eight.
std::uint64_t pattern_word(std::uint64_t index, std::uint64_t round);

void fill_with_pattern(std::span<std::byte> message, std::uint64_t round);

struct Mismatch {
  std::uint64_t offset;  // of the first wrong byte
  unsigned expected;
  unsigned got;
};
std::optional<Mismatch> find_mismatch(std::span<const std::byte> message, std::uint64_t round);
// The same in words: "byte 3 of 10 is 0x05, not 0x06".
std::optional<std::string> find_fault(std::span<const std::byte> message, std::uint64_t round);

}  // namespace espalier::cli
