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
  if (end == End::kOut) {
    const auto [first, last] = platform.arcs_out_of(node);
    for (std::uint32_t e = first; e < last; ++e) links.push_back(ArcId{e});
    return links;
  }
  for (std::size_t e = 0; e < platform.arcs().size(); ++e) {
    const Arc& arc = platform.arcs()[e];
    const bool out = end == End::kBoth && arc.from == node;
    if (out || arc.to == node) links.push_back(ArcId{static_cast<std::uint32_t>(e)});
  }
  return links;
}

// The values behind a port: its cap under bounded-multi-port, and under multi-port if it has one;
// otherwise the bandwidths of its links.
Figures figures_of_port(const Resource& port, const Platform& platform, Model model) {
  const NodeId node{port.index};
  Figures figures;
  switch (port.kind) {
    case Resource::Kind::kOutPort:
      if (model != Model::kOnePort && platform.node(node).send) {
        figures.send_caps = {node};
      } else {
        figures.links = links_at(platform, node, End::kOut);
      }
      break;
    case Resource::Kind::kInPort:
      if (model != Model::kOnePort && platform.node(node).receive) {
        figures.receive_caps = {node};
      } else {
        figures.links = links_at(platform, node, End::kIn);
      }
      break;
    default:
      figures.links = links_at(platform, node, End::kBoth);
  }
  return figures;
}

template <typename Id>
std::vector<Id> sorted_union(const std::vector<Id>& one, const std::vector<Id>& other) {
  std::vector<Id> both;
  std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
  return both;
}

}  // namespace

Figures figures_behind(const Resource& resource, const Platform& platform, Model model) {
  Figures figures;
  switch (resource.kind) {
    case Resource::Kind::kLink:
      figures.links = {ArcId{resource.index}};
      return figures;
    case Resource::Kind::kSharedLink:
      figures.shared = {resource.index};
      return figures;
    default:
      return figures_of_port(resource, platform, model);
  }
}

Figures union_of(const Figures& one, const Figures& other) {
  return {sorted_union(one.links, other.links), sorted_union(one.send_caps, other.send_caps),
          sorted_union(one.receive_caps, other.receive_caps),
          sorted_union(one.shared, other.shared)};
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
  return fmt::format("{}", fmt::join(parts, ", "));
}

Platform faster(const Platform& platform, const Figures& figures, double factor) {
  std::vector<Node> nodes(platform.nodes().begin(), platform.nodes().end());
  std::vector<Arc> arcs(platform.arcs().begin(), platform.arcs().end());
  std::vector<BytesPerSecond> shared;
  for (const SharedLink& shared_link : platform.shared_links())
    shared.push_back(shared_link.bandwidth);
  for (const ArcId link : figures.links) arcs[index_of(link)].bandwidth.value *= factor;
  for (const NodeId node : figures.send_caps) nodes[index_of(node)].send->value *= factor;
  for (const NodeId node : figures.receive_caps) nodes[index_of(node)].receive->value *= factor;
  for (const std::uint32_t shared_link : figures.shared) shared[shared_link].value *= factor;
  return with_figures(platform, std::move(nodes), arcs, shared);
}

}  // namespace espalier::platforms
