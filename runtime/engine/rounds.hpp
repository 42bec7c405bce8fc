// Synchronised rounds, as Sanders, Speck and Traeff run their two trees (Parallel Computing 35
// (2009), doi:10.1016/j.parco.2009.09.001): in round t a rank receives and sends only on edges of
// color t mod 2, one segment on each, and goes on when both are done.
//
// Which segment crosses which edge in which round follows from the plan alone: the first one in the
// first round of the edge's color after the one in which its parent got it, from then on one every
// other round. So a segment is always there when it is due, and no rank waits for a round that the
// other end of an edge counts differently.
//
// No deadlock. Let t be the least round that some rank cannot end. All ranks have ended the rounds
// before it, so both ends of an edge that is used in round t have come to it, hold what is due and
// have posted their part. The two match, so they complete: a contradiction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::runtime {

// Why a plan cannot be run in rounds, as (JSON pointer, reason); empty when it can: every edge has
// a color, no rank sends or receives twice in a round, no edge is an exchange edge (for which a
// parent waits longer than a round), and all trees have one rate, for in rounds they carry the
// same. Precondition: no structural fault.
std::optional<planner::PlanFault> rounds_fault(const planner::Plan& plan);

// For each edge of a tree, by place, the round in which it is first used. source: of the plan.
// Preconditions: no structural fault, and the tree has colors.
std::vector<std::uint64_t> first_rounds(const planner::PlanTree& tree, std::uint32_t source);

// A rank's edges in one tree, and when each is first used.
struct TreeRounds {
  std::uint64_t receive = 0;         // unused on the source
  std::vector<std::uint64_t> sends;  // in the order of the children
};
// rank_of_node[i] is the rank of plan.nodes[i]. One a tree.
std::vector<TreeRounds> rounds_of(const planner::Plan& plan, std::span<const int> rank_of_node,
                                  int rank);

// The round that a rank is in, and how many segments of each tree are due up to its end.
class RoundClock {
 public:
  explicit RoundClock(std::vector<TreeRounds> trees) : trees_(std::move(trees)) {}

  void reset() { round_ = 0; }
  void next() { ++round_; }
  [[nodiscard]] std::uint64_t receives_due(std::size_t tree) const {
    return due(trees_[tree].receive);
  }
  [[nodiscard]] std::uint64_t sends_due(std::size_t tree, std::size_t child) const {
    return due(trees_[tree].sends[child]);
  }

 private:
  [[nodiscard]] std::uint64_t due(std::uint64_t first) const {
    return round_ < first ? 0 : (round_ - first) / 2 + 1;
  }

  std::vector<TreeRounds> trees_;
  std::uint64_t round_ = 0;
};

}  // namespace espalier::runtime
