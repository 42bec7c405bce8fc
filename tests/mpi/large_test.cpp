// A message of more elements than fit in an int.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <memory>

#include "runtime/api/broadcast.hpp"
#include "runtime/pull/pull_collective.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::large_test {
namespace {

TEST(Large, MoreThanTwoToThe31Elements) {
  constexpr std::size_t kBytes = (std::size_t{1} << 31) + 5;
  constexpr std::uint64_t kPrime = 65521;  // so that the pattern never aligns with a segment
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const bool is_source = rank_in(MPI_COMM_WORLD) == 1;
  const auto buffer = std::make_unique_for_overwrite<unsigned char[]>(kBytes);
  std::vector<unsigned char> pattern(kPrime);
  for (std::size_t i = 0; i < kPrime; ++i) {
    pattern[i] = static_cast<unsigned char>(byte_of(i, 1));
  }
  if (is_source) {
    for (std::size_t at = 0; at < kBytes; at += kPrime) {
      std::memcpy(&buffer[at], pattern.data(), std::min<std::size_t>(kPrime, kBytes - at));
    }
  }
  std::vector<planner::PlanTree> trees = {tree_shaped(Shape::kChain, ranks, 1, 2.0),
                                          tree_shaped(Shape::kFlat, ranks, 1, 1.0)};
  runtime::Broadcast broadcast(MPI_COMM_WORLD, plan_of(ranks, 1, trees, (1 << 20) + 3),
                               as_planned());
  broadcast.run(buffer.get(), kBytes, MPI_BYTE);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < kBytes; at += kPrime) {
    wrong +=
        std::memcmp(&buffer[at], pattern.data(), std::min<std::size_t>(kPrime, kBytes - at)) != 0
            ? 1
            : 0;
  }
  EXPECT_EQ(wrong, 0U);
}

// Segments of 132 KiB, which are received where they belong beyond 2 GiB, too.
TEST(Large, IsPulled) {
  constexpr std::size_t kBytes = (std::size_t{1} << 31) + 5;
  constexpr std::size_t kStep = 4093;  // a prime
  const bool is_source = rank_in(MPI_COMM_WORLD) == 0;
  const auto buffer = std::make_unique<unsigned char[]>(kBytes);
  for (std::size_t at = 0; is_source && at < kBytes; at += kStep) {
    buffer[at] = static_cast<unsigned char>(byte_of(at, 1));
  }
  runtime::pull_broadcast(MPI_COMM_WORLD, buffer.get(), kBytes, MPI_BYTE, 0);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < kBytes; at += kStep) {
    wrong += buffer[at] != static_cast<unsigned char>(byte_of(at, 1)) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace espalier::testing::large_test
