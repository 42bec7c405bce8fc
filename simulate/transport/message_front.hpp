// How far the source of a broadcast lets slices go, and the root of a reduction takes them: in the
// order of the message, at most a lookahead beyond the oldest that it is not done with. So trees
// keep to their shares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/plan/slice_dealer.hpp"

namespace espalier::simulate {

// Trees are the dealer's, numbered from 0.
class MessageFront {
 public:
  // Keeps a reference to the dealer. slices: of the message.
  MessageFront(const planner::SliceDealer& dealer, std::uint64_t slices, std::uint64_t lookahead)
      : dealer_(dealer),
        slices_(slices),
        lookahead_(lookahead),
        admitted_(dealer.trees(), 0),
        finished_(dealer.trees(), 0) {}

  [[nodiscard]] std::uint64_t admitted(std::size_t tree) const { return admitted_[tree]; }
  [[nodiscard]] std::uint64_t finished(std::size_t tree) const { return finished_[tree]; }
  // The tree's oldest slice is done with.
  void finish(std::size_t tree) { ++finished_[tree]; }

  // Admits what may come, as long as admit(slice, tree) agrees that the slice is there. Whether any
  // was admitted.
  template <class Admit>
  bool advance(Admit admit) {
    const std::uint64_t before = next_;
    while (next_ < slices_ && !is_too_far_ahead()) {
      const std::size_t tree = dealer_.tree_of(next_);
      if (!admit(next_, tree)) break;
      ++admitted_[tree];
      ++next_;
    }
    return next_ != before;
  }

 private:
  [[nodiscard]] bool is_too_far_ahead() {
    if (next_ - oldest_ < lookahead_) return false;
    oldest_ = next_;
    for (std::size_t tree = 0; tree < admitted_.size(); ++tree) {
      if (finished_[tree] == admitted_[tree]) continue;
      oldest_ = std::min(oldest_, dealer_.slice_of(tree, finished_[tree]));
    }
    return next_ - oldest_ >= lookahead_;
  }

  const planner::SliceDealer& dealer_;
  std::uint64_t slices_;
  std::uint64_t lookahead_;
  std::uint64_t next_ = 0;
  std::uint64_t oldest_ = 0;
  std::vector<std::uint64_t> admitted_;
  std::vector<std::uint64_t> finished_;
};

}  // namespace espalier::simulate
