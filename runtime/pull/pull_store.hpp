// Where the segments of a pull are received to and sent from. They come in any order, and a segment
// may be sent many times, at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/pull/pulled_message.hpp"
#include "engine/segments.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/files/file_store.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime {

class PullStore : public Interface {
 public:
  // How many segments may be received at a time, at least 1.
  [[nodiscard]] virtual std::size_t most_receives() const { return SIZE_MAX; }
  // Where a segment is to be received. At most most_receives() have not arrived.
  virtual std::byte* receive_buffer(std::uint64_t index) = 0;
  virtual void arrived(std::uint64_t index) = 0;
  // Where the bytes of a segment are, until sent() is called as often as this. Null: nowhere, until
  // another segment has been sent or has arrived.
  virtual const std::byte* send_buffer(std::uint64_t index) = 0;
  virtual void sent(std::uint64_t /*index*/) {}
  // A segment could not be read or written, and the message must stop.
  [[nodiscard]] virtual bool failed() const { return false; }
};

// A message that is in memory as a whole.
class MemoryPullStore : public PullStore {
 public:
  // store: holds all segments of the grid; outlives this. loads: this rank is the source.
  MemoryPullStore(SegmentStore& store, const SegmentGrid& grid, bool loads)
      : store_(&store), grid_(grid), loads_(loads) {}
  std::byte* receive_buffer(std::uint64_t index) override {
    return store_->buffer_for(segment_at(index));
  }
  void arrived(std::uint64_t index) override { store_->arrived(segment_at(index)); }
  const std::byte* send_buffer(std::uint64_t index) override;

 private:
  [[nodiscard]] Segment segment_at(std::uint64_t index) const {
    return {index, 0, index, grid_.offset(index), static_cast<std::size_t>(grid_.length(index))};
  }

  SegmentStore* store_;
  SegmentGrid grid_;
  bool loads_;
};

// Parts of an allgather, each contiguous in memory.
class PartsPullStore : public PullStore {
 public:
  // Both outlive this.
  PartsPullStore(const PartsInMemory& parts, const engine::pull::PulledMessage& message)
      : parts_(&parts), message_(&message) {}
  std::byte* receive_buffer(std::uint64_t index) override {
    const auto place = message_->place_of(index);
    return parts_->bytes() + parts_->offset(place.block) + place.offset;
  }
  void arrived(std::uint64_t /*index*/) override {}
  const std::byte* send_buffer(std::uint64_t index) override { return receive_buffer(index); }

 private:
  const PartsInMemory* parts_;
  const engine::pull::PulledMessage* message_;
};

// A message in files, with buffers for some segments. Those that were used last stay in their
// buffers, because others soon ask for what has just arrived.
class FilePullStore : public PullStore {
 public:
  // store: has buffers for the segments of one tree, at least 2; outlives this. loads: this rank is
  // the source.
  FilePullStore(FileStore& store, const SegmentGrid& grid, bool loads);
  [[nodiscard]] std::size_t most_receives() const override { return slots_.size() / 2; }
  std::byte* receive_buffer(std::uint64_t index) override;
  void arrived(std::uint64_t index) override;
  const std::byte* send_buffer(std::uint64_t index) override;
  void sent(std::uint64_t index) override;
  [[nodiscard]] bool failed() const override { return store_->failed(); }
  // On the source, at the end: reads the segments for which nobody has asked, which the checksum
  // and the source's own output need.
  void load_rest();

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;
  struct Slot {
    std::uint64_t index = kNone;  // of its segment
    std::size_t uses = 0;         // receives and sends in progress
    std::uint64_t used = 0;       // when it was last used
  };
  [[nodiscard]] Segment segment_in(std::size_t slot, std::uint64_t index) const {
    return {index, 0, slot, grid_.offset(index), static_cast<std::size_t>(grid_.length(index))};
  }
  std::size_t take_slot(std::uint64_t index);
  void read_into(std::size_t slot, std::uint64_t index);

  FileStore* store_;
  SegmentGrid grid_;
  bool loads_;
  std::vector<Slot> slots_;
  std::unordered_map<std::uint64_t, std::size_t> slot_of_;  // by segment
  std::vector<bool> is_loaded_;                             // by segment, on the source
  std::size_t sending_ = 0;                                 // slots that are sent from
  std::uint64_t clock_ = 0;
};

}  // namespace espalier::runtime
