#include "runtime/memory/stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// Above this size the check for out-of-order bytes costs more than packing.
constexpr std::size_t kLargestProbe = std::size_t{64} << 10;

// Whether MPI_Pack leaves an element without holes unchanged. Its bytes may be in a different order
// than in memory (MPI_Type_indexed with descending displacements). Each byte is set to its index,
// one base-256 digit per pass.
bool packs_in_order(MPI_Comm comm, MPI_Datatype type, std::size_t bytes, MPI_Aint first_byte) {
  std::vector<unsigned char> element(bytes);
  std::vector<unsigned char> packed(bytes);
  for (unsigned shift = 0; shift == 0 || (bytes - 1) >> shift != 0; shift += CHAR_BIT) {
    for (std::size_t i = 0; i < bytes; ++i) element[i] = static_cast<unsigned char>(i >> shift);
    int position = 0;
    check(MPI_Pack(moved(element.data(), -first_byte), 1, type, packed.data(),
                   static_cast<int>(bytes), &position, comm),
          "MPI_Pack");
    if (element != packed) return false;
  }
  return true;
}

// MPI_Type_contiguous and MPI_Type_dup of a plain type are plain, whatever their size.
bool is_plain(MPI_Comm comm, MPI_Datatype type, std::size_t bytes, MPI_Aint first_byte) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  check(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner),
        "MPI_Type_get_envelope");
  if (combiner == MPI_COMBINER_NAMED) return true;
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) {
    return bytes <= kLargestProbe && packs_in_order(comm, type, bytes, first_byte);
  }
  std::vector<int> integer(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> address(static_cast<std::size_t>(addresses));
  MPI_Datatype of = MPI_DATATYPE_NULL;
  check(
      MPI_Type_get_contents(type, integers, addresses, types, integer.data(), address.data(), &of),
      "MPI_Type_get_contents");
  int unused = 0;
  int combiner_of = 0;
  check(MPI_Type_get_envelope(of, &unused, &unused, &unused, &combiner_of),
        "MPI_Type_get_envelope");
  if (combiner_of == MPI_COMBINER_NAMED) return shape_of(comm, of).is_plain;
  MPI_Type_commit(&of);  // components of a committed type need not be committed
  const bool plain = shape_of(comm, of).is_plain;
  MPI_Type_free(&of);
  return plain;
}

}  // namespace

void* moved(void* address, MPI_Aint by) {
  const MPI_Aint sum = reinterpret_cast<MPI_Aint>(address) + by;
  void* result = nullptr;
  static_assert(sizeof result == sizeof sum);
  std::memcpy(&result, &sum, sizeof sum);
  return result;
}

TypeShape shape_of(MPI_Comm comm, MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Count true_low = 0;
  MPI_Count true_extent = 0;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  check(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  check(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  check(MPI_Type_get_true_extent_x(type, &true_low, &true_extent), "MPI_Type_get_true_extent_x");
  TypeShape shape{static_cast<std::size_t>(size), static_cast<MPI_Aint>(true_low), false};
  shape.is_plain = size == extent && size == true_extent &&
                   (size == 0 || is_plain(comm, type, shape.bytes, shape.first_byte));
  return shape;
}

std::byte* first_byte_of(void* buffer, const TypeShape& shape) {
  return static_cast<std::byte*>(moved(buffer, shape.first_byte));
}

MovedType::MovedType(MPI_Datatype type, MPI_Aint bytes) {
  constexpr int kOne = 1;
  check(MPI_Type_create_hindexed(1, &kOne, &bytes, type, &type_), "MPI_Type_create_hindexed");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

PackedStore::PackedStore(MPI_Comm comm, void* buffer, std::size_t count, MPI_Datatype type,
                         std::size_t element_bytes, SegmentGrid grid)
    : comm_(comm), buffer_(buffer), type_(type), element_bytes_(element_bytes), grid_(grid) {
  if (element_bytes > INT_MAX) {
    throw InputError(fmt::format("elements with holes may have at most {} bytes each, not {}",
                                 INT_MAX, element_bytes));
  }
  MPI_Aint low = 0;
  check(MPI_Type_get_extent(type, &low, &extent_), "MPI_Type_get_extent");
  if (buffer == MPI_BOTTOM) {
    const TypeShape shape = shape_of(comm, type);
    buffer_ = first_byte_of(buffer, shape);
    type_ = moved_type_.emplace(type, -shape.first_byte).get();
  }
  packed_ = std::make_unique_for_overwrite<std::byte[]>(count * element_bytes);
  has_arrived_.resize(grid.count());
}

void PackedStore::load(const Segment& segment) {
  const std::uint64_t end = segment.offset + segment.bytes;
  convert_to((end + element_bytes_ - 1) / element_bytes_, true);
}

void PackedStore::arrived(const Segment& segment) {
  has_arrived_[segment.index] = true;
  while (arrived_prefix_ < has_arrived_.size() && has_arrived_[arrived_prefix_]) ++arrived_prefix_;
  const std::uint64_t end = std::min(arrived_prefix_ * grid_.segment, grid_.message);
  convert_to(end / element_bytes_, false);
}

void PackedStore::convert_to(std::size_t end, bool pack) {
  // MPI_Pack takes int sizes.
  const std::size_t most = static_cast<std::size_t>(INT_MAX) / element_bytes_;
  while (done_ < end) {
    const std::size_t elements = std::min(end - done_, most);
    void* const at = moved(buffer_, static_cast<MPI_Aint>(done_) * extent_);
    std::byte* const bytes = packed_.get() + done_ * element_bytes_;
    const int size = static_cast<int>(elements * element_bytes_);
    int position = 0;
    if (pack) {
      check(MPI_Pack(at, static_cast<int>(elements), type_, bytes, size, &position, comm_),
            "MPI_Pack");
    } else {
      check(MPI_Unpack(bytes, size, &position, at, static_cast<int>(elements), type_, comm_),
            "MPI_Unpack");
    }
    done_ += elements;
  }
}

}  // namespace espalier::runtime
