// Stages that need a resource and wait, for it or for others, in the order of their ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::simulate {

class WaitList {
 public:
  static constexpr std::uint32_t kSeveral = UINT32_MAX;
  struct Entry {
    std::uint64_t rank;
    std::uint32_t stage;
    // The stage's other resource; this one, if there is no other, or kSeveral.
    std::uint32_t other;
    bool is_in_both = false;  // lists
  };

  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }
  [[nodiscard]] std::size_t size() const { return entries_.size() - first_; }
  Entry& operator[](std::size_t place) { return entries_[first_ + place]; }
  // Mostly the last one, because ranks grow.
  void insert(const Entry& entry) {
    if (empty() || is_before(entries_.back(), entry)) return entries_.push_back(entry);
    entries_.insert(find(entry), entry);
  }
  // Returns what was erased. Mostly the first one, because those before it have begun before.
  // Precondition: there is an entry of this rank and stage.
  Entry erase(std::uint64_t rank, std::uint32_t stage) {
    const auto found = begin()->stage == stage ? begin() : find({rank, stage, 0});
    const Entry erased = *found;
    if (found != begin()) {
      entries_.erase(found);
      return erased;
    }
    ++first_;
    if (2 * first_ >= entries_.size()) {
      entries_.erase(entries_.begin(), begin());
      first_ = 0;
    }
    return erased;
  }

 private:
  static bool is_before(const Entry& a, const Entry& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.stage < b.stage;
  }
  std::vector<Entry>::iterator begin() {
    return entries_.begin() + static_cast<std::ptrdiff_t>(first_);
  }
  // Where the entry is, or belongs.
  std::vector<Entry>::iterator find(const Entry& entry) {
    return std::lower_bound(begin(), entries_.end(), entry, is_before);
  }

  std::vector<Entry> entries_;
  std::size_t first_ = 0;  // those before it are erased
};

}  // namespace espalier::simulate
