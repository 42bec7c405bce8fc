// The time of one message along one tree when it is sent as a whole: no segments, no pipeline.
#pragma once

#include <optional>

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The time at which the last host has all of `message`, sent whole from the instance's source at
// time 0 along `tree`, to a host's children in their order, by the rules of docs/methods.md, "One
// message without segments". 0 for a tree without edges. Memory O(n); time O(n log n) heap steps
// plus the sum of the paths' lengths where sends do not wait for each other.
Seconds atomic_makespan(const Instance& instance, const lp::RoutedTree& tree, Bytes message);

// The same for what an algorithm made of a problem; unset where that is not one tree of a
// broadcast.
std::optional<Seconds> makespan_of(const Outcome& outcome, const Collective& collective,
                                   Bytes message);
template <class Problem>
std::optional<Seconds> makespan_of(const Outcome& /*outcome*/, const Problem& /*problem*/,
                                   Bytes /*message*/) {
  return std::nullopt;
}

}  // namespace espalier::planner
