// Violated cuts: sets S of hosts with x(into S) < 1 for a fractional x (Edmonds' arborescence
// polytope requires >= 1), found by maximum flows from the root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class RootCuts {
 public:
  // x(arcs) >= 1 for the arcs into a set of hosts; or, where these are more than the arcs inside
  // the set, the equivalent x(arcs) <= hosts - 1 for the arcs inside (one arc enters each host).
  struct Cut {
    std::vector<std::uint32_t> arcs;
    bool inside = false;
    std::size_t hosts = 0;  // in the set
  };

  // Keeps references to both. hosts: all, including the root.
  RootCuts(const HostArcs& arcs, std::uint32_t root, const std::vector<std::uint32_t>& hosts)
      : arcs_(arcs), root_(root), hosts_(hosts) {}

  // x: per arc, >= 0, with x(into v) = 1 for every host but the root. Several cuts at once; empty:
  // no set is violated. Throws LimitReached when the watched deadline passes.
  std::vector<Cut> violated(std::span<const double> x, DeadlineWatch& watch);

 private:
  void list_support(std::span<const double> x);
  [[nodiscard]] Cut cut_of_unreached() const;
  double augment(std::uint32_t sink, double most);
  void search(std::uint32_t sink);
  // The residual capacity of the arc in the direction that ends at `node`.
  [[nodiscard]] double& residual(std::uint32_t arc, std::uint32_t node) {
    return arcs_.head(arc) == node ? forward_[arc] : backward_[arc];
  }

  const HostArcs& arcs_;
  std::uint32_t root_;
  const std::vector<std::uint32_t>& hosts_;
  std::vector<std::uint32_t> support_;  // arcs that x uses
  // Per node the arcs of the support into it and out of it.
  std::vector<std::uint32_t> first_at_;
  std::vector<std::uint32_t> at_;
  std::vector<double> forward_;    // residual, per arc of the support
  std::vector<double> backward_;   // the flow, per arc of the support
  std::vector<char> reached_;      // by the last search, per node
  std::vector<std::uint32_t> by_;  // the arc by which it was reached
  std::vector<std::uint32_t> order_;
};

}  // namespace espalier::lp
