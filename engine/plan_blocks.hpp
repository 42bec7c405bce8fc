// How a plan becomes the blocks of a call on one rank, and a message the ranges of these blocks:
// what does not depend on the transport, so that an executor and a simulation state it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/block.hpp"
#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"

namespace espalier::engine {

// A rank among those that run a plan.
struct Place {
  std::span<const int> rank_of_node;  // for each of the plan's nodes
  int rank = 0;
  std::span<const int> host_of_rank{};  // equal for ranks of one host; empty: no edge is local
};

// Whether the rank sends, forwards or receives segments of the block.
bool concerns_rank(const planner::PlanTrees& block, const Place& place);

// One of planner::blocks_of(plan) as the rank sees it. most_in_flight:
// planner::most_bytes_in_flight of the whole plan.
Block block_of(const planner::PlanTrees& of, double most_in_flight,
               planner::SegmentAssignment assignment, const Place& place);

// The rank's rounds in such a block, whose trees have colors.
std::vector<TreeRounds> rounds_of(const planner::PlanTrees& of, const Place& place);

// Of a plan that routes: those that concern the rank. Of the n (n - 1) blocks of an alltoall it
// need not know the others.
std::vector<Block> routing_blocks_of(const planner::Plan& plan, const Place& place);

// The number of units for each share of so many, rounded so that they sum up to all; 0 for a share
// of 0. shares: sum 1.
std::vector<std::size_t> divided(std::uint64_t units, std::span<const double> shares);
// The same for equal shares.
std::vector<std::size_t> divided_equally(std::uint64_t units, std::size_t parts);

// Where each part begins if they follow one another.
std::vector<std::size_t> one_after_another(std::span<const std::size_t> counts);

// Of each block of a plan for a message that is the same on all ranks: its share of the grid.
std::vector<Range> ranges_of(const planner::Plan& plan, const SegmentGrid& grid);

// The bytes of each block of a plan, for a message of so many bytes as the plan counts them
// (docs/formats.md, "Plan"), divided by the plan's shares.
std::vector<std::uint64_t> bytes_of_blocks(const planner::Plan& plan, Bytes message);

}  // namespace espalier::engine
