// Every algorithm that makes trees, by name. Help, `list`, documentation, error texts and the
// parameterised tests all iterate this registry.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lp/routed_tree.hpp"
#include "planner/instance.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {
struct Packing;
}

namespace espalier::planner {

// How far an anytime algorithm has come.
struct Progress {
  Seconds elapsed;
  std::size_t iterations;
  BytesPerSecond throughput;  // reached so far
  BytesPerSecond bound;       // proven so far
};

struct AlgorithmOptions {
  std::size_t max_trees = 0;  // 0: as many as the optimum needs; algorithms of one tree ignore it
  std::size_t chains = 4;  // of `k-chain`, at least 1; more than there are hosts beside the source
                           // is one for each of them
  std::optional<Seconds> time_limit;  // unset: none
  double gap = 1e-6;                  // relative distance from the bound at which `optimal` stops
  std::function<void(const Progress&)>
      on_progress;  // may be empty; called a few times a second at most
  // What solve_packing made of this very instance: algorithms that need it do not solve it anew.
  // Not owned; null: each solves its own.
  const lp::Packing* packing = nullptr;
};

enum class Termination : std::uint8_t {
  kDone,       // a heuristic finished, or the proven gap is within options.gap
  kTreeLimit,  // max_trees holds the throughput below the bound
  kTimeLimit,  // the time limit came first; trees and bound are valid all the same
  kStalled,    // no numerical progress is possible; trees and bound are valid, the gap honest
};

struct WeightedTree {
  lp::RoutedTree tree;
  BytesPerSecond rate;
  std::vector<std::uint8_t> colors{};     // PlanTree::colors; empty: none
  std::vector<std::uint32_t> exchange{};  // PlanTree::exchange, as places among the tree's edges
};

// Resource `row` of the occupation matrix, at price `price`: its share of the bound (prices sum to
// 1).
struct PricedResource {
  std::uint32_t row;
  double price;
};

struct Outcome {
  std::vector<WeightedTree> trees;  // jointly feasible: sum of rate * A x <= 1
  std::optional<BytesPerSecond>
      bound;  // proven upper bound on any set of trees, where one was computed
  std::vector<PricedResource>
      prices;  // of the bound's certificate, dearest first; empty without a bound
  Termination termination = Termination::kDone;
  std::size_t iterations = 0;
};

struct AlgorithmEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;      // paper and DOI
  std::string_view complexity;  // n hosts, m arcs
  std::string_view guarantee;
  Outcome (*run)(const Instance& instance, const AlgorithmOptions& options);
};

std::span<const AlgorithmEntry> algorithms();
// Throws InputError with the nearest name offered.
const AlgorithmEntry& find_algorithm(std::string_view name);
// "all", or names separated by commas. Throws as find_algorithm does; a repeated name is taken
// once.
std::vector<const AlgorithmEntry*> parse_algorithms(std::string_view list);

}  // namespace espalier::planner
