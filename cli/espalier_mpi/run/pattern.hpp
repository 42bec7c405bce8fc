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
// What must be overwritten by what this rank receives.
void fill_with_poison(std::span<std::byte> message, int rank);

// The first wrong byte in words: "byte 3 of 10 is 0x05, not 0x06".
std::optional<std::string> find_fault(std::span<const std::byte> message, std::uint64_t round);

}  // namespace espalier::cli
