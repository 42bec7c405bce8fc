// The check of reduced elements detects errors in ranks and segments.
#include "cli/espalier_mpi/run/elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace espalier::cli::elements_test {
namespace {

constexpr std::size_t kCount = 300;

template <class T>
std::vector<T> elements_of(Elements elements, int rank, std::uint64_t round) {
  std::vector<T> values(kCount);
  fill_elements(std::as_writable_bytes(std::span(values)), elements, rank, round);
  return values;
}

template <class T>
std::vector<T> sum_of(Elements elements, const std::vector<int>& ranks, std::uint64_t round) {
  std::vector<T> sum(kCount);
  for (const int rank : ranks) {
    const std::vector<T> own = elements_of<T>(elements, rank, round);
    for (std::size_t i = 0; i < kCount; ++i) sum[i] += own[i];
  }
  return sum;
}

template <class T>
std::optional<std::string> wrong_in(const std::vector<T>& result, Elements elements, int ranks,
                                    std::uint64_t round) {
  return find_wrong_element(std::as_bytes(std::span(result)), elements, ranks, round);
}

TEST(Elements, AcceptsTheSumOfAllRanks) {
  const Elements doubles{ElementType::kDouble, ElementOp::kSum};
  EXPECT_FALSE(wrong_in(sum_of<double>(doubles, {0, 1, 2, 3}, 5), doubles, 4, 5));
  const Elements floats{ElementType::kFloat, ElementOp::kSum};
  EXPECT_FALSE(wrong_in(sum_of<float>(floats, {3, 0, 2, 1}, 5), floats, 4, 5));
}

TEST(Elements, DetectsMissingDoubledAndWrongRanks) {
  const Elements elements{ElementType::kInt64, ElementOp::kSum};
  for (const std::vector<int>& ranks :
       std::vector<std::vector<int>>{{0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 3, 3}, {0, 1, 2, 4}}) {
    EXPECT_TRUE(wrong_in(sum_of<std::int64_t>(elements, ranks, 1), elements, 4, 1));
  }
  EXPECT_TRUE(wrong_in(sum_of<std::int64_t>(elements, {0, 1, 2, 3}, 0), elements, 4, 1));
}

TEST(Elements, DetectsSwappedSegmentsAndSingleElements) {
  const Elements elements{ElementType::kDouble, ElementOp::kSum};
  std::vector<double> sum = sum_of<double>(elements, {0, 1, 2}, 0);
  std::vector<double> swapped = sum;
  std::swap_ranges(swapped.begin(), swapped.begin() + 10, swapped.begin() + 20);
  EXPECT_TRUE(wrong_in(swapped, elements, 3, 0));
  sum[123] += 1;
  const auto wrong = wrong_in(sum, elements, 3, 0);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->find("element 123 of 300 is "), 0U) << *wrong;
}

// 5000 ranks: the products neither overflow nor round.
TEST(Elements, ProductsOfFloatsStayExact) {
  const Elements elements{ElementType::kFloat, ElementOp::kProd};
  std::vector<float> product(kCount, 1.0F);
  for (int rank = 0; rank < 5000; ++rank) {
    const std::vector<float> own = elements_of<float>(elements, rank, 2);
    for (std::size_t i = 0; i < kCount; ++i) product[i] *= own[i];
  }
  EXPECT_FALSE(wrong_in(product, elements, 5000, 2));
  EXPECT_TRUE(wrong_in(product, elements, 4999, 2));
}

// As MPI combines: integers wrap.
template <class T>
T combine(ElementOp op, T one, T other) {
  if (op == ElementOp::kMax) return std::max(one, other);
  if (op == ElementOp::kMin) return std::min(one, other);
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto a = static_cast<Unsigned>(one);
    const auto b = static_cast<Unsigned>(other);
    if (op == ElementOp::kSum) return static_cast<T>(a + b);
    if (op == ElementOp::kProd) return static_cast<T>(a * b);
    if (op == ElementOp::kBand) return static_cast<T>(a & b);
    return static_cast<T>(op == ElementOp::kBor ? a | b : a ^ b);
  }
  return op == ElementOp::kSum ? one + other : one * other;
}

template <class T>
void expect_every_operation(ElementType type) {
  std::vector<ElementOp> ops{ElementOp::kSum, ElementOp::kProd, ElementOp::kMax, ElementOp::kMin};
  if (std::is_integral_v<T>) {
    ops.insert(ops.end(), {ElementOp::kBand, ElementOp::kBor, ElementOp::kBxor});
  }
  for (const ElementOp op : ops) {
    SCOPED_TRACE(static_cast<int>(op));
    const Elements elements{type, op};
    std::vector<T> result = elements_of<T>(elements, 0, 3);
    for (const int rank : {1, 2, 3}) {
      const std::vector<T> own = elements_of<T>(elements, rank, 3);
      for (std::size_t i = 0; i < kCount; ++i) result[i] = combine(op, result[i], own[i]);
    }
    EXPECT_FALSE(wrong_in(result, elements, 4, 3));
    std::swap_ranges(result.begin(), result.begin() + 10, result.begin() + 20);
    EXPECT_TRUE(wrong_in(result, elements, 4, 3));
  }
}

TEST(Elements, EveryTypeAndOperation) {
  expect_every_operation<double>(ElementType::kDouble);
  expect_every_operation<float>(ElementType::kFloat);
  expect_every_operation<std::int32_t>(ElementType::kInt32);
  expect_every_operation<std::int64_t>(ElementType::kInt64);
  expect_every_operation<std::uint32_t>(ElementType::kUint32);
  expect_every_operation<std::uint64_t>(ElementType::kUint64);
}

}  // namespace
}  // namespace espalier::cli::elements_test
