// The elements of a test message that is reduced: each depends on its place, its rank and the
// round, and its type holds the result exactly, so that a segment in a wrong place, a rank left out
// or counted twice, or one of the round before shows.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace espalier::cli {

enum class ElementType : std::uint8_t { kDouble, kFloat, kInt32, kInt64, kUint32, kUint64 };
inline constexpr std::string_view kElementTypes[] = {"double", "float",  "int32",
                                                     "int64",  "uint32", "uint64"};
enum class ElementOp : std::uint8_t { kSum, kProd, kMax, kMin, kBand, kBor, kBxor };
inline constexpr std::string_view kElementOps[] = {"sum",  "prod", "max", "min",
                                                   "band", "bor",  "bxor"};

constexpr std::string_view name_of(ElementType type) {
  return kElementTypes[static_cast<std::size_t>(type)];
}
constexpr std::string_view name_of(ElementOp op) {
  return kElementOps[static_cast<std::size_t>(op)];
}
MPI_Datatype mpi_type(ElementType type);
MPI_Op mpi_op(ElementOp op);
std::size_t bytes_of(ElementType type);

// What a test message is made of.
struct Elements {
  ElementType type = ElementType::kDouble;
  ElementOp op = ElementOp::kSum;
};

// message: whole elements of the type, aligned for it.
void fill_elements(std::span<std::byte> message, Elements elements, int rank, std::uint64_t round);

// The first element of `result` that is not what all of `ranks` ranks' elements are combined, in
// words: "element 3 of 10 is 5, not 6". Empty: none.
std::optional<std::string> find_wrong_element(std::span<const std::byte> result, Elements elements,
                                              int ranks, std::uint64_t round);

}  // namespace espalier::cli
