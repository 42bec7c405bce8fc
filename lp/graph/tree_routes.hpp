// Distances of the hosts of a tree from its root, and numbers of children.
#pragma once

#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lp/graph/digraph.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

// Bytes: a typical segment size where latencies matter.
inline constexpr double kHighLatencySegment = 65536;

// Edges on the longest path from the root of a tree of `graph` to a host.
std::uint32_t depth_of(const Digraph& graph, std::uint32_t root, const RoutedTree& tree);

// Largest sum of latencies from the root to a host.
Seconds latency_of(const Digraph& graph, std::uint32_t root, const RoutedTree& tree);

// The time that a segment of kHighLatencySegment bytes takes along an edge's path, if no resource
// is busy: the latencies and the time for which it occupies the slowest resource. occupation:
// resources x arcs.
Seconds segment_time_along(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
                           std::span<const std::uint32_t> path);
// The time until one that leaves the root has reached the last host.
Seconds segment_travel_time(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
                            std::uint32_t root, const RoutedTree& tree);

// The largest number of children of a host in the tree.
std::size_t out_degree_of(const Digraph& graph, const RoutedTree& tree);

}  // namespace espalier::lp
