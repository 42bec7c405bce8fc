// A chain of the hosts in the order of a walk over the network.
//
// The walk goes depth first along the thickest links, and only where the thinnest of them is as
// thick as it can be. It uses each link at most once in either direction, so the chain along it
// carries what that link carries: where switches connect alike hosts, this is the optimum. A host
// that forwards, as in a network without switches, gets several children where the walk returns to
// it, so that the chain becomes a tree.
#pragma once

#include <optional>

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"

namespace espalier::planner {

// Unset: the walk cannot return over a link of a relay that has one direction only.
std::optional<lp::RoutedTree> walk_tree(const Instance& instance);

}  // namespace espalier::planner
