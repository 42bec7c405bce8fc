#include "planner/problem/part_of.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

using Matrix = Eigen::SparseMatrix<double>;

// The rate at which the node's port is occupied by a byte on the arc; unset: it has none.
std::optional<BytesPerSecond> rate_at(const platforms::Occupation& occupation, std::uint32_t arc,
                                      platforms::Resource::Kind kind, NodeId node) {
  for (Matrix::InnerIterator it(occupation.seconds_per_byte, arc); it; ++it) {
    const platforms::Resource& resource = occupation.resources[static_cast<std::size_t>(it.row())];
    if (resource.kind == kind && resource.index == index_of(node)) {
      return BytesPerSecond{1 / it.value()};
    }
  }
  return std::nullopt;
}

// Under the multi-port models a host's time per byte depends on all its links, including those
// outside the part. So it is set as a cap, which the model then uses. (On a reversed platform the
// host receives on its out-arcs; its caps are swapped there.)
void keep_times(const Platform& whole, platforms::Model model,
                const platforms::Occupation& occupation, NodeId node, platforms::Node& copy) {
  using Kind = platforms::Resource::Kind;
  const bool has_processor = model == platforms::Model::kMultiPortProcessor;
  if ((model != platforms::Model::kMultiPort && !has_processor) || copy.relay) return;
  const Kind kind = has_processor ? Kind::kPort : Kind::kOutPort;
  const auto [first, last] = whole.arcs_out_of(node);
  if (first != last) {
    if (const auto rate = rate_at(occupation, first, kind, node)) copy.send = rate;
  }
  const auto into = std::ranges::find(whole.arcs(), node, &platforms::Arc::to);
  if (into == whole.arcs().end()) return;
  const auto arc = static_cast<std::uint32_t>(into - whole.arcs().begin());
  if (const auto rate = rate_at(occupation, arc, kind, node)) copy.receive = rate;
}

void add_shared_links(const Platform& whole, const std::vector<std::optional<NodeId>>& part_node,
                      platforms::PlatformBuilder& builder) {
  for (const platforms::SharedLink& link : whole.shared_links()) {
    std::vector<std::pair<NodeId, NodeId>> pairs;
    for (const platforms::ArcId id : link.arcs) {
      const auto from = part_node[index_of(whole.arc(id).from)];
      const auto to = part_node[index_of(whole.arc(id).to)];
      if (from && to) pairs.emplace_back(*from, *to);
    }
    if (!pairs.empty()) builder.add_shared_link(link.name, link.bandwidth, std::move(pairs));
  }
}

}  // namespace

Platform part_of(const Platform& whole, platforms::Model model,
                 const platforms::Occupation& occupation, std::span<const NodeId> members,
                 std::span<const NodeId> way_points) {
  platforms::PlatformBuilder builder(whole.name());
  if (!whole.currency().empty()) builder.set_currency(whole.currency());
  std::vector<std::optional<NodeId>> part_node(whole.nodes().size());
  std::vector<NodeId> kept;
  const auto add = [&](NodeId node, bool relay) {
    platforms::Node copy = whole.node(node);
    copy.relay = relay;
    keep_times(whole, model, occupation, node, copy);
    part_node[index_of(node)] = builder.add_node(std::move(copy));
    kept.push_back(node);
  };
  for (const NodeId member : members) add(member, false);
  for (const NodeId host : way_points) add(host, true);
  for (std::uint32_t i = 0; i < whole.nodes().size(); ++i) {
    if (whole.nodes()[i].relay) add(NodeId{i}, true);
  }
  for (const NodeId from : kept) {
    const auto [first, last] = whole.arcs_out_of(from);
    for (platforms::Arc arc : whole.arcs().subspan(first, last - first)) {
      const auto to = part_node[index_of(arc.to)];
      if (!to) continue;
      arc.from = *part_node[index_of(from)];
      arc.to = *to;
      builder.add_arc(arc);
    }
  }
  add_shared_links(whole, part_node, builder);
  return std::move(builder).build();
}

}  // namespace espalier::planner
