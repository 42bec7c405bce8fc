// The arcs between hosts, each with the resources that a byte on it occupies.
#pragma once

#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/graph/host_graph.hpp"
#include "lp/graph/routed_tree.hpp"

namespace espalier::lp {

// Arcs are numbered from 0: the digraph's arcs between hosts, then one for each ordered pair of
// hosts connected by a path through relays. Memory O(arcs x resources of an arc).
class HostArcs {
 public:
  struct Use {
    std::uint32_t resource;
    double seconds_per_byte;
  };
  // Keeps a reference to `graph`. occupation: resources x the digraph's arcs. arc_cost: per arc of
  // the digraph, >= 0; paths through relays are the cheapest under it. Throws LimitReached when the
  // deadline passes.
  HostArcs(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
           std::span<const double> arc_cost, const Deadline& deadline = Deadline());

  // Appends the resources that a byte on `path`, arcs of the digraph, occupies: each resource once.
  static void append_uses(const Eigen::SparseMatrix<double>& occupation,
                          std::span<const std::uint32_t> path, std::vector<Use>& uses);

  [[nodiscard]] std::size_t size() const { return hosts_.tail().size(); }
  [[nodiscard]] std::uint32_t node_count() const { return graph_->node_count; }
  [[nodiscard]] std::size_t resource_count() const { return resource_count_; }
  [[nodiscard]] std::uint32_t tail(std::uint32_t arc) const { return hosts_.tail()[arc]; }
  [[nodiscard]] std::uint32_t head(std::uint32_t arc) const { return hosts_.head()[arc]; }

  // Each resource once.
  [[nodiscard]] std::span<const Use> uses(std::uint32_t arc) const {
    return {uses_.data() + first_use_[arc], first_use_[arc + 1] - first_use_[arc]};
  }
  // The index of the arc's first use in all_uses().
  [[nodiscard]] std::size_t first_use(std::uint32_t arc) const { return first_use_[arc]; }
  [[nodiscard]] std::span<const Use> all_uses() const { return uses_; }
  // The largest use, seconds per byte: T of the arc under one-port, and its counterpart under other
  // models.
  [[nodiscard]] double weight(std::uint32_t arc) const;

  [[nodiscard]] bool has_latencies() const { return !latency_s_.empty(); }
  // Of the arc's whole path, seconds; 0 where the digraph has no latencies.
  [[nodiscard]] double latency_s(std::uint32_t arc) const {
    return latency_s_.empty() ? 0 : latency_s_[arc];
  }

  // Lets each arc occupy all resources that arcs of less than `nearer` times its latency use, too,
  // for as long as its slowest resource: a resource then has room for it even where the others'
  // sends go first.
  void reserve_for_long_ones(double nearer);

  // Arcs into a host, ascending by tail; arcs out of it, ascending by number.
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t node) const {
    return into_.of(node);
  }
  [[nodiscard]] std::span<const std::uint32_t> out_of(std::uint32_t node) const {
    return out_of_.of(node);
  }
  // The arc from one host to another; UINT32_MAX: there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t from, std::uint32_t to) const;

  // Parent and child of a tree's edge, from its path in the digraph.
  struct Ends {
    std::uint32_t parent;
    std::uint32_t child;
  };
  [[nodiscard]] Ends ends_of(std::span<const std::uint32_t> path) const {
    return {graph_->tail[path.front()], graph_->head[path.back()]};
  }
  // Of each edge of a tree, in their order, the arc between its ends; UINT32_MAX: there is none.
  [[nodiscard]] std::vector<std::uint32_t> arcs_of(const RoutedTree& tree) const;
  // Adds the arc's path to the tree as an edge.
  void add_edge(std::uint32_t arc, RoutedTree& tree) const;
  // The same of the arc from parent to child, or from child to parent where the tree leads to its
  // root. False: there is none, and the tree stays as it is.
  bool add_edge(std::uint32_t parent, std::uint32_t child, bool to_root, RoutedTree& tree) const;

 private:
  void list_paths(const Eigen::SparseMatrix<double>& occupation, DeadlineWatch& watch);

  const Digraph* graph_;
  HostGraph hosts_;
  std::size_t resource_count_;
  std::vector<std::size_t> first_use_{0};
  std::vector<Use> uses_;
  std::vector<double> latency_s_;
  ArcsByEnd into_;
  ArcsByEnd out_of_;
};

}  // namespace espalier::lp
