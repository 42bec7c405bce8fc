// The check of received bytes detects errors in segments.
#include "cli/espalier_mpi/run/pattern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace espalier::cli::pattern_test {
namespace {

std::vector<std::byte> message_of(std::size_t bytes, std::uint64_t round) {
  std::vector<std::byte> message(bytes);
  fill_with_pattern(message, round);
  return message;
}

// The end of the message if nothing is wrong.
std::size_t first_wrong(const std::vector<std::byte>& message, std::uint64_t round) {
  const auto fault = find_fault(message, round);
  return fault ? std::stoul(fault->substr(std::string("byte ").size())) : message.size();
}

TEST(Pattern, AcceptsAnySize) {
  for (std::size_t bytes = 0; bytes < 100; ++bytes) {
    EXPECT_FALSE(find_fault(message_of(bytes, 3), 3)) << bytes;
  }
}

TEST(Pattern, NamesEverySingleWrongByte) {
  for (std::size_t at = 0; at < 101; ++at) {
    std::vector<std::byte> message = message_of(101, 0);
    const auto right = std::to_integer<unsigned>(message[at]);
    message[at] ^= std::byte{0x10};
    EXPECT_EQ(find_fault(message, 0),
              fmt::format("byte {} of 101 is {:#04x}, not {:#04x}", at, right ^ 0x10U, right));
  }
}

TEST(Pattern, DetectsSwappedSegments) {
  for (const std::size_t segment : {8UL, 64UL, 4096UL, 65536UL}) {
    std::vector<std::byte> message = message_of(4 * segment, 0);
    std::swap_ranges(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(segment),
                     message.begin() + static_cast<std::ptrdiff_t>(2 * segment));
    EXPECT_LT(first_wrong(message, 0), 8U) << segment;
  }
}

TEST(Pattern, DetectsASegmentOfThePreviousRound) {
  std::vector<std::byte> message = message_of(1000, 1);
  const std::vector<std::byte> before = message_of(1000, 0);
  std::copy(before.begin() + 504, before.begin() + 600, message.begin() + 504);
  EXPECT_GE(first_wrong(message, 1), 504U);
  EXPECT_LT(first_wrong(message, 1), 512U);
}

}  // namespace
}  // namespace espalier::cli::pattern_test
