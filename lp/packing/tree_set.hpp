// A few spanning trees with rates, and local search on their joint load, which lowers the potential
// sum_r exp(beta * load_r / busiest). Moves: re-hang (a host gets another parent) and insert (a
// host with at most one child moves between another host and one of that host's children).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

// What depth is measured in: edges or, where arcs have latencies, the time of a segment.
enum class DepthIn { kTime, kEdges };

class TreeSet {
 public:
  // Keeps a reference to `arcs`. root: a host.
  TreeSet(const HostArcs& arcs, std::uint32_t root)
      : arcs_(&arcs),
        root_(root),
        load_(arcs.resource_count(), 0.0),
        weight_(load_.size(), 0.0),
        arc_to_(arcs.node_count(), kNone) {}

  // Adds a tree. false, and nothing added: it has an edge that is not an arc between hosts (a
  // detour of a topology-oblivious tree).
  bool add(const RoutedTree& tree, double rate);
  void set_rate(std::size_t tree, double rate);
  [[nodiscard]] std::size_t size() const { return trees_.size(); }
  // Parents before children; a parent's children in order of decreasing height, so that the longest
  // path starts first.
  [[nodiscard]] RoutedTree tree(std::size_t index) const;
  [[nodiscard]] std::vector<RoutedTree> trees() const;
  [[nodiscard]] double busiest_load() const;

  // One pass over all trees and hosts; true: the potential decreased. Stops when the deadline
  // passes.
  bool sweep(double beta, const Deadline& deadline = Deadline());
  // The values of beta to take one after the other: the busiest resources count more and more.
  static constexpr std::array kBetas{10.0, 20.0, 40.0, 80.0};
  // A few passes at one of them, until nothing changes, more than `most_moves` were evaluated in
  // all, or the deadline passes.
  void sweep_until(double beta, std::uint64_t most_moves, const Deadline& deadline);

  // Gives hosts other parents, without loading any resource above `full` (or raising one that is
  // above it): first to minimise the largest number of children, then to move hosts closer to the
  // root. No tree gets deeper. Trees that are left after some seconds' work stay as they are.
  // false: the deadline passed first.
  bool flatten(double full, DepthIn depth, const Deadline& deadline = Deadline());

  // Moves evaluated so far: the measure of the search's effort.
  [[nodiscard]] std::uint64_t moves_evaluated() const { return evaluated_; }

 private:
  struct Tree {
    double rate;
    std::vector<std::uint32_t> parent_arc;             // per node; kNone at the root and at relays
    std::vector<std::vector<std::uint32_t>> children;  // per node: the children's nodes
  };
  // exp(beta * load) changes by a factor when an arc is added or removed: evaluating a move needs
  // no exponential.
  struct Factor {
    std::uint32_t resource;
    double factor;
  };

  void prepare(const Tree& tree);
  void change_load(std::uint32_t arc, double rate);
  void multiply(std::uint32_t arc, bool add);
  void gather(std::uint32_t arc, bool add);
  [[nodiscard]] double potential_of(std::uint32_t arc, double enough) const;
  [[nodiscard]] double change_by_insert(std::uint32_t in, std::uint32_t out, std::uint32_t cut);
  [[nodiscard]] bool below(const Tree& tree, std::uint32_t node, std::uint32_t top) const;
  void rehang(Tree& tree, std::uint32_t node, std::uint32_t arc);
  bool try_rehang(Tree& tree, std::uint32_t node);
  bool try_insert(Tree& tree, std::uint32_t node);
  struct Insertion {
    double change;  // of the potential
    std::uint32_t in = kNone;
    std::uint32_t out = kNone;
  };
  Insertion best_insertion(const Tree& tree, std::uint32_t node, std::uint32_t child,
                           double enough);

  [[nodiscard]] bool fits(std::uint32_t arc, double rate, double full) const;
  template <class Accepts>
  std::uint32_t best_new_parent(const Tree& tree, std::uint32_t node, Accepts accepts,
                                const std::vector<double>& depth, double full,
                                DeadlineWatch& watch);
  bool lower_out_degree(Tree& tree, double full, DeadlineWatch& watch);
  bool lower_depth(Tree& tree, double full, DeadlineWatch& watch);

  struct Levels;

  const HostArcs* arcs_;
  std::uint32_t root_;
  std::vector<double> length_;  // per arc: its length, for `flatten`
  std::vector<Tree> trees_;
  std::vector<double> load_;
  std::uint64_t evaluated_ = 0;

  // Of the current sweep.
  double beta_per_load_ = 0;
  std::vector<double> weight_;  // per resource: exp(beta_per_load_ * load_)
  std::vector<double>
      growth_;  // per use, of the current tree: exp(beta_per_load_ * rate * seconds) - 1
  std::vector<Factor> factors_;  // of the current move
  std::vector<std::uint32_t>
      arc_to_;  // per node: the arc from the current node to it, kNone: there is none
};

}  // namespace espalier::lp
