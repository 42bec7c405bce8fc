// The event queue of a greedy run. Time is in whole ticks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace espalier::simulate {

using Ticks = std::int64_t;

template <class Entry>
using Earliest = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

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
