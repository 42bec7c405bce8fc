#include "tests/simulate/export/deliveries.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/plan/shapes/oblivious_shapes.hpp"

namespace espalier::testing {

Deliveries::Deliveries(const planner::Plan& plan, const simulate::Transfers& transfers)
    : plan_(plan), blocks_(planner::blocks_of(plan)), segments_(transfers.segments) {
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    const planner::SegmentGrid& grid = transfers.grids[block];
    for (std::uint64_t segment = 0; segment < grid.count(); ++segment) {
      parts_[transfers.first_tag[block] + segment] = {block, grid.length(segment)};
    }
  }
}

Contributions& Deliveries::data(std::uint32_t rank, std::uint64_t tag) {
  const auto [found, is_new] = data_.try_emplace({rank, tag}, 0);
  if (!is_new) return found->second;
  const planner::PlanTrees& block = blocks_[parts_.at(tag).block];
  if (block.up) {
    found->second = Contributions{1} << rank;
  } else if (rank == block.root) {
    found->second = block.after ? data(rank, tag - segments_) : Contributions{1} << rank;
  }
  return found->second;
}

Contributions Deliveries::sent(std::uint32_t rank, std::uint64_t tag) {
  if (parts_.find(tag) == parts_.end()) {
    ADD_FAILURE() << "no segment has the tag " << tag;
    return 0;
  }
  const planner::PlanTrees& block = blocks_[parts_.at(tag).block];
  if (!block.up && rank == block.root && block.after) {
    data_[{rank, tag}] = data(rank, tag - segments_);
  }
  EXPECT_NE(data(rank, tag), 0U) << "rank " << rank << " sends tag " << tag << " before it has it";
  return data(rank, tag);
}

void Deliveries::received(std::uint32_t rank, std::uint64_t tag, std::uint64_t bytes,
                          Contributions arrived) {
  EXPECT_EQ(bytes, parts_.at(tag).bytes) << "tag " << tag;
  Contributions& here = data(rank, tag);
  if (blocks_[parts_.at(tag).block].up) {
    EXPECT_EQ(here & arrived, 0U) << "added twice: tag " << tag << " on " << rank;
    here |= arrived;
  } else {
    EXPECT_EQ(here, 0U) << "arrives twice: tag " << tag << " on " << rank;
    here = arrived;
  }
}

void Deliveries::expect_complete() {
  const auto nodes = static_cast<std::uint32_t>(plan_.nodes.size());
  const Contributions all = nodes == 64 ? ~Contributions{0} : (Contributions{1} << nodes) - 1;
  for (const auto& [tag, part] : parts_) {
    const planner::PlanTrees& block = blocks_[part.block];
    const bool is_sum = block.up || block.after;
    const Contributions whole = is_sum ? all : Contributions{1} << block.root;
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      const bool is_member =
          block.members.empty() || std::ranges::find(block.members, rank) != block.members.end();
      const bool needs = block.up ? rank == block.root : block.to ? rank == *block.to : is_member;
      if (!needs) continue;
      if (rank == block.root && !block.up) continue;
      EXPECT_EQ(data(rank, tag), whole) << "tag " << tag << " on rank " << rank;
    }
  }
}

planner::Plan exchanging_plan() {
  return planner::plan_of({"split-binary", planner::Operation::kBroadcast, 7, 2, {1e9}});
}

}  // namespace espalier::testing
