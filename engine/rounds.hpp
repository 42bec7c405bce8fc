// Synchronised rounds, as in the two-tree algorithm of Sanders, Speck and Traeff (Parallel
// Computing 35 (2009), doi:10.1016/j.parco.2009.09.001): in round t a rank receives and sends only
// on edges of color t mod 2, one segment on each, and continues when both are complete. Which
// segment crosses which edge in which round follows from the plan alone (docs/engine.md).
//
// No deadlock. Let t be the first round that some rank cannot complete. All ranks have completed
// the rounds before t, so both ends of an edge used in round t have reached it, have the segment
// that is due and have posted their operation. Send and receive match, so they complete: a
// contradiction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/tree_role.hpp"
#include "planner/plan/plan.hpp"

namespace espalier::engine {

// Throws InputError unless a plan can be run in rounds: if every edge has a color, no rank sends or
// receives twice in a round among the trees of one kind, no edge is an exchange edge (on which a
// parent waits longer than a round), and all trees of a kind have the same rate, because in rounds
// they carry the same amount.
// Precondition: no structural fault.
void require_rounds(const planner::Plan& plan, const std::string& file = {});

// For each edge of a tree, in order, the round in which it is first used. Where segments are
// combined, rounds are those of copying in reverse, so that a rank receives a segment on all
// in-edges in the two rounds before it sends it, and needs no further buffers. root: of the tree.
// Preconditions: no structural fault, and the tree has colors.
std::vector<std::uint64_t> first_rounds(const planner::PlanTree& tree, std::uint32_t root,
                                        Kind kind = Kind::kSpread);

// When each of a rank's edges in one tree is first used, in the order of its role.
struct TreeRounds {
  std::vector<std::uint64_t> receives;
  std::vector<std::uint64_t> sends;
};
// One element per tree. rank_of_node[i] is the rank of node i.
std::vector<TreeRounds> rounds_of(std::span<const planner::PlanTree> trees, std::uint32_t root,
                                  std::span<const int> rank_of_node, int rank,
                                  Kind kind = Kind::kSpread);

// The current round of a rank, and how many segments of each tree are due by its end.
class RoundClock {
 public:
  explicit RoundClock(std::vector<TreeRounds> trees) : trees_(std::move(trees)) {}

  void reset() { round_ = 0; }
  void next() { ++round_; }
  [[nodiscard]] std::uint64_t receives_due(std::size_t tree, std::size_t edge) const {
    return due(trees_[tree].receives[edge]);
  }
  [[nodiscard]] std::uint64_t sends_due(std::size_t tree, std::size_t edge) const {
    return due(trees_[tree].sends[edge]);
  }

 private:
  [[nodiscard]] std::uint64_t due(std::uint64_t first) const {
    return round_ < first ? 0 : (round_ - first) / 2 + 1;
  }

  std::vector<TreeRounds> trees_;
  std::uint64_t round_ = 0;
};

}  // namespace espalier::engine
