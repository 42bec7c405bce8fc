#include "platforms/core/reversed.hpp"

#include <utility>

namespace espalier::platforms {

ReversedPlatform reversed(const Platform& platform) {
  PlatformBuilder builder(platform.name());
  if (!platform.currency().empty()) builder.set_currency(platform.currency());
  for (Node node : platform.nodes()) {
    std::swap(node.send, node.receive);
    builder.add_node(std::move(node));
  }
  for (Arc arc : platform.arcs()) {
    std::swap(arc.from, arc.to);
    std::swap(arc.send, arc.receive);
    builder.add_arc(arc);
  }
  for (const SharedLink& link : platform.shared_links()) {
    std::vector<std::pair<NodeId, NodeId>> arcs;
    for (const ArcId arc : link.arcs) {
      arcs.emplace_back(platform.arc(arc).to, platform.arc(arc).from);
    }
    builder.add_shared_link(link.name, link.bandwidth, std::move(arcs));
  }
  ReversedPlatform result{std::move(builder).build(), {}};
  result.original.reserve(platform.arcs().size());
  for (const Arc& arc : result.platform.arcs()) {
    result.original.push_back(*platform.find_arc(arc.to, arc.from));
  }
  return result;
}

}  // namespace espalier::platforms
