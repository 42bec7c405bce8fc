#include "platforms/core/faster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace espalier::platforms {

namespace {

enum class End : std::uint8_t { kOut, kIn, kBoth };

std::vector<ArcId> links_at(const Platform& platform, NodeId node, End end) {
  std::vector<ArcId> links;
  for (std::size_t e = 0; e < platform.arcs().size(); ++e) {
    const Arc& arc = platform.arcs()[e];
    const bool out = end != End::kIn && arc.from == node;
    const bool in = end != End::kOut && arc.to == node;
    if (out || in) links.push_back(ArcId{static_cast<std::uint32_t>(e)});
  }
  return links;
}

template <typename Id>
std::vector<Id> sorted_union(const std::vector<Id>& one, const std::vector<Id>& other) {
  std::vector<Id> both;
  std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
  return both;
}

// Of what `node` sends (kOut) or receives (kIn): its cap, if it counts, or its links' bandwidths,
// and, where these count, the rates that links have of their own.
Figures figures_at(const Platform& platform, NodeId node, End end, bool caps_count,
                   bool link_rates_count) {
  const bool sends = end == End::kOut;
  Figures figures;
  const std::vector<ArcId> links = links_at(platform, node, end);
  std::vector<ArcId>& own = sends ? figures.link_sends : figures.link_receives;
  if (link_rates_count) {
    std::ranges::copy_if(links, std::back_inserter(own), [&](ArcId link) {
      const Arc& arc = platform.arc(link);
      return (sends ? arc.send : arc.receive).has_value();
    });
    if (own.size() == links.size()) return figures;
  }
  const Node& its = platform.node(node);
  if (caps_count && (sends ? its.send : its.receive)) {
    (sends ? figures.send_caps : figures.receive_caps) = {node};
  } else {
    figures.links = links;
  }
  return figures;
}

}  // namespace

Figures figures_behind(const Resource& resource, const Platform& platform, Model model) {
  const NodeId node{resource.index};
  // Caps count under bounded-multi-port, and under the other multi-port models if there are any.
  const bool capped = model != Model::kOnePort;
  switch (resource.kind) {
    case Resource::Kind::kLink:
      return {.links = {ArcId{resource.index}}};
    case Resource::Kind::kSharedLink:
      return {.shared = {resource.index}};
    case Resource::Kind::kOutPort:
      return figures_at(platform, node, End::kOut, capped, false);
    case Resource::Kind::kInPort:
      return figures_at(platform, node, End::kIn, capped, false);
    case Resource::Kind::kMoney:
      return {};
    case Resource::Kind::kPort:
      if (model != Model::kMultiPortProcessor) break;
      return union_of(figures_at(platform, node, End::kOut, capped, true),
                      figures_at(platform, node, End::kIn, capped, true));
  }
  return {.links = links_at(platform, node, End::kBoth)};
}

Figures union_of(const Figures& one, const Figures& other) {
  return {sorted_union(one.links, other.links),
          sorted_union(one.send_caps, other.send_caps),
          sorted_union(one.receive_caps, other.receive_caps),
          sorted_union(one.shared, other.shared),
          sorted_union(one.link_sends, other.link_sends),
          sorted_union(one.link_receives, other.link_receives)};
}

std::string describe(const Figures& figures) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) parts.push_back(counted(count, what));
  };
  add(figures.links.size(), "link");
  add(figures.send_caps.size(), "send cap");
  add(figures.receive_caps.size(), "receive cap");
  add(figures.shared.size(), "shared link");
  add(figures.link_sends.size(), "link send rate");
  add(figures.link_receives.size(), "link receive rate");
  return fmt::format("{}", fmt::join(parts, ", "));
}

Platform faster(const Platform& platform, const Figures& figures, double factor) {
  std::vector<Node> nodes(platform.nodes().begin(), platform.nodes().end());
  std::vector<Arc> arcs(platform.arcs().begin(), platform.arcs().end());
  std::vector<BytesPerSecond> shared;
  for (const SharedLink& shared_link : platform.shared_links())
    shared.push_back(shared_link.bandwidth);
  for (const ArcId link : figures.links) arcs[index_of(link)].bandwidth.value *= factor;
  for (const ArcId link : figures.link_sends) arcs[index_of(link)].send->value *= factor;
  for (const ArcId link : figures.link_receives) arcs[index_of(link)].receive->value *= factor;
  for (const NodeId node : figures.send_caps) nodes[index_of(node)].send->value *= factor;
  for (const NodeId node : figures.receive_caps) nodes[index_of(node)].receive->value *= factor;
  for (const std::uint32_t shared_link : figures.shared) shared[shared_link].value *= factor;
  return with_figures(platform, std::move(nodes), arcs, shared);
}

}  // namespace espalier::platforms
