// Shallow trees built directly. No linear program and no search. Over racks, fat-trees, dragonflies
// and tori with routers: hosts in the order of a walk over the switches, two trees or a few more in
// which the inner hosts of one are leaves of another (as the two trees of Sanders, Speck and Träff,
// Parallel Computing 35 (2009), doi:10.1016/j.parco.2009.09.001), and paths that make way for one
// another; a set of trees for each of a host's links, where it has several to switches. Over hosts
// that are linked to each other: neighbor_trees.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Trees that carry `rate` together, in bytes per second; at most `most_trees` of them (0: any
// number). Empty: the network has another shape, or they were not found. Deterministic, but for the
// deadline.
std::vector<PackedTree> direct_trees(const PackingProblem& problem, double rate,
                                     std::size_t most_trees, const Deadline& deadline);

// The same at `bound`, in bytes per second, where such trees are found, and otherwise at the
// highest rate of a few tries: trees for some rates below it, at what the fullest link lets them
// carry. Precondition: no why_no_fabric. Empty: the deadline has passed.
std::vector<PackedTree> best_direct_trees(const PackingProblem& problem, double bound,
                                          std::size_t most_trees, const Deadline& deadline);

}  // namespace espalier::lp
