// Invalid reductions are refused on every rank, with a message and without a deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <span>
#include <tuple>

#include "runtime/api/reduction.hpp"
#include "support/errors.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing::reduction_refusal_test {
namespace {

using planner::Operation;
using runtime::Reduction;
using runtime::ReductionOptions;
using ::testing::HasSubstr;

planner::Plan chain_here(Operation operation = Operation::kReduce,
                         std::uint64_t segment_bytes = 100) {
  const planner::Plan plan = plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, segment_bytes);
  return operation == Operation::kReduce ? reduce_plan(plan) : allreduce_plan(plan, plan);
}

std::string refusal_of(const planner::Plan& plan, const ReductionOptions& options = {}) {
  return espalier::testing::refusal(
      [&] { const Reduction reduction(MPI_COMM_WORLD, plan, options); });
}

TEST(ReductionRefusal, APlanForABroadcast) {
  EXPECT_EQ(refusal_of(plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 100)),
            "/operation: a plan for a broadcast; expected a plan for a reduce or an allreduce");
}

TEST(ReductionRefusal, PlansAndOptionsThatDoNotFit) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  EXPECT_THAT(refusal_of(reduce_plan(plan_shaped(Shape::kFlat, ranks + 5, 0, 100))),
              HasSubstr("the plan has " + std::to_string(ranks + 5) + " nodes, but"));
  planner::Plan faulty = chain_here();
  faulty.segment.value = 0;
  EXPECT_THAT(refusal_of(faulty), HasSubstr("/slice_bytes"));
  ReductionOptions options;
  options.receives_in_flight = 0;
  EXPECT_THAT(refusal_of(chain_here(), options), HasSubstr("window"));
  options = {};
  options.segment_bytes = std::uint64_t{1} << 31U;
  EXPECT_THAT(refusal_of(chain_here(), options), HasSubstr("MPI sends at most"));
  if (ranks == 1) return;  // one rank agrees with itself
  options = {};
  options.ports = rank_in(MPI_COMM_WORLD) == 1 ? 1 : 2;
  EXPECT_THAT(refusal_of(chain_here(), options), HasSubstr("different plans or options"));
}

// The message of run(); "accepted" if it does not refuse.
std::string run_refusal(Reduction& reduction, const void* sendbuf, void* recvbuf, std::size_t count,
                        MPI_Datatype type, MPI_Op op) {
  std::string text = "accepted";
  try {
    reduction.run(sendbuf, recvbuf, count, type, op);
  } catch (const InputError& error) {
    text = error.what();
    EXPECT_THROW(reduction.run(sendbuf, recvbuf, 0, type, op), std::logic_error);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return text;
}

TEST(ReductionRefusal, OperationsThatMpiDoesNotDefine) {
  std::vector<double> own(10);
  std::vector<double> result(10);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  const auto refusal = [&](MPI_Datatype type, MPI_Op op) {
    Reduction reduction(MPI_COMM_WORLD, chain_here());
    return run_refusal(reduction, own.data(), result.data(), 2, type, op);
  };
  EXPECT_EQ(refusal(MPI_DOUBLE, MPI_BAND), "MPI_BAND is not defined on MPI_DOUBLE");
  EXPECT_EQ(refusal(MPI_CHAR, MPI_SUM), "MPI_SUM is not defined on MPI_CHAR");
  EXPECT_EQ(refusal(MPI_BYTE, MPI_MAX), "MPI_MAX is not defined on MPI_BYTE");
  EXPECT_EQ(refusal(MPI_DOUBLE, MPI_MAXLOC), "MPI_MAXLOC is not defined on MPI_DOUBLE");
  EXPECT_EQ(refusal(MPI_INT, MPI_REPLACE), "MPI_REPLACE is not defined on MPI_INT");
  EXPECT_EQ(refusal(pair, MPI_SUM), "MPI_SUM is not defined on user-defined types");
  EXPECT_EQ(refusal(MPI_INT, MPI_OP_NULL), "MPI_OP_NULL is not an operation");
  EXPECT_EQ(refusal(MPI_DATATYPE_NULL, MPI_SUM), "MPI_DATATYPE_NULL is not a type");
  EXPECT_EQ(refusal(MPI_C_DOUBLE_COMPLEX, MPI_MIN),
            "MPI_MIN is not defined on MPI_C_DOUBLE_COMPLEX");
  MPI_Type_free(&pair);
}

TEST(ReductionRefusal, SizesThatOverflow) {
  Reduction reduction(MPI_COMM_WORLD, chain_here());
  EXPECT_THAT(run_refusal(reduction, nullptr, nullptr, SIZE_MAX / 8, MPI_DOUBLE, MPI_SUM),
              HasSubstr("exceed the address space"));
}

// MPI_IN_PLACE is invalid on a rank without a result; the other ranks refuse as well.
TEST(ReductionRefusal, InPlaceOnARankThatIsNotTheRoot) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank is the root";
  std::vector<int> buffer(10);
  std::vector<int> result(10);
  const bool odd = rank_in(MPI_COMM_WORLD) + 1 == static_cast<int>(ranks);
  Reduction reduction(MPI_COMM_WORLD, chain_here());
  const std::string refusal = run_refusal(reduction, odd ? MPI_IN_PLACE : buffer.data(),
                                          result.data(), 10, MPI_INT, MPI_SUM);
  EXPECT_EQ(refusal,
            odd ? "MPI_IN_PLACE on a rank that is not the root" : "another rank refused this call");
}

