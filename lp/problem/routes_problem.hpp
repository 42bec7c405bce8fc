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

// The way of one of RoutedParts.
struct Route {
  std::uint32_t node;  // the end that is not the root
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
  // one of the fewest arcs. Nothing where a part has none.
  [[nodiscard]] std::optional<PricedTree> cheapest(std::span<const double> cost) const;

  // The paths of the trees of parts number `of`, which may be part of a whole tree.
  [[nodiscard]] std::vector<Route> routes_of(const RoutedTree& tree, std::uint32_t of) const;

 private:
  [[nodiscard]] std::uint32_t arc_count() const {
    return static_cast<std::uint32_t>(graph_.arc_count());
  }

  // How paths lead from the root to the other ends, which is against the data where that goes to
  // the root.
  struct Direction {
    const ArcsByEnd& onward;                // from each node
    std::span<const std::uint32_t> next;    // per arc, the node that it leads to
    std::span<const std::uint32_t> before;  // and the one that it comes from
  };
  [[nodiscard]] Direction direction_of(const RoutedParts& parts) const;

  Digraph graph_;
  SparseMatrix occupation_;  // a copy of the columns for each of parts_
  std::vector<RoutedParts> parts_;
  ArcsByEnd out_of_;
  ArcsByEnd into_;
};

}  // namespace espalier::lp
