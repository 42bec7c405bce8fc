// A plan's trees of both kinds and their segments, for the plain simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "tests/simulate/plain_needs.hpp"

namespace espalier::testing {

// Numbers of trees are over both kinds, the reduce trees first.
class PlainTrees {
 protected:
  PlainTrees(const planner::Plan& plan, std::uint64_t message) {
    for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
      for (std::size_t number = 0; number < kind.trees->size(); ++number) {
        trees_.push_back({&(*kind.trees)[number], kind.up, number});
      }
    }
    const auto assignments = planner::assignments_of(plan);
    if (!plan.reduce_trees.empty()) up_.emplace(assignments.front());
    if (!plan.broadcast_trees.empty()) down_.emplace(assignments.back());
    segments_ = (message + plan.segment.value - 1) / plan.segment.value;
    if (up_) up_->end_at(segments_, plan.segment);
    if (down_) down_->end_at(segments_, plan.segment);
  }
  [[nodiscard]] const std::vector<planner::PlanEdge>& edges_of(std::size_t tree) const {
    return trees_[tree].tree->edges;
  }
  [[nodiscard]] const planner::SegmentAssignment& assignment_of(std::size_t tree) const {
    return trees_[tree].up ? *up_ : *down_;
  }
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::size_t nth) const {
    return assignment_of(tree).segment_of(trees_[tree].number, nth);
  }
  [[nodiscard]] std::size_t end_of(std::size_t tree) const {
    return assignment_of(tree).count(trees_[tree].number, segments_);
  }
  // The edges to the host's children, in plan order.
  [[nodiscard]] std::vector<std::size_t> children(std::size_t host, std::size_t tree) const {
    std::vector<std::size_t> result;
    for (std::size_t edge = 0; edge < edges_of(tree).size(); ++edge) {
      if (edges_of(tree)[edge].parent == host) result.push_back(edge);
    }
    return result;
  }

  std::vector<PlainTree> trees_;
  std::optional<planner::SegmentAssignment> up_;
  std::optional<planner::SegmentAssignment> down_;
  std::uint64_t segments_ = 0;
};

}  // namespace espalier::testing
