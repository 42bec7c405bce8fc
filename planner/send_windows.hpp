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

// Bytes of a tree that are on their way along one of its edges at one time, between leaving one
// host and reaching the next, when the tree runs at its rate. Precondition: edge < edges.size().
double bytes_on_the_way(const PlanTree& tree, std::size_t edge);

// The largest of them over the plan's trees.
double most_bytes_on_the_way(const Plan& plan);

// Where at least a slice is on its way, so many more sends are outstanding. Transfers that share a
// port share it by their round-trip times, under TCP as in SimGrid, so that one far transfer beside
// a near one gets next to nothing; as many as this keep their tree's rate
// (docs/decisions/0012-long-links.md).
inline constexpr std::uint64_t kFarSends = 16;

// Sends outstanding so that a tree reaches its rate along an edge with `on_the_way` bytes on their
// way: `base` where that is less than a slice; else also those slices that have left and are not
// there yet, and kFarSends.
// There and back when a sender asks the receiver first (`asks`), one way when a send is over once
// it has been received. slice: at least 1 byte.
std::uint64_t send_window(std::uint64_t base, double on_the_way, Bytes slice, bool asks);

}  // namespace espalier::planner
