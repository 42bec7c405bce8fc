#include "lp/solver/linear_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"

namespace espalier::lp::linear_program_test {
namespace {

using ::testing::StartsWith;

using Entries = std::vector<Entry>;

// max 3x + 2y, x + y <= 4, x + 3y <= 9, x <= 3: x = 3, y = 1.
TEST(LinearProgram, SolvesATextbookCase) {
  LinearProgram program(Sense::kMaximise);
  const std::uint32_t x = program.add_column({0, 3}, 3);
  const std::uint32_t y = program.add_column({0, kInfinity}, 2);
  const std::uint32_t sum = program.add_row({-kInfinity, 4}, Entries{{x, 1}, {y, 1}});
  program.add_row({-kInfinity, 9}, Entries{{x, 1}, {y, 3}});
  ASSERT_EQ(program.solve(), LpStatus::kOptimal);
  EXPECT_DOUBLE_EQ(program.objective(), 11);
  EXPECT_DOUBLE_EQ(program.value(x), 3);
  EXPECT_DOUBLE_EQ(program.value(y), 1);
  EXPECT_DOUBLE_EQ(program.row_dual(sum), 2);
  EXPECT_FALSE(program.is_basic(x));
  EXPECT_TRUE(program.is_basic(y));
}

TEST(LinearProgram, ContinuesFromItsBasisWhenRowsAndColumnsAreAdded) {
  LinearProgram program(Sense::kMaximise);
  const std::uint32_t x = program.add_column({0, kInfinity}, 1);
  program.add_row({-kInfinity, 1}, Entries{{x, 1}});
  ASSERT_EQ(program.solve(), LpStatus::kOptimal);
  const std::uint32_t y = program.add_column({0, kInfinity}, 5, Entries{{0, 1}});
  ASSERT_EQ(program.solve(), LpStatus::kOptimal);
  EXPECT_DOUBLE_EQ(program.value(y), 1);
  program.add_row({-kInfinity, 0.25}, Entries{{y, 1}});
  ASSERT_EQ(program.solve({.method = SimplexOptions::Method::kDual}), LpStatus::kOptimal);
  EXPECT_DOUBLE_EQ(program.objective(), 0.75 + 5 * 0.25);
  program.remove_columns(std::vector<std::uint32_t>{x});
  ASSERT_EQ(program.solve(), LpStatus::kOptimal);
  EXPECT_DOUBLE_EQ(program.value(0), 0.25);
  EXPECT_EQ(program.add_column({0, 1}, 0), 1U);
}

TEST(LinearProgram, DistinguishesInfeasibleFromUnbounded) {
  LinearProgram infeasible(Sense::kMinimise);
  const std::uint32_t x = infeasible.add_column({0, 1}, 1);
  infeasible.add_row({2, kInfinity}, Entries{{x, 1}});
  EXPECT_EQ(infeasible.solve(), LpStatus::kInfeasible);
  LinearProgram unbounded(Sense::kMaximise);
  unbounded.add_column({0, kInfinity}, 1);
  unbounded.add_row({0, kInfinity}, Entries{{0, 1}});
  EXPECT_EQ(unbounded.solve(), LpStatus::kUnbounded);
}

TEST(LinearProgram, EqualBoundsFixAColumn) {
  LinearProgram program(Sense::kMaximise);
  const std::uint32_t x = program.add_column({0, 10}, 1);
  program.add_row({-kInfinity, 100}, Entries{{x, 1}});
  program.set_column_bounds(x, {4, 4});
  ASSERT_EQ(program.solve(), LpStatus::kOptimal);
  EXPECT_DOUBLE_EQ(program.value(x), 4);
}

TEST(LinearProgram, ReportsALimit) {
  LinearProgram program(Sense::kMaximise);
  for (int i = 0; i < 20; ++i) program.add_column({0, kInfinity}, 1 + i);
  for (std::uint32_t i = 0; i < 20; ++i) {
    program.add_row({-kInfinity, 1.0 + i}, Entries{{i, 1}, {(i + 1) % 20, 0.5}});
  }
  EXPECT_EQ(program.solve({.iteration_limit = 1}), LpStatus::kLimit);
  EXPECT_EQ(program.solve(), LpStatus::kOptimal);
}

// By itself GLPK prints to stdout and aborts, here at a column with two entries in one row.
TEST(LinearProgram, AFailureOfGlpkIsAnExceptionAndPrintsNothing) {
  LinearProgram other(Sense::kMaximise);
  LinearProgram program(Sense::kMaximise);
  const std::uint32_t row = program.add_row({-kInfinity, 1});
  ::testing::internal::CaptureStdout();
  const auto message = [](const auto& step) -> std::string {
    try {
      step();
    } catch (const Error& fault) {
      EXPECT_EQ(fault.status(), ExitStatus::kInternalFault);
      return fault.what();
    }
    return "(no failure)";
  };
  EXPECT_THAT(message([&] {
                program.add_column({0, 1}, 1, Entries{{row, 1}, {row, 1}});
              }),
              StartsWith("GLPK failed: glp_set_mat_col: j = 1; len = 2; invalid column length"));
  EXPECT_EQ(message([&] { program.solve(); }), "a linear program was lost when GLPK failed");
  EXPECT_EQ(message([&] { static_cast<void>(other.row_count()); }),
            "a linear program was lost when GLPK failed");
  LinearProgram next(Sense::kMaximise);
  const std::uint32_t x = next.add_column({0, 3}, 1);
  EXPECT_EQ(next.solve(), LpStatus::kOptimal);
  EXPECT_DOUBLE_EQ(next.value(x), 3);
  EXPECT_THAT(message([&] { static_cast<void>(next.value(7)); }),
              StartsWith("GLPK failed: glp_get_col_prim: "));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

// A dense program of its own per seed: max sum x, random rows <= 1; solved again after each new
// row.
std::vector<double> solve_many(std::uint32_t seed) {
  constexpr std::uint32_t kColumns = 12;
  constexpr int kRows = 40;
  LinearProgram program(Sense::kMaximise);
  std::uint32_t state = seed;
  const auto next = [&state] { return state = state * 1664525U + 1013904223U; };
  for (std::uint32_t i = 0; i < kColumns; ++i) program.add_column({0, 1}, 1);
  std::vector<double> objectives;
  for (int row = 0; row < kRows; ++row) {
    Entries entries;
    for (std::uint32_t i = 0; i < kColumns; ++i) entries.push_back({i, (next() >> 8U) * 0x1p-24});
    program.add_row({-kInfinity, 1}, entries);
    EXPECT_EQ(program.solve({.method = SimplexOptions::Method::kDual}), LpStatus::kOptimal);
    objectives.push_back(program.objective());
  }
  return objectives;
}

TEST(LinearProgram, ThreadsSolveConcurrently) {
  constexpr std::uint32_t kThreads = 8;
  constexpr int kRounds = 20;
  std::vector<std::vector<double>> alone;
  for (std::uint32_t seed = 0; seed < kThreads; ++seed) alone.push_back(solve_many(seed));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<double>> together(kThreads);
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t seed = 0; seed < kThreads; ++seed) {
        threads.emplace_back([seed, &together] { together[seed] = solve_many(seed); });
      }
    }
    EXPECT_EQ(together, alone);
  }
}

}  // namespace
}  // namespace espalier::lp::linear_program_test
