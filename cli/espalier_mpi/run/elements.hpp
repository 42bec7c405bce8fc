// The elements of a test message for reductions. Each depends on its index, its rank and the round,
// and its type represents the result exactly. So misplaced segments, ranks that are missing or
// counted twice, and data of the previous round are detected.
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

// The type of a test message's elements, and the operation that combines them.
struct Elements {
  ElementType type = ElementType::kDouble;
  ElementOp op = ElementOp::kSum;
};

// message: whole elements of the type, aligned for it.
void fill_elements(std::span<std::byte> message, Elements elements, int rank, std::uint64_t round);

// Describes the first element of `result`, the message's from element `first` on, that is not the
// combination of the elements of all `ranks` ranks: "element 3 of 10 is 5, not 6". Empty: all are
// correct.
std::optional<std::string> find_wrong_element(std::span<const std::byte> result, Elements elements,
                                              int ranks, std::uint64_t round,
                                              std::uint64_t first = 0);

}  // namespace espalier::cli
