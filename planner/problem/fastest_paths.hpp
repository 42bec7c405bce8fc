// Fastest paths on a platform, through relays and other hosts.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "planner/problem/instance.hpp"

namespace espalier::planner {

// Paths of the least sum of their arcs' times. One Dijkstra per sender that needs it; only the last
// result is kept. Refers to the platform.
class FastestPaths {
 public:
  // arc_s: of each arc, the time that counts, at least 0.
  FastestPaths(const platforms::Platform& platform, std::vector<double> arc_s);
  // By seconds per byte.
  explicit FastestPaths(const Instance& instance)
      : FastestPaths(instance.platform(), instance.arc_seconds_per_byte()) {}

  // The arcs from one node to another: the link where there is one, however slow, else the fastest
  // path. Empty: no path.
  std::vector<std::uint32_t> path(platforms::NodeId from, platforms::NodeId to);
  // The time of the fastest path to each node; the largest double where there is none. Valid until
  // the next call.
  std::span<const double> times_from(platforms::NodeId from);
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
  std::vector<double> times_;
  std::optional<platforms::NodeId> from_;
  std::size_t work_ = 1;
};

// The host that is reached last from one host, or from which that one is reached last.
struct FarthestHost {
  platforms::NodeId host;
  double time_s;
};
// For each host, the one to which its fastest path takes longest. arc_s: as above. Precondition:
// every host can be reached from every other one.
std::vector<FarthestHost> farthest_hosts(const platforms::Platform& platform,
                                         std::vector<double> arc_s);

}  // namespace espalier::planner
