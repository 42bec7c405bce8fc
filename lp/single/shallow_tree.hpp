// A spanning tree within a limit of depth or latency, made from another one.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/packing/shallow_trees.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

// Edges that root arcs add to the depth of a tree.
inline std::uint32_t edges_to_root(const PackingProblem& problem) {
  return problem.root_arcs > 0 ? 1 : 0;
}

// The length of each arc between hosts, and the most that a path to a host may have.
struct DepthLimit {
  DepthLimit(const PackingProblem& problem, const HostArcs& arcs, const ShallowOptions& options);
  std::vector<double> length;
  std::vector<std::uint32_t> root;  // the arc's number among the root arcs; kNone for others
  double most;
};

// A spanning tree within a limit.
class ShallowTree {
 public:
  // Keeps references. root: the node; only_root_arc: the number of the root arcs that may be used,
  // if there are any.
  ShallowTree(const HostArcs& arcs, std::uint32_t root, std::uint32_t only_root_arc,
              const DepthLimit& limit, const Deadline& deadline)
      : arcs_(arcs), root_(root), only_root_arc_(only_root_arc), limit_(limit), watch_(deadline) {
    find_nearest();
  }

  // Whether some spanning tree is that shallow.
  [[nodiscard]] bool possible() const {
    return order_.size() == host_count() && distance_[order_.back()] <= limit_.most;
  }
  // The tree of shortest paths. Precondition: possible().
  [[nodiscard]] RoutedTree nearest() const;
  // A tree that is similar to `tree`, shallow enough and of low cost (per arc, >= 0). When the
  // deadline passes, hosts that are too deep get shortest paths.
  RoutedTree shallow(const RoutedTree& tree, const std::vector<double>& cost);

 private:
  [[nodiscard]] std::size_t host_count() const;
  // Infinite for the arc to another root.
  [[nodiscard]] double length(std::uint32_t arc) const;
  void find_nearest();
  void start_from(const RoutedTree& tree);
  [[nodiscard]] bool is_better(std::uint32_t arc, std::uint32_t other,
                               const std::vector<double>& cost) const;
  void reattach_deep_hosts(const std::vector<double>& cost);
  [[nodiscard]] std::uint32_t best_parent(std::uint32_t node,
                                          const std::vector<double>& cost) const;
  bool take_cheaper_parents(const std::vector<double>& cost);
  void pull_up(std::uint32_t node);
  void measure();
  [[nodiscard]] bool below(std::uint32_t node, std::uint32_t top) const;

  const HostArcs& arcs_;
  std::uint32_t root_;
  std::uint32_t only_root_arc_;
  const DepthLimit& limit_;
  DeadlineWatch watch_;
  std::vector<std::uint32_t> order_;        // hosts by distance from the root
  std::vector<double> distance_;            // per node
  std::vector<std::uint32_t> nearest_arc_;  // per node: into it on a shortest path

  std::vector<std::uint32_t> parent_arc_;  // per node
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<double> depth_;        // from the root, or kCutOff
  std::vector<double> height_;       // of the subtree below
  std::vector<std::uint32_t> walk_;  // hosts, parents first
};

}  // namespace espalier::lp
