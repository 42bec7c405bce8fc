// Runs reductions and checks the results.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/api/collective.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing {

// Element `at` of rank `rank` in message `message`. The elements are small integers, so that sums
// and products of a few are exact in any type. A misplaced segment, or a rank that is missing or
// counted twice, changes the result.
template <class T>
T element_of(std::uint64_t at, int rank, std::uint64_t message) {
  const auto high = std::to_integer<unsigned>(byte_of(at, message));
  const auto own =
      std::to_integer<unsigned>(byte_of(at * 31 + static_cast<unsigned>(rank), message + 7));
  return static_cast<T>((high ^ own) % 100 + 1);
}

enum class InPlace { kNo, kYes };

// Reduces message number `message` of `count` elements with `op`. Checks each element against
// `combine` over all ranks, and that the memory around the result and the sendbuf are unchanged.
template <class T, class Combine>
void check_reduction(runtime::Collective& reduction, MPI_Comm comm, std::size_t count,
                     MPI_Datatype type, MPI_Op op, const Combine& combine, std::uint64_t message,
                     InPlace in_place = InPlace::kNo) {
  const int rank = rank_in(comm);
  const bool everywhere = reduction.operation() == planner::Operation::kAllreduce;
  const bool has_result = everywhere || rank == reduction.root();
  const bool here = has_result && in_place == InPlace::kYes;
  constexpr T kMark = static_cast<T>(-77);
  std::vector<T> own(count);
  for (std::size_t i = 0; i < count; ++i) own[i] = element_of<T>(i, rank, message);
  std::vector<T> result(count + 2 * kGuard, kMark);
  if (here) std::copy(own.begin(), own.end(), result.begin() + kGuard);

  const void* const sendbuf = here ? MPI_IN_PLACE : static_cast<const void*>(own.data());
  reduction.run(sendbuf, result.data() + kGuard, count, type, op);

  std::size_t wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    T expected = kMark;
    if (has_result && i >= kGuard && i < kGuard + count) {
      expected = element_of<T>(i - kGuard, 0, message);
      for (int other = 1; other < static_cast<int>(size_of(comm)); ++other) {
        expected = combine(expected, element_of<T>(i - kGuard, other, message));
      }
    }
    if (result[i] == expected) continue;
    if (wrong++ == 0) {
      ADD_FAILURE() << "element " << static_cast<std::ptrdiff_t>(i - kGuard) << " of " << count
                    << " is " << result[i] << ", not " << expected;
    }
  }
  EXPECT_EQ(wrong, 0U);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(own[i], element_of<T>(i, rank, message)) << "sendbuf was written to";
  }
}

inline void check_sum(runtime::Collective& reduction, MPI_Comm comm, std::size_t count,
                      std::uint64_t message, InPlace in_place = InPlace::kNo) {
  const auto sum = [](double a, double b) { return a + b; };
  check_reduction<double>(reduction, comm, count, MPI_DOUBLE, MPI_SUM, sum, message, in_place);
}

}  // namespace espalier::testing
