// When the next send of each lane ends: a binary heap in which a lane's time can be changed. With
// an event for each change instead, a hundred of a busy port's would be out of date for each that
// is not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/model/agenda.hpp"

namespace espalier::simulate {

class EndTimes {
 public:
  explicit EndTimes(std::size_t lanes) : place_(lanes, kNowhere) {}

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  // The lane that ends first, of several the one with the lowest number. Precondition: there is
  // one.
  [[nodiscard]] std::uint32_t first() const { return heap_.front().lane; }
  [[nodiscard]] Ticks first_time() const { return heap_.front().time; }

  void set(std::uint32_t lane, Ticks time) {
    if (place_[lane] == kNowhere) {
      heap_.push_back({time, lane});
      return move_up(heap_.size() - 1, {time, lane});
    }
    move(place_[lane], {time, lane});
  }
  // Precondition: there is one.
  void erase_first() {
    place_[heap_.front().lane] = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) move_down(0, last);
  }

 private:
  static constexpr std::size_t kNowhere = SIZE_MAX;
  struct Entry {
    Ticks time;
    std::uint32_t lane;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes a defaulted <=> for a null pointer
    auto operator<=>(const Entry&) const = default;
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[entry.lane] = place;
  }
  // To where the entry belongs, from a place that is empty.
  void move(std::size_t place, const Entry& entry) {
    if (place > 0 && entry < heap_[(place - 1) / 2]) {
      move_up(place, entry);
    } else {
      move_down(place, entry);
    }
  }
  void move_up(std::size_t place, const Entry& entry) {
    for (; place > 0 && entry < heap_[(place - 1) / 2]; place = (place - 1) / 2) {
      put(place, heap_[(place - 1) / 2]);
    }
    put(place, entry);
  }
  void move_down(std::size_t place, const Entry& entry) {
    for (std::size_t below = 2 * place + 1; below < heap_.size(); below = 2 * place + 1) {
      if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
      if (entry < heap_[below]) break;
      put(std::exchange(place, below), heap_[below]);
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> place_;  // of each lane in it
};

}  // namespace espalier::simulate
