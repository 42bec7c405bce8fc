// Chains along rings as the trees of every root: where links of one speed are all kept busy by them
// they are the optimum, elsewhere the solver starts with them.
#pragma once

#include <optional>
#include <vector>

#include "lp/fabric/rings.hpp"
#include "planner/problem/all_roots.hpp"

namespace espalier::planner {

// The rings of a network of links of one speed between neighbours; none for others.
lp::HostRings direct_rings(const AllRoots& problem, const Deadline& deadline);

// Chains along rings that reach a plain bound. Unset: they do not. A linear program over the chains
// of a thousand roots would take minutes. A plan has one for each root, if that costs no more than
// a thousandth.
std::optional<Outcome> along_rings(const AllRoots& problem, const lp::HostRings& direct,
                                   const AlgorithmOptions& options, Purpose purpose);

// Adds to `seeds`, whole trees of the problem's parts, chains along the direct rings and along
// rings through the thickest links.
void add_rings(const AllRoots& problem, const lp::HostRings& direct, const Deadline& deadline,
               std::vector<lp::RoutedTree>& seeds);

// Chains along one ring through the thickest links, the fastest that was found, without a bound; of
// an operation whose roots are given. Unset: some hosts have no links with which to close one.
std::optional<Outcome> along_thick_ring(const AllRoots& problem, const Deadline& deadline);

}  // namespace espalier::planner