class Mismatch : public ::testing::TestWithParam<Operation> {};

// One segment more, one less, a shorter segment, nothing at all, or other segment sizes: on the
// root and on the last rank.
TEST_P(Mismatch, OfSizes) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  constexpr std::uint64_t kLong = 1 << 20;
  using Case = std::tuple<std::uint64_t, std::size_t, std::size_t>;
  for (const auto& [segment_bytes, usual_count, odd_count] :
       {Case{100, 300, 0}, Case{100, 300, 25}, Case{100, 300, 299}, Case{100, 300, 301},
        Case{100, 300, 100'000}, Case{kLong, 300, 100'000}, Case{kLong, 100'000, 300}}) {
    for (const int odd_rank : {0, static_cast<int>(ranks) - 1}) {
      Reduction reduction(MPI_COMM_WORLD, chain_here(GetParam(), segment_bytes));
      const std::size_t count = rank_in(MPI_COMM_WORLD) == odd_rank ? odd_count : usual_count;
      std::vector<float> own(count);
      std::vector<float> result(count + 64, -3.0F);
      const std::string refusal =
          run_refusal(reduction, own.data(), result.data(), count, MPI_FLOAT, MPI_SUM);
      EXPECT_THAT(refusal, HasSubstr("disagree on the size"));
      EXPECT_THAT(refusal, HasSubstr(std::to_string(4 * count) + " bytes on rank"));
      // The result may have been overwritten, but nothing beyond it.
      EXPECT_THAT(std::span(result).subspan(count), ::testing::Each(-3.0F));
    }
  }
}

void add(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

TEST_P(Mismatch, OfTypesAndOperations) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank agrees with itself";
  const bool odd = rank_in(MPI_COMM_WORLD) == 1;
  MPI_Op commutative = MPI_OP_NULL;
  MPI_Op ordered = MPI_OP_NULL;
  MPI_Op_create(add, 1, &commutative);
  MPI_Op_create(add, 0, &ordered);
  std::vector<int> own(300);
  std::vector<int> result(300);
  const auto refusal = [&](MPI_Datatype type, MPI_Op op) {
    Reduction reduction(MPI_COMM_WORLD, chain_here(GetParam()));
    return run_refusal(reduction, own.data(), result.data(), 300, type, op);
  };
  const std::string expected = "the ranks disagree on the type or on the operation";
  EXPECT_EQ(refusal(odd ? MPI_FLOAT : MPI_INT, MPI_SUM), expected);
  EXPECT_EQ(refusal(MPI_INT, odd ? MPI_MAX : MPI_SUM), expected);
  EXPECT_EQ(refusal(MPI_INT, odd ? commutative : MPI_SUM), expected);
  EXPECT_EQ(refusal(MPI_INT, odd ? commutative : ordered), expected);
  MPI_Op_free(&commutative);
  MPI_Op_free(&ordered);
}

// One rank has an operation that MPI does not define; the others would have gone on.
TEST_P(Mismatch, OfAnOperationThatOneRankRefuses) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "there are no other ranks";
  const bool odd = rank_in(MPI_COMM_WORLD) == 1;
  std::vector<int> own(300);
  std::vector<int> result(300);
  Reduction reduction(MPI_COMM_WORLD, chain_here(GetParam()));
  const std::string refusal =
      run_refusal(reduction, own.data(), result.data(), 300, MPI_INT, odd ? MPI_MAXLOC : MPI_SUM);
  EXPECT_EQ(refusal,
            odd ? "MPI_MAXLOC is not defined on MPI_INT" : "another rank refused this call");
}

INSTANTIATE_TEST_SUITE_P(All, Mismatch,
                         ::testing::Values(Operation::kReduce, Operation::kAllreduce),
                         [](const auto& of) { return std::string(planner::name_of(of.param)); });

}  // namespace
}  // namespace espalier::testing::reduction_refusal_test
