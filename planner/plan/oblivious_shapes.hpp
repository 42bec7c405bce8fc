// The shapes of topology-blind broadcasts, as MPI libraries build them: arithmetic on ranks, which
// knows no platform and no solver. The planner's algorithms lay them over platforms
// (planner/algorithms/oblivious_tree.hpp); where ranks are alike, plan_of makes plans of them.
//
// Sources: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), doi:10.1177/1094342005051521; CM:
// Pjesivac-Grbovic et al., Cluster Computing 10 (2007), doi:10.1007/s10586-007-0012-0; TTC:
// planner/algorithms/two_tree_complete.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// Both ends are ranks': (rank - source) mod n, so that the source is rank' 0.
struct RankEdge {
  std::uint32_t parent;
  std::uint32_t child;
};

struct ObliviousTree {
  std::vector<RankEdge> edges;  // n - 1 of them; the one into a rank' stands before those out of it
  std::vector<std::uint8_t> colors{};  // 0 or 1, one an edge; empty: the shape knows no colors
  std::size_t exchanges = 0;           // the last so many edges are carried out after the others
};

// All of these: ranks at least 1; one tree or two, each with an equal part of the message. One rank
// gives trees without edges.
std::vector<ObliviousTree> flat_shape(std::uint32_t ranks);
std::vector<ObliviousTree> chain_shape(std::uint32_t ranks);
// Rank' r sends to 2 r + 1 and 2 r + 2.
std::vector<ObliviousTree> binary_shape(std::uint32_t ranks);
// Rank' r receives from r with its lowest set bit cleared; the largest subtree is served first.
std::vector<ObliviousTree> binomial_shape(std::uint32_t ranks);
// The tree is Open MPI's binary one, each half of which gets half the message; then they exchange
// halves.
std::vector<ObliviousTree> split_binary_shape(std::uint32_t ranks);
std::vector<ObliviousTree> two_tree_complete_shape(std::uint32_t ranks);

// A shape by the name that the planner's registry has for it: "flat", "chain", "binary",
// "binomial", "split-binary", "two-tree-complete". Unset: none of these.
using ObliviousShape = std::vector<ObliviousTree> (*)(std::uint32_t ranks);
std::optional<ObliviousShape> oblivious_shape(std::string_view algorithm);

// What a plan of such a shape is to be.
struct ObliviousPlan {
  std::string_view algorithm;  // that oblivious_shape knows
  Operation operation = Operation::kBroadcast;
  std::uint32_t ranks = 1;    // at least 1
  std::uint32_t root = 0;     // less than that
  BytesPerSecond throughput;  // that it promises; above 0
};

// A plan for ranks that are all alike: rank i is node i, called "rank0" and on; the trees have an
// equal part of the throughput each. It names no platform. A reduction goes along the same trees
// upwards. Throws std::invalid_argument for another algorithm, and for exchange edges in a
// reduction (split-binary).
Plan plan_of(const ObliviousPlan& wanted);

}  // namespace espalier::planner
