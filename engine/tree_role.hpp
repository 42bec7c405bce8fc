// What a rank does in each tree: from which ranks it receives segments, and to which it sends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::engine {

inline constexpr int kNoRank = -1;
inline constexpr int kNoRing = -1;

// Which receives wait until all ranks' calls are known to match, because until then a longer
// segment than expected may arrive and be written past the receive's buffer.
enum class Risk : std::uint8_t {
  kNone,
  kShortSegments,  // those of a segment that is shorter than the others
  kAll,
};

// An edge of a tree between this rank and another one.
struct Edge {
  int peer = kNoRank;          // kNoRank: the ranks that read the ring
  double bytes_in_flight = 0;  // at the tree's rate (planner/plan/send_windows.hpp)
  bool is_local = false;       // the peer is on this rank's host
  // The ring in memory that the ranks share, by the transport's numbers; kNoRing: none. Such an
  // edge has no latency and needs no pace. Stores that copy must then hold the whole message and
  // never fail.
  int ring = kNoRing;
  Risk risk = Risk::kNone;  // of an edge into this rank
  // Of an edge out of this rank: every so many of its sends complete only after their receives were
  // posted, so that only so many are ever ahead of a receiver with few buffers; 0: none of them.
  // (Block::synchronous: all.)
  std::uint32_t synchronous_every = 0;
  // Of an edge out of this rank: where it begins with a few receivers (Crowd), with the lowest
  // place. Edges of the same place have different receivers on all ranks.
  std::uint32_t place = 0;

  [[nodiscard]] bool uses_ring() const { return ring != kNoRing; }
};

struct TreeRole {
  std::vector<Edge> in;       // in the order in which segments are combined
  std::vector<Edge> out;      // in the order of sending, those of exchange edges last
  std::size_t exchanges = 0;  // number of exchange edges; the last ones of `out`
  // What arrives on all in-edges is combined with this rank's own segment. Otherwise there is at
  // most one in-edge, and segments without one come from this rank's store.
  bool combines = false;
  BytesPerSecond rate;  // of the tree
  // Among the trees of all blocks of the call, by which ranks tell them apart (trees_of).
  std::size_t number = 0;

  // Whether the rank has anything to do for it, unless it is the root of a block.
  [[nodiscard]] bool concerns_rank() const { return !in.empty() || !out.empty(); }
  // Whether the rank passes segments on that it has no use for, where the block routes.
  [[nodiscard]] bool passes_on() const { return !in.empty() && !out.empty(); }
};

// What trees do with segments.
enum class Kind : std::uint8_t {
  kSpread,   // copy them from parents to children
  kCombine,  // combine them from children to parents
};

// The roles of rank `rank` in a block's trees. rank_of_node[i] is the rank of node i. host_of_rank:
// equal for ranks of one host; empty: no edge counts as local.
std::vector<TreeRole> roles_of(std::span<const planner::PlanTree> trees,
                               std::span<const int> rank_of_node, int rank,
                               std::span<const int> host_of_rank = {}, Kind kind = Kind::kSpread);

// Whether the rank of these roles sends what is its own to more than `most` ranks of other hosts,
// and receives from more than that.
bool exchanges_with_more_than(std::size_t most, std::span<const TreeRole> roles);

}  // namespace espalier::engine
