// Fastest paths, through relays and other hosts, between hosts without a link.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/problem/instance.hpp"

namespace espalier::planner {

// Fastest paths by least sum of seconds per byte. One Dijkstra per sender that needs it; only the
// last result is kept. Refers to the instance's platform.
class FastestPaths {
 public:
  explicit FastestPaths(const Instance& instance);

  // The arcs from one node to another: the link where there is one, however slow, else the fastest
  // path. Empty: no path.
  std::vector<std::uint32_t> path(platforms::NodeId from, platforms::NodeId to);
  // Steps since the last call of this, such as arcs visited.
  std::size_t work() { return std::exchange(work_, 1); }

 private:
  using Graph =
      boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                         boost::no_property, std::uint32_t, std::uint32_t>;

  void run_from(platforms::NodeId from);

  const platforms::Platform& platform_;
  Graph graph_;
  std::vector<double> weight_;
  std::vector<std::uint32_t> before_;
  std::optional<platforms::NodeId> from_;
  std::size_t work_ = 1;
};

}  // namespace espalier::planner
