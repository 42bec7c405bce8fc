// What a plan moves, as other programs' formats state it: every segment along every edge, with what
// must have arrived before it may leave. The writers of this folder turn it into their formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_grid.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// One segment along one edge of a tree.
struct Transfer {
  std::uint32_t from;  // index into Plan::nodes, which is the rank
  std::uint32_t to;
  std::uint32_t block;    // of planner::blocks_of(plan)
  std::uint32_t tree;     // over all blocks
  std::uint64_t segment;  // of the block
  std::uint64_t bytes;
  bool combines;  // `to` adds it to its own segment
  // Transfers to `from` that must have arrived: the segment itself, its parts where they are
  // combined, and on an exchange edge the rest of the tree.
  std::vector<std::size_t> after{};
  // An earlier one on the same edge that must have left, so that only as many sends are outstanding
  // as in the executor (window_for, planner::send_window): of sends that share a link, none would
  // be early.
  std::optional<std::size_t> behind{};
};

struct Transfers {
  Bytes message;  // as the plan counts it
  Bytes segment;  // a whole one
  std::size_t ranks = 0;
  // What each block carries. A block after another one has that one's part of the message.
  std::vector<planner::SegmentGrid> grids;
  // Every transfer comes after those that it needs, in the order in which the engine would have
  // them leave if all were equally fast: by the position of their segment in the message, then by
  // the number of hops before them.
  std::vector<Transfer> all;
  std::uint64_t segments = 0;  // of the message, over all its parts
  // Of each block: the tag of its first segment.
  std::vector<std::uint64_t> first_tag;

  // Which segment it is and on which way: the same on all its hops in a block. Divided by
  // `segments`, its rest is the number of the segment, and 1 remains of a block after another one.
  [[nodiscard]] std::uint64_t tag_of(const Transfer& transfer) const {
    return first_tag[transfer.block] + transfer.segment;
  }
};

// The most transfers that can be listed; files with more could not be used.
inline constexpr std::size_t kMostTransfers = 2'000'000;

// message: as the plan counts it (docs/formats.md, "Plan"); of a barrier, 1 byte instead. segment:
// at least 1 byte. Throws InputError (place and reason) for a message without segments and for more
// than kMostTransfers. Precondition: no structural fault.
Transfers transfers_of(const planner::Plan& plan, Bytes message, Bytes segment);

// "broadcast of 1 MiB in 16 segments of 64 KiB, plan 'optimal' for 'two racks'", on one line.
std::string title_of(const planner::Plan& plan, const Transfers& transfers);

}  // namespace espalier::simulate
