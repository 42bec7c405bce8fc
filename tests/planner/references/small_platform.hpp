// Short notations for small platforms.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::testing {

// Those that may have every host as a root.
inline constexpr std::array kOperationsOfAllRoots{planner::Operation::kAllgather,
                                                  planner::Operation::kReduceScatter,
                                                  planner::Operation::kAllreduce};

struct Link {
  std::string from;
  std::string to;
  double seconds_per_byte;
  double latency_s = 0;
};

// Nodes in the order given; a name that starts with "sw" is that of a relay.
platforms::Platform small_platform(const std::vector<std::string>& nodes,
                                   const std::vector<Link>& links);
// Every ordered pair of `count` hosts n0, n1, ... at the same bandwidth, each host with this send
// cap.
platforms::Platform complete_platform(std::size_t count, double bandwidth,
                                      std::optional<BytesPerSecond> send = {});
// platforms/data/NAME.
platforms::Platform sample_platform(const std::string& name);

planner::Instance instance_of(const platforms::Platform& platform, std::string_view source,
                              std::string_view model = "one-port");

planner::Collective collective_of(const platforms::Platform& platform, std::string_view source,
                                  planner::Operation operation = planner::Operation::kBroadcast,
                                  std::string_view model = "one-port");

// "a>b a>c b>sw>d": the edges in their order, with the nodes between.
std::string text_of(const lp::RoutedTree& tree, const platforms::Platform& platform);

// Options with max_trees.
planner::AlgorithmOptions at_most(std::size_t trees);
planner::Outcome run(std::string_view algorithm, const planner::Instance& instance,
                     const planner::AlgorithmOptions& options = {});
// The one tree of an algorithm that makes one.
std::string tree_text(std::string_view algorithm, const planner::Instance& instance);
// 1 / throughput, in seconds per byte, as in the papers' figures.
double period(const planner::Outcome& outcome);

}  // namespace espalier::testing
