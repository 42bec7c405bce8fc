// The event queue of a greedy run. Time is in whole ticks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::simulate {

using Ticks = std::int64_t;

// A queue that hands over the least of its entries first: a binary heap whose entries go
// down to a leaf and up again, as those of std::priority_queue do, but which of two is further down
// is calculated, because a processor foresees half of such branches.
template <class Entry>
class Earliest {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  void push(const Entry& entry) {
    entries_.push_back(entry);
    rise(entries_.size() - 1, entry);
  }
  void pop() {
    const Entry last = entries_.back();
    entries_.pop_back();
    const std::size_t size = entries_.size();
    if (size == 0) return;
    Entry* const entries = entries_.data();
    std::size_t hole = 0;
    std::size_t child = 2;
    for (; child < size; child = 2 * hole + 2) {
      __builtin_prefetch(entries + 4 * hole + 3);
      __builtin_prefetch(entries + 4 * hole + 6);
      child -= static_cast<std::size_t>(entries[child] > entries[child - 1]);
      entries[hole] = entries[child];
      hole = child;
    }
    if (child == size) {
      entries[hole] = entries[child - 1];
      hole = child - 1;
    }
    rise(hole, last);
  }

 private:
  void rise(std::size_t hole, const Entry& entry) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 2;
      if (!(entries_[parent] > entry)) break;
      entries_[hole] = entries_[parent];
      hole = parent;
    }
    entries_[hole] = entry;
  }

  std::vector<Entry> entries_;
};

struct Event {
  enum class Kind : std::uint8_t {
    kRelease,   // stage `index` releases the resources that it needs at [first, last); in a
                // SharingNetwork: a segment has passed, if `first` is the network's version
    kArrival,   // a segment of flow `index` has arrived
    kDue,       // the pace allows the next segment of flow `index`
    kCombined,  // the processor of host `index` has combined a segment
  };
  Ticks time;
  std::uint32_t index;
  std::uint32_t first;
  std::uint32_t last;
  Kind kind;
  bool operator>(const Event& other) const { return time > other.time; }
};

class Agenda {
 public:
  explicit Agenda(double tick_s) : tick_s_(tick_s) {}

  [[nodiscard]] Ticks ticks(double seconds) const { return std::llround(seconds / tick_s_); }
  [[nodiscard]] double seconds(Ticks time) const { return static_cast<double>(time) * tick_s_; }
  [[nodiscard]] double tick_s() const { return tick_s_; }
  [[nodiscard]] Ticks now() const { return now_; }

  void add(Event::Kind kind, Ticks from_now, std::uint32_t index, std::uint32_t first = 0,
           std::uint32_t last = 0) {
    events_.push({now_ + from_now, index, first, last, kind});
    most_ = std::max<std::uint64_t>(most_, events_.size());
  }
  [[nodiscard]] bool is_empty() const { return events_.empty(); }
  // Advances to the time of the next event. Precondition: there is one.
  void advance() { now_ = events_.top().time; }
  // Whether another event is due now.
  [[nodiscard]] bool has_one_now() const { return !events_.empty() && events_.top().time == now_; }
  // The next event. Precondition: there is one.
  [[nodiscard]] const Event& next() const { return events_.top(); }
  Event take() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }
  [[nodiscard]] std::uint64_t most() const { return most_; }  // most events queued at a time

 private:
  double tick_s_;
  Ticks now_ = 0;
  Earliest<Event> events_;
  std::uint64_t most_ = 0;
};

}  // namespace espalier::simulate
