#include "runtime/pull/pull_store.hpp"

namespace espalier::runtime {

const std::byte* MemoryPullStore::send_buffer(std::uint64_t index) {
  const Segment segment = segment_at(index);
  if (loads_) store_->load(segment);
  return store_->buffer_for(segment);
}

FilePullStore::FilePullStore(FileStore& store, const SegmentGrid& grid, bool loads)
    : store_(&store),
      grid_(grid),
      loads_(loads),
      slots_(store.segments_per_tree()),
      is_loaded_(loads ? grid.count() : 0) {}

// The free slot that was not used for the longest time. There is one: at most half of them receive,
// and at most the others send.
std::size_t FilePullStore::take_slot(std::uint64_t index) {
  std::size_t oldest = slots_.size();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].uses > 0) continue;
    if (oldest == slots_.size() || slots_[i].used < slots_[oldest].used) oldest = i;
  }
  Slot& slot = slots_.at(oldest);
  if (slot.index != kNone) slot_of_.erase(slot.index);
  slot = {index, 1, ++clock_};
  slot_of_[index] = oldest;
  return oldest;
}

std::byte* FilePullStore::receive_buffer(std::uint64_t index) {
  return store_->buffer_for(segment_in(take_slot(index), index));
}

void FilePullStore::arrived(std::uint64_t index) {
  const std::size_t slot = slot_of_.at(index);
  store_->arrived(segment_in(slot, index));
  slots_[slot].uses = 0;
  slots_[slot].used = ++clock_;
}

const std::byte* FilePullStore::send_buffer(std::uint64_t index) {
  const auto found = slot_of_.find(index);
  if (found != slot_of_.end()) {
    Slot& slot = slots_[found->second];
    if (slot.uses == 0) {
      if (sending_ == slots_.size() - most_receives()) return nullptr;
      ++sending_;
    }
    ++slot.uses;
    slot.used = ++clock_;
    return store_->buffer_for(segment_in(found->second, index));
  }
  if (sending_ == slots_.size() - most_receives()) return nullptr;
  ++sending_;
  const std::size_t slot = take_slot(index);
  read_into(slot, index);
  return store_->buffer_for(segment_in(slot, index));
}

void FilePullStore::read_into(std::size_t slot, std::uint64_t index) {
  const Segment segment = segment_in(slot, index);
  if (!loads_ || is_loaded_[index]) return store_->reload(segment);
  store_->load(segment);
  is_loaded_[index] = true;
}

void FilePullStore::sent(std::uint64_t index) {
  Slot& slot = slots_[slot_of_.at(index)];
  if (--slot.uses == 0) --sending_;
}

void FilePullStore::load_rest() {
  for (std::uint64_t index = 0; index < is_loaded_.size() && !failed(); ++index) {
    if (is_loaded_[index]) continue;
    const std::size_t slot = take_slot(index);
    read_into(slot, index);
    slots_[slot].uses = 0;
  }
}

}  // namespace espalier::runtime
