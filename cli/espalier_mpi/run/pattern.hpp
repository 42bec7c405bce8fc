// The bytes of a test message. Each depends on its offset and on the round, so that misplaced and
// missing segments and segments of the previous round are detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace espalier::cli {

// The eight bytes at offset 8 * `index`.
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
