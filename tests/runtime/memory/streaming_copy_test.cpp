#include "runtime/memory/streaming_copy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::runtime::streaming_copy_test {
namespace {

TEST(CopyPastCaches, CopiesExactlyTheBytesAtAnyAlignment) {
  constexpr std::size_t kRoom = 400;
  constexpr std::byte kUntouched{0xEE};
  std::vector<std::byte> source(kRoom);
  for (std::size_t i = 0; i < kRoom; ++i) source[i] = static_cast<std::byte>(i * 7 % 251);
  for (std::size_t from = 0; from < 20; ++from) {
    for (std::size_t to = 0; to < 70; ++to) {
      for (const std::size_t bytes :
           {0UL, 1UL, 15UL, 16UL, 63UL, 64UL, 65UL, 127UL, 128UL, 300UL}) {
        std::vector<std::byte> target(kRoom, kUntouched);
        copy_past_caches(&target[to], &source[from], bytes);
        for (std::size_t i = 0; i < kRoom; ++i) {
          const bool inside = i >= to && i < to + bytes;
          ASSERT_EQ(target[i], inside ? source[from + i - to] : kUntouched)
              << from << ' ' << to << ' ' << bytes << ' ' << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier::runtime::streaming_copy_test
