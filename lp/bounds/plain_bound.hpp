// The plainest bounds of a packing, in a few passes over the matrix and without a tree:
// - a host receives every byte over some arc into it, and the root sends every byte over some arc
//   out of it: no more than these arcs carry together. The same holds for the arcs into a part of
//   a network with switches (lp/bounds/narrowest_cut.hpp);
// - every byte leaves some host for every host but the root: the hosts' arcs carry it that often;
// - one resource: for each host, the least that any arc into it occupies the resource, and for the
//   root the least that any arc out of it does.
//
// On networks with one narrow place, such as a slow host or an equal star, one of them is the
// optimum; column generation needs many trees to find it where hosts are alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct PlainBound {
  double rate = Packing::kUnbounded;  // no set of trees is better, bytes per second
  std::vector<double> prices;         // per resource: they prove it (docs/model.md)
  // Per resource, seconds per byte: what any tree occupies of it at least.
  std::vector<double> least_uses{};
};

// The least of these bounds.
PlainBound plain_bound(const PackingProblem& problem);
// The same where each of several hosts is the root of trees that carry its share of every byte
// (shares sum 1): a host receives what is not its own. The problem's root is not read; there is one
// part, and no cuts of switches are tried.
PlainBound plain_bound(const PackingProblem& problem, std::span<const PartRoot> roots);

// Per resource, how many arcs of one part occupy it: one of a link, in however many parts it is.
std::vector<std::uint32_t> arcs_per_resource(const PackingProblem& problem);

}  // namespace espalier::lp
