// Parts of a message, each of which goes from one host to one other (scatter, gather, alltoall), as
// one packing problem. A tree of the packing is a cheapest path for every part: a tree of shortest
// paths of each host that sends several parts, or receives them. Its amounts say how many bytes
// cross each arc. Theory: docs/model.md, "Routed parts".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/cheapest_tree.hpp"

namespace espalier::lp {

// The parts between one host and others.
struct RoutedParts {
  std::uint32_t root;     // a host
  bool reversed = false;  // the parts go to the root
  // Per node: bytes between it and the root for each byte of the message, >= 0; 0: no part. Some
  // part is not 0, and none is the root's own.
  std::vector<double> bytes;
};

// One part of a tree.
struct Route {
  std::uint32_t of;    // the place of its RoutedParts
  std::uint32_t node;  // its other end
  RoutedTree path;     // in arcs of the graph, in the order in which data passes them; an edge ends
                       // at every host
};

class RoutesProblem {
 public:
  // Copies what it needs. Arc e of the graph, which has m arcs, is arc p m + e of the parts p.
  RoutesProblem(const Digraph& graph, const SparseMatrix& occupation,
                std::vector<RoutedParts> parts);

  // The result refers to this object.
  [[nodiscard]] PackingProblem problem() const;
  [[nodiscard]] const std::vector<RoutedParts>& parts() const { return parts_; }

  // The cheapest path of each part. cost: per arc of the graph, >= 0. Of equally cheap paths the
  // one of the fewest arcs. Nothing where there is no path.
  [[nodiscard]] std::optional<PricedTree> cheapest(std::span<const double> cost) const;

  // The paths of the trees of parts number `of`, which may be part of a whole tree.
  [[nodiscard]] std::vector<Route> routes_of(const RoutedTree& tree, std::uint32_t of) const;

 private:
  [[nodiscard]] std::uint32_t arc_count() const {
    return static_cast<std::uint32_t>(graph_.arc_count());
  }

  Digraph graph_;
  SparseMatrix occupation_;  // a copy of the columns for each of parts_
  std::vector<RoutedParts> parts_;
  // Arcs out of each node, and into it: those of node v are [first[v], first[v + 1]) of `arcs`.
  struct Adjacency {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> arcs;
  };
  Adjacency out_;
  Adjacency in_;
};

}  // namespace espalier::lp
