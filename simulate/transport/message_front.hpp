// Limits how far ahead the source of a broadcast injects segments, and the root of a reduction
// accepts them: in the order of the message, at most a lookahead beyond the oldest unfinished
// segment. So trees keep their shares of the message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/plan/segment_assignment.hpp"

namespace espalier::simulate {

// Trees are numbered as in the assignment, from 0.
class MessageFront {
 public:
  // Keeps a reference to the assignment. segments: of the message.
  MessageFront(const planner::SegmentAssignment& assignment, std::uint64_t segments,
               std::uint64_t lookahead)
      : assignment_(assignment),
        segments_(segments),
        lookahead_(lookahead),
        admitted_(assignment.trees(), 0),
        finished_(assignment.trees(), 0) {}

  [[nodiscard]] std::uint64_t admitted(std::size_t tree) const { return admitted_[tree]; }
  [[nodiscard]] std::uint64_t finished(std::size_t tree) const { return finished_[tree]; }
  // The tree's oldest unfinished segment is finished.
  void finish(std::size_t tree) { ++finished_[tree]; }

  // Admits segments within the lookahead. admit(segment, tree, count) returns how many of `count`
  // segments of the tree, from `segment` on, are available; 0 ends it. Returns whether any was
  // admitted.
  template <class Admit>
  bool advance(Admit admit) {
    const std::uint64_t before = next_;
    while (next_ < segments_ && !is_too_far_ahead()) {
      const std::size_t tree = assignment_.tree_of(next_);
      const std::uint64_t count = admit(next_, tree, at_once());
      if (count == 0) break;
      admitted_[tree] += count;
      next_ += count;
    }
    return next_ != before;
  }

 private:
  // Without a limit, a single tree gets the whole message in one step, however many segments it
  // has.
  [[nodiscard]] std::uint64_t at_once() const {
    const bool all = lookahead_ == UINT64_MAX && admitted_.size() == 1;
    return all ? segments_ - next_ : 1;
  }

  [[nodiscard]] bool is_too_far_ahead() {
    if (next_ - oldest_ < lookahead_) return false;
    oldest_ = next_;
    for (std::size_t tree = 0; tree < admitted_.size(); ++tree) {
      if (finished_[tree] == admitted_[tree]) continue;
      oldest_ = std::min(oldest_, assignment_.segment_of(tree, finished_[tree]));
    }
    return next_ - oldest_ >= lookahead_;
  }

  const planner::SegmentAssignment& assignment_;
  std::uint64_t segments_;
  std::uint64_t lookahead_;
  std::uint64_t next_ = 0;
  std::uint64_t oldest_ = 0;
  std::vector<std::uint64_t> admitted_;
  std::vector<std::uint64_t> finished_;
};

}  // namespace espalier::simulate
