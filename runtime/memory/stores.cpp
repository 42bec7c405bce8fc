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

ElementPacker::ElementPacker(MPI_Comm comm, void* buffer, MPI_Datatype type,
                             std::size_t element_bytes)
    : comm_(comm), buffer_(buffer), type_(type), element_bytes_(element_bytes) {
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
}

template <class Act>
void ElementPacker::in_pieces(std::size_t first, std::size_t count, std::byte* bytes,
                              const Act& act) const {
  if (element_bytes_ == 0) return;
  const std::size_t most = static_cast<std::size_t>(INT_MAX) / element_bytes_;
  for (std::size_t done = 0; done < count;) {
    const std::size_t elements = std::min(count - done, most);
    act(moved(buffer_, static_cast<MPI_Aint>(first + done) * extent_), static_cast<int>(elements),
        bytes + done * element_bytes_, static_cast<int>(elements * element_bytes_));
    done += elements;
  }
}

void ElementPacker::pack(std::size_t first, std::size_t count, std::byte* bytes) const {
  in_pieces(first, count, bytes, [this](void* at, int elements, std::byte* to, int size) {
    int position = 0;
    check(MPI_Pack(at, elements, type_, to, size, &position, comm_), "MPI_Pack");
  });
}

void ElementPacker::unpack(std::size_t first, std::size_t count, std::byte* bytes) const {
  in_pieces(first, count, bytes, [this](void* at, int elements, std::byte* from, int size) {
    int position = 0;
    check(MPI_Unpack(from, size, &position, at, elements, type_, comm_), "MPI_Unpack");
  });
}

PackedStore::PackedStore(MPI_Comm comm, void* buffer, std::size_t count, MPI_Datatype type,
                         std::size_t element_bytes, SegmentGrid grid)
    : packer_(comm, buffer, type, element_bytes), element_bytes_(element_bytes), grid_(grid) {
  packed_ = std::make_unique_for_overwrite<std::byte[]>(count * element_bytes);
  has_arrived_.resize(grid.count());
}

void PackedStore::load(const Segment& segment) {
  const std::uint64_t bytes = segment.offset + segment.length;
  const std::uint64_t end = (bytes + element_bytes_ - 1) / element_bytes_;
  if (end <= done_) return;
  packer_.pack(done_, end - done_, packed_.get() + done_ * element_bytes_);
  done_ = end;
}

void PackedStore::arrived(const Segment& segment) {
  has_arrived_[segment.index] = true;
  while (arrived_prefix_ < has_arrived_.size() && has_arrived_[arrived_prefix_]) ++arrived_prefix_;
  const std::uint64_t end =
      std::min(arrived_prefix_ * grid_.segment, grid_.message) / element_bytes_;
  if (end <= done_) return;
  packer_.unpack(done_, end - done_, packed_.get() + done_ * element_bytes_);
  done_ = end;
}

}  // namespace espalier::runtime
