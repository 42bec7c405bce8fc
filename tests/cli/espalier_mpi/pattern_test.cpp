// The check of received bytes detects errors in segments.
#include "cli/espalier_mpi/run/pattern.hpp"

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

TEST(Pattern, AcceptsAnySize) {
  for (std::size_t bytes = 0; bytes < 100; ++bytes) {
    EXPECT_FALSE(find_mismatch(message_of(bytes, 3), 3)) << bytes;
  }
}

TEST(Pattern, NamesEverySingleWrongByte) {
  for (std::size_t at = 0; at < 101; ++at) {
    std::vector<std::byte> message = message_of(101, 0);
    const auto right = std::to_integer<unsigned>(message[at]);
    message[at] ^= std::byte{0x10};
    const auto wrong = find_mismatch(message, 0);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->offset, at);
    EXPECT_EQ(wrong->expected, right);
    EXPECT_EQ(wrong->got, right ^ 0x10U);
  }
}

TEST(Pattern, DetectsSwappedSegments) {
  for (const std::size_t segment : {8UL, 64UL, 4096UL, 65536UL}) {
    std::vector<std::byte> message = message_of(4 * segment, 0);
    std::swap_ranges(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(segment),
                     message.begin() + static_cast<std::ptrdiff_t>(2 * segment));
    ASSERT_TRUE(find_mismatch(message, 0)) << segment;
    EXPECT_LT(find_mismatch(message, 0)->offset, 8U);
  }
}

TEST(Pattern, DetectsASegmentOfThePreviousRound) {
  std::vector<std::byte> message = message_of(1000, 1);
  const std::vector<std::byte> before = message_of(1000, 0);
  std::copy(before.begin() + 504, before.begin() + 600, message.begin() + 504);
  const auto wrong = find_mismatch(message, 1);
  ASSERT_TRUE(wrong);
  EXPECT_GE(wrong->offset, 504U);
  EXPECT_LT(wrong->offset, 512U);
}

}  // namespace
}  // namespace espalier::cli::pattern_test
