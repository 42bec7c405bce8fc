#include "cli/espalier_mpi/run/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace espalier::cli {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

// Fibonacci hashing, folded, so that the low bytes depend on all of the index.
std::uint64_t pattern_word(std::uint64_t index, std::uint64_t round) {
  const std::uint64_t mixed = (index + (round + 1) * 0xD1B54A32D192ED03ULL) * 0x9E3779B97F4A7C15ULL;
  return mixed ^ (mixed >> 32);
}

void fill_with_pattern(std::span<std::byte> message, std::uint64_t round) {
  for (std::size_t at = 0; at < message.size(); at += kWord) {
    const std::uint64_t word = pattern_word(at / kWord, round);
    std::memcpy(&message[at], &word, std::min(kWord, message.size() - at));
  }
}

void fill_with_poison(std::span<std::byte> message, int rank) {
  std::ranges::fill(message, static_cast<std::byte>(0xA5 ^ rank));
}

std::optional<std::string> find_fault(std::span<const std::byte> message, std::uint64_t round) {
  for (std::size_t at = 0; at < message.size(); at += kWord) {
    const std::uint64_t word = pattern_word(at / kWord, round);
    const std::size_t bytes = std::min(kWord, message.size() - at);
    if (std::memcmp(&message[at], &word, bytes) == 0) continue;
    const auto expected = std::as_bytes(std::span(&word, 1));
    std::size_t i = 0;
    while (message[at + i] == expected[i]) ++i;
    return fmt::format("byte {} of {} is {:#04x}, not {:#04x}", at + i, message.size(),
                       std::to_integer<unsigned>(message[at + i]),
                       std::to_integer<unsigned>(expected[i]));
  }
  return {};
}

}  // namespace espalier::cli
