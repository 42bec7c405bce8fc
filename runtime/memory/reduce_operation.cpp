#include "runtime/memory/reduce_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "runtime/memory/checksum.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// MPI's classes of element types, as bits.
using Kinds = unsigned;
constexpr Kinds kCInteger = 1;
constexpr Kinds kFortranInteger = 2;
constexpr Kinds kFloating = 4;
constexpr Kinds kLogical = 8;
constexpr Kinds kComplex = 16;
constexpr Kinds kByte = 32;
constexpr Kinds kAddress = 64;  // MPI's term is "multi-language types"
constexpr Kinds kPair = 128;
constexpr Kinds kNothing = 256;  // no operation is defined on them

struct NamedKind {
  Kinds kind;
  std::vector<MPI_Datatype> types;
};

const std::vector<NamedKind>& kinds() {
  // Handles need not be constants.
  static const std::vector<NamedKind> table = {
      {kCInteger,
       {MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
        MPI_LONG_LONG_INT, MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,
        MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
        MPI_UINT64_T}},
      {kFortranInteger, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}},
      {kFloating,
       {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4,
        MPI_REAL8}},
      {kLogical, {MPI_LOGICAL, MPI_C_BOOL, MPI_CXX_BOOL}},
      {kComplex,
       {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
        MPI_C_LONG_DOUBLE_COMPLEX}},
#ifndef SMPI_H  // SimGrid 3.32 defines these three as variables that it does not declare
      {kComplex, {MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX}},
#endif
      {kByte, {MPI_BYTE}},
      {kAddress, {MPI_AINT, MPI_OFFSET, MPI_COUNT}},
      {kPair,
       {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT,
        MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER}},
      {kNothing, {MPI_CHAR, MPI_WCHAR, MPI_CHARACTER, MPI_PACKED}},
  };
  return table;
}

struct NamedOperation {
  MPI_Op op;
  std::string_view name;
  Kinds defined_on;
};

const std::vector<NamedOperation>& operations() {
  constexpr Kinds kOrdered = kCInteger | kFortranInteger | kFloating | kAddress;
  constexpr Kinds kTruth = kCInteger | kLogical;
  constexpr Kinds kBits = kCInteger | kFortranInteger | kByte | kAddress;
  static const std::vector<NamedOperation> table = {
      {MPI_MAX, "MPI_MAX", kOrdered},
      {MPI_MIN, "MPI_MIN", kOrdered},
      {MPI_SUM, "MPI_SUM", kOrdered | kComplex},
      {MPI_PROD, "MPI_PROD", kOrdered | kComplex},
      {MPI_LAND, "MPI_LAND", kTruth},
      {MPI_LOR, "MPI_LOR", kTruth},
      {MPI_LXOR, "MPI_LXOR", kTruth},
      {MPI_BAND, "MPI_BAND", kBits},
      {MPI_BOR, "MPI_BOR", kBits},
      {MPI_BXOR, "MPI_BXOR", kBits},
      {MPI_MAXLOC, "MPI_MAXLOC", kPair},
      {MPI_MINLOC, "MPI_MINLOC", kPair},
      {MPI_REPLACE, "MPI_REPLACE", 0},
      {MPI_NO_OP, "MPI_NO_OP", 0},
  };
  return table;
}

// Null for a user-defined operation.
const NamedOperation* find(MPI_Op op) {
  const auto& table = operations();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [op](const NamedOperation& one) { return one.op == op; });
  return found == table.end() ? nullptr : &*found;
}

std::string name_of(MPI_Datatype type) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  check(MPI_Type_get_name(type, name.data(), &length), "MPI_Type_get_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string operation_fault(MPI_Datatype type, MPI_Op op) {
  if (op == MPI_OP_NULL) return "MPI_OP_NULL is not an operation";
  const NamedOperation* const operation = find(op);
  if (operation == nullptr) return {};
  const bool named = is_named(type);
  if (named) {
    const auto holds = [type](const NamedKind& kind) {
      return std::find(kind.types.begin(), kind.types.end(), type) != kind.types.end();
    };
    const auto kind = std::find_if(kinds().begin(), kinds().end(), holds);
    // A type that is not listed, such as one of Fortran's rarer kinds, is left to MPI to check.
    const bool known = kind != kinds().end();
    if (operation->defined_on != 0 && (!known || (kind->kind & operation->defined_on) != 0)) {
      return {};
    }
  }
  return fmt::format("{} is not defined on {}", operation->name,
                     named ? name_of(type) : "user-defined types");
}

std::uint64_t reduction_kind(MPI_Datatype type, MPI_Op op) {
  const NamedOperation* const operation = find(op);
  std::string text(operation != nullptr ? operation->name : "the user's own");
  if (is_named(type)) text += " " + name_of(type);
  int size = 0;
  check(MPI_Type_size(type, &size), "MPI_Type_size");
  text += fmt::format(" {}", size);
  return hash_of(std::as_bytes(std::span(text))) >> 1U | 2U;
}

}  // namespace espalier::runtime
