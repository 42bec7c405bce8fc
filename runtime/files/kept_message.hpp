// A message in files of which segments come and go in any order, on one host. What has arrived
// survives the process: see SegmentMap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/files/files.hpp"
#include "runtime/files/segment_map.hpp"

namespace espalier::runtime {

// All functions throw InputError for files that cannot be read or written.
class KeptMessage {
 public:
  // in: read on the source, null elsewhere. out: written; null: not written, only on the source.
  // Both outlive this. map: of `out`.
  KeptMessage(ByteSource* in, ByteTarget* out, SegmentMap map);

  // Forgets the segments whose bytes in `out` are not those that the map promises. between: called
  // after each.
  template <class Between>
  void check_claims(const Between& between) {
    for (std::uint64_t i = 0; i < map_.grid().count(); ++i) {
      if (map_.contains(i) && !is_as_claimed(i)) map_.drop(i);
      between();
    }
  }
  [[nodiscard]] bool is_as_claimed(std::uint64_t index);

  // Reads a segment into `to`, and returns the checksum that it had when it was read or arrived for
  // the first time: what it is sent with, so that a receiver finds damage done meanwhile. On the
  // source, bytes that have changed since are an InputError.
  std::uint64_t load(std::uint64_t index, std::byte* to);
  // Whether the bytes have this checksum; if they do, they are written.
  [[nodiscard]] bool store(std::uint64_t index, std::span<const std::byte> bytes,
                           std::uint64_t checksum);
  // On the source: reads what nobody has asked for.
  void load_rest();

  [[nodiscard]] const SegmentMap& map() const { return map_; }
  // Gives the output its name, after all is on the disk.
  void commit();

 private:
  ByteSource* in_;
  ByteTarget* out_;
  SegmentMap map_;
};

}  // namespace espalier::runtime
