#include "engine/pull/possession.hpp"

#include <algorithm>
#include <bit>

namespace espalier::engine::pull {

bool SegmentSet::insert(std::uint64_t segment) {
  std::uint64_t& word = words_[segment / 64];
  const std::uint64_t bit = std::uint64_t{1} << (segment % 64);
  if ((word & bit) != 0) return false;
  word |= bit;
  ++size_;
  return true;
}

bool SegmentSet::erase(std::uint64_t segment) {
  std::uint64_t& word = words_[segment / 64];
  const std::uint64_t bit = std::uint64_t{1} << (segment % 64);
  if ((word & bit) == 0) return false;
  word &= ~bit;
  --size_;
  return true;
}

void SegmentSet::clear() {
  std::ranges::fill(words_, 0);
  size_ = 0;
}

Possession::Possession(std::size_t ranks, std::uint64_t segments)
    : have_(ranks, SegmentSet(segments)), want_(ranks, SegmentSet(segments)), rarity_(segments) {}

bool Possession::add_have(std::size_t rank, std::uint64_t segment) {
  if (!have_[rank].insert(segment)) return false;
  if (!want_[rank].erase(segment)) ++rarity_[segment];
  return true;
}

void Possession::add_want(std::size_t rank, std::uint64_t segment) {
  if (!have_[rank].contains(segment) && want_[rank].insert(segment)) ++rarity_[segment];
}

void Possession::drop_want(std::size_t rank, std::uint64_t segment) {
  if (want_[rank].erase(segment)) --rarity_[segment];
}

void Possession::forget(std::size_t rank) {
  for (SegmentSet* const set : {&have_[rank], &want_[rank]}) {
    for (std::size_t i = 0; i < set->words().size(); ++i) {
      for (std::uint64_t word = set->words()[i]; word != 0; word &= word - 1) {
        --rarity_[i * 64 + static_cast<std::size_t>(std::countr_zero(word))];
      }
    }
    set->clear();
  }
}

}  // namespace espalier::engine::pull
