// Allgathers by whatever runs them, on MPI_COMM_WORLD, with every byte checked.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/interesting_counts.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing {

inline std::byte part_byte(int rank, std::size_t at, std::uint64_t message) {
  return byte_of(at * 67 + static_cast<std::uint64_t>(rank), message);
}

// gap: between the parts, in bytes, which must not change.
template <class Runner>
void check_allgather(Runner& runner, const Counts& counts, std::size_t gap, std::uint64_t message,
                     InPlace in_place) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const auto here = static_cast<std::size_t>(rank);
  Counts first(counts.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    first[i] = end + gap;
    end = first[i] + counts[i];
  }
  std::vector<std::byte> expected(end + kGuard, kPoison);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::size_t at = 0; at < counts[i]; ++at) {
      expected[first[i] + at] = part_byte(static_cast<int>(i), at, message);
    }
  }
  std::vector<std::byte> own(counts[here]);
  for (std::size_t at = 0; at < own.size(); ++at) own[at] = part_byte(rank, at, message);
  std::vector<std::byte> buffer(expected.size(), kPoison);
  const bool is_here = in_place == InPlace::kYes;
  if (is_here) std::ranges::copy(own, buffer.begin() + static_cast<std::ptrdiff_t>(first[here]));
  runner.allgather(is_here ? MPI_IN_PLACE : static_cast<const void*>(own.data()), buffer.data(),
                   counts, gap == 0 ? std::span<const std::size_t>() : std::span(first), MPI_BYTE);
  EXPECT_TRUE(buffer == expected) << ::testing::PrintToString(counts) << ", gap " << gap;
}

template <class Runner>
void check_allgather_with_holes(Runner& runner) {
  MPI_Datatype every_other = MPI_DATATYPE_NULL;  // of two ints, the first
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
  MPI_Type_commit(&every_other);
  const auto ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  const Counts counts(ranks, 101);
  const auto value = [](std::size_t of, std::size_t at) {
    return static_cast<int>(of * 1000 + at);
  };
  for (const bool in_place : {false, true}) {
    std::vector<int> own(202, -1);
    std::vector<int> all(202 * std::size_t{ranks}, -2);
    for (std::size_t at = 0; at < 101; ++at) {
      own[2 * at] = value(static_cast<std::size_t>(rank), at);
      if (in_place) all[2 * (static_cast<std::size_t>(rank) * 101 + at)] = own[2 * at];
    }
    runner.allgather(in_place ? MPI_IN_PLACE : static_cast<const void*>(own.data()), all.data(),
                     counts, {}, every_other);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i], i % 2 == 1 ? -2 : value(i / 202, i / 2 % 101)) << i;
    }
  }
  MPI_Type_free(&every_other);
}

}  // namespace espalier::testing
