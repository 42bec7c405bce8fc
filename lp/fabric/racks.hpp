// A network in which several hosts share a switch, with one host for each of these racks: a far
// smaller packing, which thin links between the racks limit in the same way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/fabric/fabric_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// In the smaller problem the hosts of a rack are one host, which sends as much as all of them do
// together, and passes each byte on to all but one of them itself. Nothing is lost where the trees
// enter every rack once, and where rates can be divided among the hosts as wished; the bound is
// therefore to be proven on the whole problem.
class Racks {
 public:
  // Keeps a reference to the graph and the matrix of `whole`. Unset: why_no_fabric, one rack only,
  // racks of fewer than three hosts on average, or hosts that share a resource beside a switch.
  static std::optional<Racks> of(const PackingProblem& whole);

  // One host a rack. The result refers to this object.
  [[nodiscard]] PackingProblem problem() const { return {graph_, root_, occupation_}; }
  // Of the whole problem, per resource, of the same sum: prices of the smaller problem divided
  // among the hosts. Their cheapest tree proves a bound.
  [[nodiscard]] std::vector<double> prices(std::span<const double> of_racks) const;
  // Trees of the whole problem from some of the smaller one, in their order, at rates at which the
  // fullest resource is full.
  [[nodiscard]] std::vector<PackedTree> expand(std::span<const PackedTree> of_racks) const;

 private:
  class Expansion;
  // What a byte that the host sends, or receives, occupies of the resource that limits its sending;
  // and of the one that limits its receiving. Seconds.
  struct Host {
    std::uint32_t node;
    std::uint32_t arc_out;
    std::uint32_t arc_in;
    std::uint32_t sending_row;
    double send;
    double send_by_receiving;
    std::uint32_t receiving_row;
    double receive;
  };
  using Rack = std::vector<Host>;  // the root first, in its own; its first host stands for a rack

  explicit Racks(const PackingProblem& whole)
      : whole_graph_(&whole.graph), whole_occupation_(&whole.occupation), root_(whole.root) {}
  [[nodiscard]] Host host_of(const FabricTree& fabric, std::uint32_t node) const;
  void gather(const FabricTree& fabric);
  void build_graph();
  void build_matrix();
  [[nodiscard]] double capacity_of(const Rack& rack) const;
  [[nodiscard]] std::uint32_t row_of_sending(std::size_t rack) const;
  [[nodiscard]] std::uint32_t row_of_receiving(std::size_t rack) const;
  [[nodiscard]] std::uint32_t row_of_root() const;

  const Digraph* whole_graph_;
  const SparseMatrix* whole_occupation_;
  std::uint32_t root_;
  std::vector<Rack> racks_;             // the root's first
  std::vector<std::uint32_t> rack_of_;  // per node, of hosts
  std::vector<std::uint32_t> arc_of_;   // per arc of the smaller graph, that of the whole
  Digraph graph_;                       // hosts that stand for no rack are relays without arcs
  SparseMatrix occupation_;
};

}  // namespace espalier::lp
