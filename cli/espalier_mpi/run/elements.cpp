#include "cli/espalier_mpi/run/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cli/espalier_mpi/run/pattern.hpp"

namespace espalier::cli {
namespace {

// Calls act(T{}) with the type's C++ type.
template <class Act>
auto with_type(ElementType type, const Act& act) {
  switch (type) {
    case ElementType::kDouble:
      return act(double{});
    case ElementType::kFloat:
      return act(float{});
    case ElementType::kInt32:
      return act(std::int32_t{});
    case ElementType::kInt64:
      return act(std::int64_t{});
    case ElementType::kUint32:
      return act(std::uint32_t{});
    case ElementType::kUint64:
      break;
  }
  return act(std::uint64_t{});
}

// For sums: 1 to 256, so that a float is exact for up to 65,536 ranks. For products of
// floating-point numbers: powers of two with a sign for the first ranks and only signs for the
// others, so that the product stays in a float's range. Otherwise up to 2^24. (Integers wrap
// around, as MPI's do.)
template <class T>
T element_at(std::uint64_t index, ElementOp op, int rank, std::uint64_t round) {
  constexpr int kRanksWithPowers = 64;
  const auto of_rank = static_cast<std::uint64_t>(rank) * 0x5851F42D4C957F2DULL;
  const std::uint64_t word = pattern_word(index ^ of_rank, round);
  if (op == ElementOp::kSum) return static_cast<T>((word >> 56) + 1);
  if (op == ElementOp::kProd && std::is_floating_point_v<T>) {
    constexpr double kPowers[] = {0.5, 1, 2};
    const double power = rank < kRanksWithPowers ? kPowers[(word >> 40) % 3] : 1;
    return static_cast<T>((word >> 63) != 0 ? -power : power);
  }
  return static_cast<T>((word >> 40) | (op == ElementOp::kProd ? 1 : 0));
}

template <class T>
T combined(ElementOp op, T a, T b) {
  if (op == ElementOp::kMax) return std::max(a, b);
  if (op == ElementOp::kMin) return std::min(a, b);
  if constexpr (std::is_integral_v<T>) {
    using Word = std::make_unsigned_t<T>;
    const auto x = static_cast<Word>(a);
    const auto y = static_cast<Word>(b);
    if (op == ElementOp::kSum) return static_cast<T>(x + y);
    if (op == ElementOp::kProd) return static_cast<T>(x * y);
    if (op == ElementOp::kBand) return static_cast<T>(x & y);
    if (op == ElementOp::kBor) return static_cast<T>(x | y);
    return static_cast<T>(x ^ y);
  } else {
    return op == ElementOp::kProd ? a * b : a + b;
  }
}

}  // namespace

MPI_Datatype mpi_type(ElementType type) {
  const MPI_Datatype types[] = {MPI_DOUBLE,  MPI_FLOAT,    MPI_INT32_T,
                                MPI_INT64_T, MPI_UINT32_T, MPI_UINT64_T};
  return types[static_cast<std::size_t>(type)];
}

MPI_Op mpi_op(ElementOp op) {
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR};
  return ops[static_cast<std::size_t>(op)];
}

std::size_t bytes_of(ElementType type) {
  return with_type(type, [](auto one) { return sizeof one; });
}

void fill_elements(std::span<std::byte> message, Elements elements, int rank, std::uint64_t round) {
  with_type(elements.type, [&](auto one) {
    using T = decltype(one);
    for (std::size_t i = 0; i < message.size() / sizeof(T); ++i) {
      const T value = element_at<T>(i, elements.op, rank, round);
      std::memcpy(&message[i * sizeof(T)], &value, sizeof(T));
    }
  });
}

std::optional<std::string> find_wrong_element(std::span<const std::byte> result, Elements elements,
                                              int ranks, std::uint64_t round, std::uint64_t first) {
  return with_type(elements.type, [&](auto one) -> std::optional<std::string> {
    using T = decltype(one);
    const std::size_t count = result.size() / sizeof(T);
    for (std::size_t i = 0; i < count; ++i) {
      T expected = element_at<T>(first + i, elements.op, 0, round);
      for (int rank = 1; rank < ranks; ++rank) {
        expected =
            combined(elements.op, expected, element_at<T>(first + i, elements.op, rank, round));
      }
      T got{};
      std::memcpy(&got, &result[i * sizeof(T)], sizeof(T));
      if (got != expected) {
        return fmt::format("element {} of {} is {}, not {}", i, count, got, expected);
      }
    }
    return std::nullopt;
  });
}

}  // namespace espalier::cli
