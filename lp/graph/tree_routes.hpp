// How far the hosts of a tree are from its root, and how many children a host has.
#pragma once

#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>

#include "lp/graph/digraph.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

// Bytes: about what segments are where latencies count.
inline constexpr double kSegmentOnLongWays = 65536;

// Edges on the longest way from the root of a tree of `graph` to a host.
std::uint32_t depth_of(const Digraph& graph, std::uint32_t root, const RoutedTree& tree);

// Latencies on the longest way from the root to a host, added up.
Seconds latency_of(const Digraph& graph, std::uint32_t root, const RoutedTree& tree);

// Until a segment of kSegmentOnLongWays that leaves the root has reached the last host, if nothing
// is in its way: the latencies and, on each edge, as long as it keeps that edge's slowest resource
// busy. occupation: resources x arcs.
Seconds way_of_a_segment(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
                         std::uint32_t root, const RoutedTree& tree);

// Most children that a host has in the tree.
std::size_t out_degree_of(const Digraph& graph, const RoutedTree& tree);

}  // namespace espalier::lp
