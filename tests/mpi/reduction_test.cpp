// Reductions with all kinds of operations and types.
#include "runtime/api/reduction.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/schedules.hpp"

namespace espalier::testing::reduction_test {
namespace {

using planner::Operation;
using runtime::Reduction;

planner::Plan as(Operation operation, const planner::Plan& broadcast) {
  return operation == Operation::kReduce ? reduce_plan(broadcast)
                                         : allreduce_plan(broadcast, broadcast);
}

class Operations : public ::testing::TestWithParam<Operation> {
 protected:
  [[nodiscard]] planner::Plan plan(Shape shape, std::uint32_t source, std::uint64_t segment) const {
    return as(GetParam(), plan_shaped(shape, size_of(MPI_COMM_WORLD), source, segment));
  }
};

TEST_P(Operations, WithPredefinedTypesAndOperations) {
  Reduction reduction(MPI_COMM_WORLD, plan(Shape::kBinary, 0, 50));
  constexpr std::size_t kCount = 123;
  const auto greater = [](auto a, auto b) { return a > b ? a : b; };
  const auto less = [](auto a, auto b) { return a < b ? a : b; };
  check_reduction<float>(reduction, MPI_COMM_WORLD, kCount, MPI_FLOAT, MPI_MAX, greater, 1);
  check_reduction<std::int64_t>(reduction, MPI_COMM_WORLD, kCount, MPI_INT64_T, MPI_MIN, less, 2);
  check_reduction<std::uint32_t>(
      reduction, MPI_COMM_WORLD, kCount, MPI_UINT32_T, MPI_BXOR,
      [](auto a, auto b) { return a ^ b; }, 3);
  check_reduction<std::uint64_t>(
      reduction, MPI_COMM_WORLD, kCount, MPI_UINT64_T, MPI_PROD,
      [](auto a, auto b) { return a * b; }, 4);
  check_reduction<int>(
      reduction, MPI_COMM_WORLD, kCount, MPI_INT, MPI_LAND,
      [](int a, int b) { return a != 0 && b != 0 ? 1 : 0; }, 5);
}

// Elements with holes; an allreduce of them uses MPI's own.
TEST_P(Operations, LocationOfTheLargest) {
  struct Entry {
    double value;
    int place;
  };
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  Reduction reduction(MPI_COMM_WORLD, plan(Shape::kChain, ranks - 1, 70));
  std::vector<Entry> own(50);
  std::vector<Entry> result(50, {-1, -1});
  const auto value = [](std::size_t i, int of) { return element_of<double>(i, of, 9); };
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = {value(i, rank), rank};
  reduction.run(own.data(), result.data(), own.size(), MPI_DOUBLE_INT, MPI_MAXLOC);
  if (GetParam() == Operation::kReduce && rank != reduction.root()) return;
  for (std::size_t i = 0; i < own.size(); ++i) {
    int best = 0;
    for (int other = 1; other < static_cast<int>(ranks); ++other) {
      if (value(i, other) > value(i, best)) best = other;
    }
    ASSERT_EQ(result[i].value, value(i, best)) << i;
    ASSERT_EQ(result[i].place, best) << i;
  }
}

// --- user-defined operations ---

// Modulo a prime, so that the operation differs from all of MPI's.
constexpr std::uint64_t kPrime = 1'000'003;
void multiply_modulo(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const from = static_cast<const std::uint64_t*>(in);
  auto* const to = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i < *count; ++i) to[i] = from[i] * to[i] % kPrime;
}

TEST_P(Operations, UserDefinedCommutative) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(multiply_modulo, 1, &op);
  Reduction reduction(MPI_COMM_WORLD, plan(Shape::kBinary, 0, 100));
  for (const InPlace in_place : {InPlace::kNo, InPlace::kYes}) {
    check_reduction<std::uint64_t>(
        reduction, MPI_COMM_WORLD, 345, MPI_UINT64_T, op,
        [](auto a, auto b) { return a * b % kPrime; }, 11, in_place);
  }
  MPI_Op_free(&op);
}

// 2x2 matrices modulo a prime, whose product depends on the order of the ranks.
using Matrix = std::array<std::uint64_t, 4>;
Matrix product(const Matrix& a, const Matrix& b) {
  return {(a[0] * b[0] + a[1] * b[2]) % kPrime, (a[0] * b[1] + a[1] * b[3]) % kPrime,
          (a[2] * b[0] + a[3] * b[2]) % kPrime, (a[2] * b[1] + a[3] * b[3]) % kPrime};
}
void multiply_matrices(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const left = static_cast<const Matrix*>(in);
  auto* const right = static_cast<Matrix*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = product(left[i], right[i]);
}

