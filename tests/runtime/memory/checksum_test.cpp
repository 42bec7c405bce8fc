#include "runtime/memory/checksum.hpp"

#include <gtest/gtest.h>

#include <array>

namespace espalier::runtime::checksum_test {
namespace {

constexpr std::array<std::byte, 4> kFirst = {std::byte{1}, std::byte{2}, std::byte{3},
                                             std::byte{4}};
constexpr std::array<std::byte, 4> kSecond = {std::byte{1}, std::byte{2}, std::byte{3},
                                              std::byte{5}};

TEST(MessageChecksum, DoesNotDependOnTheOrderOfArrival) {
  MessageChecksum forwards;
  forwards.add(0, kFirst);
  forwards.add(4, kSecond);
  MessageChecksum backwards;
  backwards.add(4, kSecond);
  backwards.add(0, kFirst);
  EXPECT_EQ(forwards.value(), backwards.value());
}

TEST(MessageChecksum, DetectsSwappedMissingAndChangedSegments) {
  MessageChecksum good;
  good.add(0, kFirst);
  good.add(4, kSecond);
  MessageChecksum swapped;
  swapped.add(4, kFirst);
  swapped.add(0, kSecond);
  EXPECT_NE(good.value(), swapped.value());
  MessageChecksum missing;
  missing.add(0, kFirst);
  EXPECT_NE(good.value(), missing.value());
  MessageChecksum changed;
  changed.add(0, kSecond);
  changed.add(4, kSecond);
  EXPECT_NE(good.value(), changed.value());
}

}  // namespace
}  // namespace espalier::runtime::checksum_test
