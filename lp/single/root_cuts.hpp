// Sets of hosts that too little enters: the cuts x(into S) >= 1 that a fractional x violates
// (Edmonds' arborescence polytope), found by maximum flows from the root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"

namespace espalier::lp {

class RootCuts {
 public:
  // x(arcs) >= 1, the arcs into a set of hosts; or, where those are more, what is the same because
  // one arc enters each host: x(arcs) <= hosts - 1, the arcs inside the set.
  struct Cut {
    std::vector<std::uint32_t> arcs;
    bool inside = false;
    std::size_t hosts = 0;  // in the set
  };

  // Keeps references to both. hosts: all, the root among them.
  RootCuts(const HostArcs& arcs, std::uint32_t root, const std::vector<std::uint32_t>& hosts)
      : arcs_(arcs), root_(root), hosts_(hosts) {}

  // x: per arc, >= 0, with x(into v) = 1 for every host but the root. Several cuts at once; empty:
  // no set is violated.
  std::vector<Cut> violated(std::span<const double> x);

 private:
  void list_support(std::span<const double> x);
  [[nodiscard]] Cut cut_of_unreached() const;
  double augment(std::uint32_t sink, double most);
  void search(std::uint32_t sink);
  // What can still flow along the arc in the direction that ends at `node`.
  [[nodiscard]] double& room(std::uint32_t arc, std::uint32_t node) {
    return arcs_.head(arc) == node ? forward_[arc] : backward_[arc];
  }

  const HostArcs& arcs_;
  std::uint32_t root_;
  const std::vector<std::uint32_t>& hosts_;
  std::vector<std::uint32_t> support_;  // arcs that x uses
  // Per node the arcs of the support at either end of it, one after the other.
  std::vector<std::uint32_t> first_at_;
  std::vector<std::uint32_t> at_;
  std::vector<double> forward_;    // residual, per arc of the support
  std::vector<double> backward_;   // the flow, per arc of the support
  std::vector<char> reached_;      // by the last search, per node
  std::vector<std::uint32_t> by_;  // the arc by which it was reached
  std::vector<std::uint32_t> order_;
};

}  // namespace espalier::lp
