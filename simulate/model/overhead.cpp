#include "simulate/model/overhead.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace espalier::simulate {

bool names_overhead(const platforms::Platform& platform) {
  return std::ranges::any_of(platform.arcs(),
                             [](const platforms::Arc& arc) { return arc.overhead.value > 0; });
}

Seconds overhead_for(const platforms::Platform& platform) {
  return names_overhead(platform) ? Seconds{0} : kAssumedOverhead;
}

platforms::Platform with_overhead(const platforms::Platform& platform, Seconds overhead) {
  if (overhead.value == 0) return platform;
  std::vector<platforms::Node> nodes(platform.nodes().begin(), platform.nodes().end());
  std::vector<platforms::Arc> arcs(platform.arcs().begin(), platform.arcs().end());
  std::vector<BytesPerSecond> shared;
  for (const platforms::SharedLink& link : platform.shared_links()) {
    shared.push_back(link.bandwidth);
  }
  for (platforms::Arc& arc : arcs) {
    if (arc.overhead.value == 0) arc.overhead = overhead;
  }
  return platforms::with_figures(platform, std::move(nodes), arcs, shared);
}

}  // namespace espalier::simulate
