// Paths through the switches for the edges of trees, so that no resource is overfull.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/fabric/fabric_tree.hpp"
#include "lp/fabric/layout.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

// Edges go along the fabric's tree where there is room; otherwise along a shortest path whose links
// cost the more, the fuller they are and have been, as in the negotiated routing of circuits
// (McMurchie and Ebeling, FPGA 1995, doi:10.1145/201310.201328).
class Routes {
 public:
  // rate: bytes per second of each tree. The references must outlive this.
  Routes(const PackingProblem& problem, const FabricTree& fabric, std::vector<HostTree> trees,
         double rate);

  // Gives every edge a first path. False: the deadline has passed, or the excess is more than
  // `most_excess`, and edges are left.
  bool place(double most_excess, const Deadline& deadline);

  // How much all resources together are overfull: 1 is the capacity of one.
  [[nodiscard]] double excess() const;
  // Of the fullest resource: 1 is full.
  [[nodiscard]] double load() const;
  // Moves edges from overfull resources, in rounds, until nothing is overfull, or that does not
  // help any more, or the deadline passes.
  void make_way(const Deadline& deadline);
  // For each overfull resource, looks for a chain of edges of which each makes way for the one
  // before it and the last has room: where all of a cut is needed, rounds do not find it. Ends as
  // soon as one is not found, or the deadline passes.
  void make_way_in_chains(const Deadline& deadline);
  [[nodiscard]] std::vector<RoutedTree> trees() const;

 private:
  using Path = std::vector<std::uint32_t>;  // arcs

  struct Place {
    std::uint32_t tree;
    std::uint32_t edge;
  };

  [[nodiscard]] std::uint32_t switch_of(std::uint32_t host) const {
    return graph_->head[fabric_->arc_out[host]];
  }
  [[nodiscard]] SparseMatrix::InnerIterator uses(std::uint32_t arc) const {
    return uses_of(problem_->occupation, arc);
  }
  [[nodiscard]] double load_of(const SparseMatrix::InnerIterator& use) const {
    return load_[static_cast<std::size_t>(use.row())];
  }
  // Once it is added: rows of its arcs.
  [[nodiscard]] std::vector<std::uint32_t> rows_overfull_by(const Path& path) const;
  [[nodiscard]] bool is_overfull(std::uint32_t row) const {
    return load_[row] > 1 + kFabricRounding;
  }
  [[nodiscard]] bool is_overfull(const Path& path) const;
  // Returns by how much the excess grows.
  double add(const Path& path, double rate);
  [[nodiscard]] double cost_of(std::uint32_t arc) const;
  [[nodiscard]] Path along_tree(HostEdge edge) const;
  void count_links(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Path between(std::uint32_t from, std::uint32_t to, std::uint32_t most_more);
  [[nodiscard]] Path with_ends(HostEdge edge, const Path& links) const;
  [[nodiscard]] Path shortest(HostEdge edge);

  // An edge, and the path that it is to have.
  struct Move {
    std::uint32_t tree;
    std::uint32_t edge;
    Path path;
    std::uint32_t overfull;  // the row that it makes so, or kNone
  };
  [[nodiscard]] std::vector<std::vector<Place>> edges_by_row() const;
  [[nodiscard]] std::vector<Path> ways_of(HostEdge edge);
  [[nodiscard]] std::vector<Move> moves_from(std::uint32_t row, std::span<const Place> places,
                                             std::span<const Move> moved);
  void exchange(Move& move);
  void take_short_ways();
  void move_in_chains(const Deadline& deadline);
  bool chain_from(std::uint32_t row, std::span<const std::vector<Place>> places,
                  const Deadline& deadline);

  const PackingProblem* problem_;
  const Digraph* graph_;
  const FabricTree* fabric_;
  double rate_;
  std::vector<HostTree> edges_;
  std::vector<std::vector<Path>> paths_;  // per tree and edge
  std::vector<double> load_;              // per resource
  std::vector<double> history_;           // per resource: how often it was overfull
  std::vector<double> link_cost_;         // per arc between switches, at the present load
  std::vector<std::vector<std::uint32_t>> links_using_;  // per resource, arcs between switches
  std::vector<std::vector<std::uint32_t>> out_;          // per switch, arcs to switches
  std::vector<std::vector<std::uint32_t>> into_;         // per switch, arcs from switches
  // Of the search in progress, per node.
  std::vector<std::uint32_t> links_to_;  // to the end; kNone: not counted
  std::vector<std::uint32_t> counted_;
  std::vector<double> cost_;
  std::vector<std::uint32_t> by_;     // the arc that it was reached by
  std::vector<std::uint32_t> visit_;  // the search that reached it
  std::uint32_t search_ = 0;
};

}  // namespace espalier::lp
