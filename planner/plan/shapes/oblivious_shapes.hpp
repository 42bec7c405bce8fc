// The shapes of topology-oblivious trees, as MPI libraries build them: arithmetic on ranks, without
// a platform or a solver. Sources: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005),
// doi:10.1177/1094342005051521; CM, doi:10.1007/s10586-007-0012-0; TTC (two_tree_complete.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// Both ends are relative ranks, written rank': (rank - source) mod n. The source is rank' 0.
struct RankEdge {
  std::uint32_t parent;
  std::uint32_t child;
};

struct ObliviousTree {
  std::vector<RankEdge> edges;         // n - 1; the edge into a rank' precedes the edges out of it
  std::vector<std::uint8_t> colors{};  // 0 or 1, one per edge; empty: no colors
  std::size_t exchanges = 0;  // this many edges at the end are carried out after the others
};

// For all shapes: ranks is at least 1; there are one or two trees, each with an equal part of the
// message. One rank gives trees without edges.
std::vector<ObliviousTree> flat_shape(std::uint32_t ranks);
std::vector<ObliviousTree> chain_shape(std::uint32_t ranks);
// Rank' r sends to 2 r + 1 and 2 r + 2.
std::vector<ObliviousTree> binary_shape(std::uint32_t ranks);
// Rank' r receives from r with its lowest set bit cleared; a rank' serves its largest subtree
// first.
std::vector<ObliviousTree> binomial_shape(std::uint32_t ranks);
// Open MPI's binary tree: each half of the tree gets half the message, then they exchange halves.
std::vector<ObliviousTree> split_binary_shape(std::uint32_t ranks);
std::vector<ObliviousTree> two_tree_complete_shape(std::uint32_t ranks);
// TwoTreeS with its colors, and the same trees without them.
std::vector<ObliviousTree> two_tree_sanders_shape(std::uint32_t ranks);
std::vector<ObliviousTree> two_tree_in_order_shape(std::uint32_t ranks);

// A shape by its name in the planner's registry: "flat", "chain", "binary", "binomial",
// "split-binary", "two-tree-complete". Unset: any other name.
using ObliviousShape = std::vector<ObliviousTree> (*)(std::uint32_t ranks);
std::optional<ObliviousShape> oblivious_shape(std::string_view algorithm);
// In two levels: the shape among the hosts' first ranks', then within each host (TAC,
// section 1.1.1: the source leads its own host). host_of: by rank', equal for ranks of one host; at
// least one. Throws std::invalid_argument for a shape with exchange edges.
std::vector<ObliviousTree> hierarchical_shape(ObliviousShape shape, std::span<const int> host_of);

// The parameters of a plan of such a shape.
struct ObliviousPlan {
  std::string_view algorithm;  // a name that oblivious_shape accepts
  Operation operation = Operation::kBroadcast;
  std::uint32_t ranks = 1;    // at least 1
  std::uint32_t root = 0;     // less than ranks
  BytesPerSecond throughput;  // of the plan; above 0
  // By rank, equal for ranks of one host: in two levels. Empty: all ranks alike.
  std::span<const int> host_of_rank{};
};

// A plan for equal ranks: rank i is node i, called "rank0", "rank1" and so on; each tree has an
// equal part of the throughput. It names no platform. A reduction uses the same trees upwards.
// Throws std::invalid_argument for another algorithm, and for exchange edges (split-binary) in a
// reduction and in two levels.
Plan plan_of(const ObliviousPlan& wanted);

}  // namespace espalier::planner
