#include "runtime/preload/calls/byte_parts.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/stores.hpp"

namespace espalier::preload {

std::vector<std::size_t> bytes_of_parts(const Parts& parts) {
  const std::size_t size = runtime::element_shape_of(parts.type).bytes;
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < parts.ranks; ++i) {
    bytes.push_back(static_cast<std::size_t>(parts.counts[i]) * size);
  }
  return bytes;
}

ByteParts::ByteParts(MPI_Comm comm, const Parts& parts, Contents contents)
    : comm_(comm), parts_(parts), counts_(bytes_of_parts(parts)), address_(parts.address) {
  const std::size_t bytes = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
  if (bytes == 0) return;
  const runtime::ElementShape shape = runtime::element_shape_of(parts.type);
  if (!runtime::is_plain(comm, parts.type)) {
    packed_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    address_ = packed_.get();
    if (contents == Contents::kNone) return;
    each([&](const runtime::ElementPacker& from, std::size_t elements, std::byte* to) {
      from.pack(0, elements, to);
    });
    return;
  }
  std::vector<MPI_Aint> begins(counts_.size(), 0);
  if (parts.first.is_given()) {
    for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = parts.first[i] * shape.extent;
  }
  MPI_Aint lowest = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (counts_[i] > 0) lowest = std::min(lowest, begins[i]);
  }
  for (std::size_t i = 0; i < begins.size(); ++i) {
    first_.push_back(counts_[i] > 0 ? static_cast<std::size_t>(begins[i] - lowest) : 0);
  }
  address_ = runtime::moved(parts.address, lowest + shape.true_low);
}

template <class Act>
void ByteParts::each(const Act& act) const {
  const runtime::ElementShape shape = runtime::element_shape_of(parts_.type);
  std::byte* bytes = packed_.get();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const MPI_Aint by = parts_.first.is_given() ? parts_.first[i] * shape.extent : 0;
    const runtime::ElementPacker elements(comm_, runtime::moved(parts_.address, by), parts_.type,
                                          shape.bytes);
    act(elements, static_cast<std::size_t>(parts_.counts[i]), bytes);
    bytes += counts_[i];
  }
}

void ByteParts::store() {
  if (packed_ == nullptr) return;
  each([](const runtime::ElementPacker& to, std::size_t elements, std::byte* from) {
    to.unpack(0, elements, from);
  });
}

void exchange_by_leaders(MPI_Comm comm, const runtime::AlltoallByLeaders& leaders,
                         const std::optional<Parts>& sent, const Parts& received) {
  using Contents = ByteParts::Contents;
  ByteParts to(comm, received, sent ? Contents::kNone : Contents::kData);
  std::optional<ByteParts> from;
  if (sent) from.emplace(comm, *sent, Contents::kData);
  const ByteParts& source = from ? *from : to;
  leaders.run(runtime::AlltoallByLeaders::Way::kOneAlltoallv,
              {static_cast<const std::byte*>(source.address()), source.counts(), source.first()},
              {static_cast<std::byte*>(to.address()), to.counts(), to.first()});
  to.store();
}

}  // namespace espalier::preload
