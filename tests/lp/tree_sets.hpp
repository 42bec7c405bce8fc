// Checks of sets of trees, and latencies for their graphs.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/random_problems.hpp"

namespace espalier::lp::testing {

inline double rate_of(const std::vector<PackedTree>& trees) {
  return std::accumulate(trees.begin(), trees.end(), 0.0,
                         [](double sum, const PackedTree& tree) { return sum + tree.rate; });
}

// The first fault of these trees as a packing; empty: none.
inline std::string fault_of(const RandomProblem& made, Packing packing,
                            std::vector<PackedTree> trees) {
  packing.rate = rate_of(trees);
  packing.trees = std::move(trees);
  return packing_fault(made.problem(), packing);
}

// Of every arc independently, including those of relays and doubled ones: 0 to 80 ms.
inline std::vector<double> random_latencies(const Digraph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> milliseconds(0, 80);
  std::vector<double> latency_s;
  for (std::size_t arc = 0; arc < graph.arc_count(); ++arc) {
    latency_s.push_back(1e-3 * milliseconds(random));
  }
  return latency_s;
}

}  // namespace espalier::lp::testing
