// The rates of a platform: bandwidths of links, caps of nodes, bandwidths of shared links.
#pragma once

#include <string>

#include "platforms/core/platform.hpp"
#include "support/errors.hpp"

namespace espalier::platforms {

// "'a' -> 'b'".
std::string name_of(const Platform& platform, const Arc& arc);

// Calls visit(rate, what) for every rate; what() describes what has it: "'a' -> 'b'", "a cap of
// 'a'", "shared link 'trunk'".
template <typename Visit>
void for_each_rate(const Platform& platform, const Visit& visit) {
  for (const Arc& arc : platform.arcs()) {
    const auto link = [&] { return name_of(platform, arc); };
    visit(arc.bandwidth, link);
    if (arc.send) visit(*arc.send, link);
    if (arc.receive) visit(*arc.receive, link);
  }
  for (const Node& node : platform.nodes()) {
    const auto cap = [&] { return "a cap of " + in_quotes(node.name); };
    if (node.send) visit(*node.send, cap);
    if (node.receive) visit(*node.receive, cap);
  }
  for (const SharedLink& link : platform.shared_links()) {
    visit(link.bandwidth, [&] { return "shared link " + in_quotes(link.name); });
  }
}

// The fastest of all rates over the slowest may be at most this. A double has 15.9 digits: beyond
// them the time of a byte on the fastest link is lost next to that on the slowest.
inline constexpr double kMostSpread = 1e15;

// Rates beyond these are refused as well: times per byte, and products of a few of them, stay
// within what a double holds.
inline constexpr BytesPerSecond kLeastRate{1e-100};
inline constexpr BytesPerSecond kMostRate{1e100};

// Throws SpreadError, naming the fastest and the slowest, when they are further apart, or one that
// is beyond the limits.
void require_spread(const Platform& platform);

}  // namespace espalier::platforms
