// What the generated families have in common: nodes by their names, and links whose bandwidths are
// drawn. Not installed.
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

// Any odd mix will do: draws apart from those of the seed itself.
inline constexpr std::uint64_t kOtherDraws = 0x9E3779B97F4A7C15U;

// The checks throw InputError (reason only); `what` names the figure.
void require_mean(BytesPerSecond rate, std::string_view what);   // every draw about it is finite
void require_deviation(double relative, std::string_view what);  // 0 to 1000
void require_hosts(std::size_t count, std::size_t least = 2);    // at most kMostFabricNodes

// Adds hosts and links of a family. Hosts come before relays.
class LinkDrawer {
 public:
  // Throws InputError when `spread` is unsound.
  LinkDrawer(PlatformBuilder& builder, const Spread& spread, std::size_t hosts);

  NodeId add_host(std::string group = {});
  NodeId add_relay(std::string name);
  // A link of these means, both ways with one draw; slow hosts at its ends make it slower.
  void link(NodeId one, NodeId other, BytesPerSecond mean, Seconds latency);
  void link(NodeId one, NodeId other, BytesPerSecond there, BytesPerSecond back, Seconds latency);
  // A link that is no host's own, whatever its ends. Returns what was drawn.
  BytesPerSecond trunk(NodeId one, NodeId other, BytesPerSecond mean, Seconds latency);
  // A draw about `mean`.
  BytesPerSecond draw(BytesPerSecond mean);

 private:
  void add_both_ways(NodeId one, NodeId other, BytesPerSecond there, BytesPerSecond back,
                     Seconds latency);
  [[nodiscard]] double slowness(NodeId node) const;

  PlatformBuilder& builder_;
  double heterogeneity_;
  Sampler sampler_;
  std::vector<double> slowness_;  // by host; empty: no slow ones
};

}  // namespace espalier::platforms
