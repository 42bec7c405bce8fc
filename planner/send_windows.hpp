// How many sends of a tree a host has outstanding to a child, where what is sent is long on its
// way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// What comes on top of a window because of latencies is no more than this: who has thousands of
// requests under way looks through them all whenever one is done.
inline constexpr std::uint64_t kMostOnTheWay = 256;

// Where a window is larger for that, a slice follows the last one to the same child no sooner than
// this share of the time that a slice has at its tree's rate. Less than all of it, so that what was
// late can be made up for; enough to part slices that were sent together within some windows.
inline constexpr double kPace = 0.8;
// And the source lets slices go so many of the largest such windows beyond the oldest that it has
// not sent to all its children. On one port a near child that takes slices as fast as it can would
// leave a far one behind.
inline constexpr std::uint64_t kFarLookahead = 4;

// Bytes of a tree that are on their way along one of its edges at one time, between leaving one
// host and reaching the next, when the tree runs at its rate. Precondition: edge < edges.size().
double bytes_on_the_way(const PlanTree& tree, std::size_t edge);

// The largest of them over the plan's trees.
double most_bytes_on_the_way(const Plan& plan);

// Sends outstanding so that a tree reaches its rate along an edge with `on_the_way` bytes on their
// way: `base` where that is less than a slice, and those slices that have left and are not there
// yet.
// There and back when a sender asks the receiver first (`asks`), one way when a send is over once
// it has been received. slice: at least 1 byte.
std::uint64_t send_window(std::uint64_t base, double on_the_way, Bytes slice, bool asks);

}  // namespace espalier::planner
