// What the tests of scatter, gather and alltoall share: the plans, and fixtures for several ranks.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <random>

#include "tests/mpi/plans.hpp"

namespace espalier::testing {

inline constexpr std::uint64_t kRoutedSegment = 96;

inline int here() {
  return rank_in(MPI_COMM_WORLD);
}
inline int ranks() {
  return static_cast<int>(size_of(MPI_COMM_WORLD));
}
inline std::size_t at(int rank) {
  return static_cast<std::size_t>(rank);
}

inline planner::Plan plan_for(planner::Operation operation, int root = 0, Paths paths = Paths::kTwo,
                              std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  return routes_plan(operation, size_of(MPI_COMM_WORLD), static_cast<std::uint32_t>(root), paths,
                     kRoutedSegment, random);
}

// Base: ::testing::Test, or one with a parameter.
template <class Base>
class AmongRanks : public Base {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "a plan has parts for others";
  }
};

}  // namespace espalier::testing
