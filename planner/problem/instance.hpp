// One planning problem: a broadcast from a source on a platform under a contention model. Built
// once, read by every algorithm.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

class Instance {
 public:
  // Keeps a reference to `platform`, which must outlive it.
  // Throws InputError when the source is a relay, InfeasibleError naming a host that cannot be
  // reached from it.
  Instance(const platforms::Platform& platform, platforms::NodeId source, platforms::Model model,
           const platforms::OccupationOptions& options = {});

  [[nodiscard]] const platforms::Platform& platform() const { return *platform_; }
  [[nodiscard]] platforms::NodeId source() const { return source_; }
  [[nodiscard]] platforms::Model model() const { return model_; }
  [[nodiscard]] const platforms::OccupationOptions& options() const { return options_; }
  [[nodiscard]] const platforms::Occupation& occupation() const { return occupation_; }
  [[nodiscard]] const lp::Digraph& digraph() const { return digraph_; }
  [[nodiscard]] std::size_t host_count() const { return platform_->hosts().size(); }
  [[nodiscard]] std::size_t resource_count() const { return occupation_.resources.size(); }

  // planner::arc_seconds_per_byte.
  [[nodiscard]] std::vector<double> arc_seconds_per_byte() const;
  // The arcs between hosts; through relays, the fastest path (least sum of seconds per byte). The
  // result refers to the instance. Throws LimitReached when the deadline passes: through relays
  // there may be hosts^2 of them.
  [[nodiscard]] lp::HostArcs fastest_host_arcs(const Deadline& deadline = Deadline()) const;

  // (A x)_r for the tree: seconds per byte, one per resource.
  [[nodiscard]] std::vector<double> load_seconds_per_byte(const lp::RoutedTree& tree) const;
  // 1 / max load: what the tree sustains alone. Infinity for a tree without edges (one host).
  [[nodiscard]] BytesPerSecond throughput(const lp::RoutedTree& tree) const;

 private:
  const platforms::Platform* platform_;
  platforms::NodeId source_;
  platforms::Model model_;
  platforms::OccupationOptions options_;
  platforms::Occupation occupation_;
  lp::Digraph digraph_;
};

// The platform's graph, with the same node and arc numbers, including relays.
lp::Digraph digraph_of(const platforms::Platform& platform);

// Per node, its place among the hosts, that is, in Plan::nodes; UINT32_MAX: a relay.
std::vector<std::uint32_t> host_numbers(const platforms::Platform& platform);

// Seconds per byte of each arc alone: 1 / bandwidth, plus the segment's overhead where there is
// one.
std::vector<double> arc_seconds_per_byte(const platforms::Platform& platform,
                                         const platforms::OccupationOptions& options);

// The node called `name`. Throws InputError for an unknown name, with the platform and the nearest
// name. what: it should be, for the message.
platforms::NodeId source_named(const platforms::Platform& platform, std::string_view name,
                               std::string_view what = "source");

}  // namespace espalier::planner