TEST_P(Operations, UserDefinedNonCommutativeInRankOrder) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(multiply_matrices, 0, &op);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_UINT64_T, &type);
  MPI_Type_commit(&type);
  const auto matrix = [](std::size_t i, int rank) {
    Matrix of{};
    for (std::size_t k = 0; k < 4; ++k) of[k] = element_of<std::uint64_t>(4 * i + k, rank, 3);
    return of;
  };
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  Reduction reduction(MPI_COMM_WORLD, plan(Shape::kChain, ranks - 1, 100));
  std::vector<Matrix> own(40);
  std::vector<Matrix> result(40);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = matrix(i, rank);
  reduction.run(own.data(), result.data(), own.size(), type, op);
  if (GetParam() == Operation::kAllreduce || rank == reduction.root()) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      Matrix expected = matrix(i, 0);
      for (int other = 1; other < static_cast<int>(ranks); ++other) {
        expected = product(expected, matrix(i, other));
      }
      ASSERT_EQ(result[i], expected) << i;
    }
  }
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

// A type with a hole in the middle and one at the end.
struct Holes {
  std::int32_t first;
  std::int32_t hole;
  std::int64_t second;
  std::int64_t end;
};
void add_holes(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const from = static_cast<const Holes*>(in);
  auto* const to = static_cast<Holes*>(inout);
  for (int i = 0; i < *count; ++i) {
    to[i].first += from[i].first;
    to[i].second += from[i].second;
  }
}

TEST_P(Operations, ElementsWithHoles) {
  const std::array<int, 2> lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {0, 8};
  const std::array<MPI_Datatype, 2> parts = {MPI_INT32_T, MPI_INT64_T};
  MPI_Datatype tight = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &tight);
  MPI_Type_create_resized(tight, 0, sizeof(Holes), &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_holes, 1, &op);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  Reduction reduction(MPI_COMM_WORLD, plan(Shape::kBinary, ranks / 2, 100));
  for (const bool in_place : {false, true}) {
    std::vector<Holes> own(77);
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] = {element_of<int>(i, rank, 1), -5, element_of<int>(i, rank, 2), -6};
    }
    std::vector<Holes> result(77, {0, -7, 0, -8});
    const bool has_result = GetParam() == Operation::kAllreduce || rank == reduction.root();
    const bool here = in_place && has_result;
    if (here) result = own;
    reduction.run(here ? MPI_IN_PLACE : own.data(), result.data(), own.size(), type, op);
    for (std::size_t i = 0; i < own.size() && has_result; ++i) {
      std::int32_t first = 0;
      std::int64_t second = 0;
      for (int other = 0; other < static_cast<int>(ranks); ++other) {
        first += element_of<int>(i, other, 1);
        second += element_of<int>(i, other, 2);
      }
      ASSERT_EQ(result[i].first, first) << i;
      ASSERT_EQ(result[i].second, second) << i;
      ASSERT_EQ(result[i].hole, here ? -5 : -7) << i;
      ASSERT_EQ(result[i].end, here ? -6 : -8) << i;
    }
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Type_free(&tight);
}

// --- further guarantees ---

// Rounding depends on the order of additions; elements of many magnitudes make that visible.
TEST_P(Operations, AreBitwiseReproducible) {
  std::mt19937_64 random(8);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = as(GetParam(), random_plan(ranks, 100, 5, random));
  std::mt19937_64 own_numbers(static_cast<std::uint64_t>(rank_in(MPI_COMM_WORLD)) + 100);
  std::vector<double> own(1000);
  for (double& value : own) {
    value = std::ldexp(static_cast<double>(own_numbers() % 1000), int(own_numbers() % 80) - 40);
  }
  Reduction reduction(MPI_COMM_WORLD, plan);
  std::vector<double> first;
  for (int i = 0; i < 10; ++i) {
    if (own_numbers() % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    std::vector<double> result(own.size());
    reduction.run(own.data(), result.data(), own.size(), MPI_DOUBLE, MPI_SUM);
    if (first.empty()) first = result;
    ASSERT_EQ(std::memcmp(first.data(), result.data(), result.size() * sizeof(double)), 0) << i;
  }
}

// Random schedules, also such as one-port hosts could not keep; the ranks follow only their order.
TEST_P(Operations, FollowSchedulesOfAnyKind) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  constexpr std::uint64_t kSegment = 64;
  runtime::ReductionOptions options;
  options.schedule = true;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto root = static_cast<std::uint32_t>(random() % ranks);
    planner::Plan plan = random_plan_from(root, ranks, kSegment, 4, random);
    plan = GetParam() == Operation::kReduce
               ? reduce_plan(plan)
               : allreduce_plan(plan, random_plan_from(root, ranks, kSegment, 4, random));
    plan.schedule = random_schedule(plan, random);
    Reduction reduction(MPI_COMM_WORLD, plan, options);
    for (const std::size_t segments : {1UL, 5UL, 80UL}) {
      check_sum(reduction, MPI_COMM_WORLD, segments * kSegment / sizeof(double) - seed, seed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Operations,
                         ::testing::Values(Operation::kReduce, Operation::kAllreduce),
                         [](const auto& of) { return std::string(planner::name_of(of.param)); });

}  // namespace
}  // namespace espalier::testing::reduction_test
