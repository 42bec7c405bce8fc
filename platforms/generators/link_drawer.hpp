// Common code of the generated families: adds named nodes, and links with random bandwidths. Not
// installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "platforms/generators/fabrics.hpp"
#include "platforms/generators/generators.hpp"
#include "platforms/generators/sampler.hpp"

namespace espalier::platforms {

// Combined with a seed to get an independent sequence of draws; the value is arbitrary.
inline constexpr std::uint64_t kOtherDraws = 0x9E3779B97F4A7C15U;

// Checks that throw InputError (reason only); `what` names the value.
void require_mean(BytesPerSecond rate, std::string_view what);   // every draw around it is finite
void require_deviation(double relative, std::string_view what);  // 0 to 1000
void require_hosts(std::size_t count, std::size_t least = 2);    // at most kMostFabricNodes

// Adds hosts and links of a family. Hosts come before relays.
class LinkDrawer {
 public:
  // Throws InputError if `spread` is invalid.
  LinkDrawer(PlatformBuilder& builder, const Spread& spread, std::size_t hosts);

  NodeId add_host(std::string group = {});
  NodeId add_relay(std::string name);
  // Adds a link with these means in both directions, from one draw; slow hosts at its ends make it
  // slower.
  void link(NodeId one, NodeId other, BytesPerSecond mean, Seconds latency);
  void link(NodeId one, NodeId other, BytesPerSecond there, BytesPerSecond back, Seconds latency);
  // Adds a link that slow hosts do not affect. Returns the bandwidth drawn.
  BytesPerSecond trunk(NodeId one, NodeId other, BytesPerSecond mean, Seconds latency);
  // Draws a bandwidth around `mean`.
  BytesPerSecond draw(BytesPerSecond mean);

 private:
  void add_both_ways(NodeId one, NodeId other, BytesPerSecond there, BytesPerSecond back,
                     Seconds latency);
  [[nodiscard]] double slowness(NodeId node) const;

  PlatformBuilder& builder_;
  double heterogeneity_;
  Sampler sampler_;
  std::vector<double> slowness_;  // by host; empty: no slow hosts
};

}  // namespace espalier::platforms
