// A network whose hosts have several links to switches (rails, or two switches a rack for safety),
// as one network a link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// The network with one link a host, and all switches. Resources keep their numbers.
class Plane {
 public:
  Plane(const PackingProblem& whole, std::vector<std::uint32_t> arcs);

  // The result refers to this object.
  [[nodiscard]] PackingProblem problem() const { return {graph_, root_, occupation_}; }
  // The tree in the whole network.
  [[nodiscard]] RoutedTree restore(RoutedTree tree) const;

 private:
  friend void share_among(std::span<Plane> planes, std::span<const double> weights);

  std::vector<std::uint32_t> arcs_;  // those of the whole network, per arc
  Digraph graph_;
  std::uint32_t root_;
  SparseMatrix occupation_;
};

// What hosts are linked to, at most.
enum class HostLinks : std::uint8_t { kOneSwitch, kSeveralSwitches, kHosts };
HostLinks links_of_hosts(const Digraph& graph);

// As many as the host with most links has; one with fewer has some of them in several planes. Links
// are of one plane that are at the same place among those of their hosts: in the order of the
// connected parts of the switches that they lead to, then of the switches. Precondition: no host is
// linked to a host.
std::vector<Plane> planes_of(const PackingProblem& problem);

// Divides what several planes use, a port or a link between switches, among them in proportion to
// their weights, of any unit.
void share_among(std::span<Plane> planes, std::span<const double> weights);

}  // namespace espalier::lp
