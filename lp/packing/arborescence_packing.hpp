// Packing arborescences into resources: the core of Espalier.
//
//     max  sum_T lambda_T     s.t.   sum_T lambda_T A x_T <= 1,   lambda >= 0,
//
// over all spanning arborescences T of the graph, by column generation with a proven bound:
// notation and method as in docs/model.md, after Beaumont, Legrand, Marchal, Robert, IEEE TPDS 16
// (2005), doi:10.1109/TPDS.2005.48.
#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/graph/routed_tree.hpp"
#include "lp/limits.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

using SparseMatrix = Eigen::SparseMatrix<double>;
class RoutesProblem;

// Of a part that is a copy of the graph of all parts.
struct PartRoot {
  std::uint32_t root;  // a host of that graph
  double share;        // by which its arcs' occupation is multiplied, > 0
};

// Holds references, which must outlive all uses of the problem.
struct PackingProblem {
  const Digraph& graph;
  std::uint32_t root;  // a host; every other host can be reached from it
  const SparseMatrix&
      occupation;  // resources x arcs, seconds per byte, >= 0; every arc occupies something
  // Each successive `part_arcs` arcs form a part of every tree, and any trees of the parts can be
  // combined: no host but the root is in two of them (lp/problem/parts_problem.hpp). Affects only
  // how the problem is solved. UINT32_MAX: there is one part.
  std::uint32_t part_arcs = UINT32_MAX;
  // Where each tree may have any host as its root: there are two parts, and the last `root_arcs`
  // arcs of each lead from `root`, which is not a host, to the hosts, in the same order, and occupy
  // nothing. A tree contains one of them in each part, that of the same host. 0: `root` is a host.
  std::uint32_t root_arcs = 0;
  // Not null: a tree is the paths of all routed parts (lp/problem/routes_problem.hpp). The graph is
  // that of one part, whose arcs it has `part_arcs` of.
  const RoutesProblem* routes = nullptr;
  // Per node, whether it is one of the hosts that trees lead to; other hosts may be in a tree, or
  // not (lp/steiner). There is one part. Empty: all hosts.
  std::span<const char> is_member{};
  // Where the parts are copies of one graph in one direction, each with a root and a share of its
  // own: these, by part. The first copy has the graph's own numbers of nodes. Empty: they are not.
  std::span<const PartRoot> part_roots{};
};

// The number of an arc of the problem's graph among the root arcs of its part; kNone for others.
inline std::uint32_t root_number(std::uint32_t arc, std::uint32_t part_arcs,
                                 std::uint32_t root_arcs) {
  const std::uint32_t first = part_arcs - root_arcs;
  const std::uint32_t in_part = arc % part_arcs;
  return in_part < first ? kNone : in_part - first;
}
// That of the root arcs which the tree contains; 0 where the root is given.
std::uint32_t free_root_of(const RoutedTree& tree, std::uint32_t part_arcs,
                           std::uint32_t root_arcs);

inline std::uint32_t part_count(const PackingProblem& problem) {
  if (problem.part_arcs == UINT32_MAX) return 1;
  return static_cast<std::uint32_t>(problem.occupation.cols()) / problem.part_arcs;
}

struct PackedTree {
  RoutedTree tree;
  double rate;  // bytes per second
};
double total_rate(std::span<const PackedTree> trees);  // bytes per second

// What a search for certain trees found.
struct TreesFound {
  std::vector<PackedTree> trees;  // jointly feasible
  bool complete = true;           // false: the deadline cut the search short
};

struct PackingOptions : Limits {
  std::size_t max_iterations = 1'000'000;  // arborescences priced
  // Also ends after so many if the gap is still wider than this: another method may do better.
  std::size_t far_after = SIZE_MAX;
  double far_gap = 0;
  // Trees to start from. Where the root is free, at least one.
  std::vector<RoutedTree> seeds{};
  std::vector<double> prices{};  // per resource, >= 0, to try first; empty: none
  // The seeds may be optimal: no other trees are made where the best of them reaches a plain bound
  // (lp/bounds/plain_bound.hpp), or the prices of their own packing prove it.
  bool seeds_may_do = false;
};

enum class PackingEnd : std::uint8_t {
  kGapReached,
  kLimit,    // time or iterations
  kStalled,  // numerical failure or repetition in the master: the gap is valid but open
};

struct Packing {
  std::vector<PackedTree>
      trees;        // jointly feasible; a basic solution: no more trees than saturated resources
  double rate = 0;  // sum of their rates, bytes per second
  double bound = kUnbounded;  // proven: no set of trees is better; kUnbounded: none was proven
  std::vector<double>
      prices;  // per resource, sum 1 (0 without a bound): the certificate of `bound`
  std::vector<RoutedTree> pool;  // all trees in the master at the end, in the order found
  PackingEnd end = PackingEnd::kGapReached;
  std::size_t arborescences_priced = 0;
  std::size_t master_solves = 0;

  static constexpr double kUnbounded = 1.7976931348623157e308;
};

// Throws InfeasibleError when some host cannot be reached. When the deadline passes before a tree
// was priced, the result has one tree that is not good, and the bound may be kUnbounded.
Packing pack_arborescences(const PackingProblem& problem, const PackingOptions& options = {});

// The resources that the arc occupies, with the seconds per byte.
inline SparseMatrix::InnerIterator uses_of(const SparseMatrix& occupation, std::uint32_t arc) {
  return {occupation, static_cast<Eigen::Index>(arc)};
}

// prices' A: of each arc whose cost is asked for, from the first on. prices: per resource.
void price_arcs(const SparseMatrix& occupation, std::span<const double> prices,
                std::span<double> cost);

// Load of a tree per byte that flows along it: A x, one per resource.
std::vector<double> tree_load(const SparseMatrix& occupation, const RoutedTree& tree);

}  // namespace espalier::lp
