// Narrow places of a network with switches, found in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/thick_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Bytes per second that the arc carries alone, whatever its resources.
double rate_alone(const PackingProblem& problem, std::uint32_t arc);

// Those into nodes inside, from nodes that are not. inside: per node.
std::vector<std::uint32_t> arcs_into(const Digraph& graph, std::span<const char> inside);

// The parts of a network that are each below one arc of a spanning tree over its thickest links.
class NetworkParts {
 public:
  // O(arcs x depth of the spanning tree). Keeps a reference to the problem's graph.
  explicit NetworkParts(const PackingProblem& problem);

  struct Part {
    std::uint32_t top;    // its node nearest to the root
    std::uint32_t hosts;  // at least one, and not the root
    double into;          // what the arcs into it carry, each alone: bytes per second
  };
  [[nodiscard]] const std::vector<Part>& all() const { return parts_; }
  // Per node, whether it is in the part.
  [[nodiscard]] std::vector<char> nodes_of(const Part& part) const;

 private:
  const Digraph* graph_;
  ThickTree tree_;
  std::vector<Part> parts_;
};

// The arcs into the part into which the least leads. Every tree uses one of them. Empty: the
// network has no relays, where hosts' ports are narrower.
std::vector<std::uint32_t> narrowest_cut(const PackingProblem& problem);

}  // namespace espalier::lp
