#include "runtime/memory/stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "runtime/memory/element_shape.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

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
    const MPI_Aint first_byte = element_shape_of(type).true_low;
    buffer_ = moved(buffer, first_byte);
    type_ = moved_type_.emplace(type, -first_byte).get();
  }
  packed_ = std::make_unique_for_overwrite<std::byte[]>(count * element_bytes);
  has_arrived_.resize(grid.count());
}

void PackedStore::load(const Segment& segment) {
  const std::uint64_t end = segment.offset + segment.length;
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
