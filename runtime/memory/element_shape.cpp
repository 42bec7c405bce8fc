#include "runtime/memory/element_shape.hpp"

#include <climits>
#include <cstring>
#include <vector>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// Above this size the check for out-of-order bytes costs more than packing.
constexpr std::size_t kLargestProbe = std::size_t{64} << 10;

struct Envelope {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope of;
  check(MPI_Type_get_envelope(type, &of.integers, &of.addresses, &of.types, &of.combiner),
        "MPI_Type_get_envelope");
  return of;
}

// Whether MPI_Pack leaves an element without holes unchanged. Its bytes may be in a different order
// than in memory (MPI_Type_indexed with descending displacements). Each byte is set to its index,
// one base-256 digit per pass.
bool packs_in_order(MPI_Comm comm, MPI_Datatype type, const ElementShape& shape) {
  std::vector<unsigned char> element(shape.bytes);
  std::vector<unsigned char> packed(shape.bytes);
  for (unsigned shift = 0; shift == 0 || (shape.bytes - 1) >> shift != 0; shift += CHAR_BIT) {
    for (std::size_t i = 0; i < shape.bytes; ++i) {
      element[i] = static_cast<unsigned char>(i >> shift);
    }
    int position = 0;
    check(MPI_Pack(moved(element.data(), -shape.true_low), 1, type, packed.data(),
                   static_cast<int>(shape.bytes), &position, comm),
          "MPI_Pack");
    if (element != packed) return false;
  }
  return true;
}

}  // namespace

std::uint64_t ElementShape::span_of(std::uint64_t elements) const {
  std::uint64_t span = 0;
  if (__builtin_mul_overflow(elements - 1, static_cast<std::uint64_t>(extent), &span) ||
      __builtin_add_overflow(span, static_cast<std::uint64_t>(true_span), &span)) {
    return UINT64_MAX;
  }
  return span;
}

ElementShape element_shape_of(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Count true_low = 0;
  MPI_Count true_span = 0;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  check(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  check(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  check(MPI_Type_get_true_extent_x(type, &true_low, &true_span), "MPI_Type_get_true_extent_x");
  return {static_cast<std::size_t>(size), extent, static_cast<MPI_Aint>(true_low),
          static_cast<MPI_Aint>(true_span)};
}

bool is_named(MPI_Datatype type) {
  return envelope_of(type).combiner == MPI_COMBINER_NAMED;
}

bool is_plain(MPI_Comm comm, MPI_Datatype type) {
  const ElementShape shape = element_shape_of(type);
  const auto size = static_cast<MPI_Aint>(shape.bytes);
  if (size != shape.extent || size != shape.true_span) return false;
  const auto [integers, addresses, types, combiner] = envelope_of(type);
  if (size == 0 || combiner == MPI_COMBINER_NAMED) return true;
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) {
    return shape.bytes <= kLargestProbe && packs_in_order(comm, type, shape);
  }
  // These two are plain if their parts are, whatever their size.
  std::vector<int> integer(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> address(static_cast<std::size_t>(addresses));
  MPI_Datatype of = MPI_DATATYPE_NULL;
  check(
      MPI_Type_get_contents(type, integers, addresses, types, integer.data(), address.data(), &of),
      "MPI_Type_get_contents");
  if (is_named(of)) return is_plain(comm, of);
  MPI_Type_commit(&of);  // components of a committed type need not be committed
  const bool plain = is_plain(comm, of);
  MPI_Type_free(&of);
  return plain;
}

void* moved(void* address, MPI_Aint by) {
  const MPI_Aint sum = reinterpret_cast<MPI_Aint>(address) + by;
  void* result = nullptr;
  static_assert(sizeof result == sizeof sum);
  std::memcpy(&result, &sum, sizeof sum);
  return result;
}

void move_elements(void* from, void* to, std::size_t count, const ElementShape& shape) {
  if (count == 0 || from == to) return;
  std::memmove(moved(to, shape.true_low), moved(from, shape.true_low), shape.span_of(count));
}

}  // namespace espalier::runtime
