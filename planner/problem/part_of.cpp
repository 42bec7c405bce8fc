#include "planner/problem/part_of.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace espalier::planner {

namespace {

using platforms::NodeId;
using platforms::Platform;

// Under multi-port a sender's time per byte depends on all its links, including those outside the
// part. So it is set as a cap, which the model then uses.
void keep_send_time(const Platform& whole, platforms::Model model,
                    const platforms::Occupation& occupation, NodeId node, platforms::Node& copy) {
  if (model != platforms::Model::kMultiPort || copy.relay) return;
  const auto [first, last] = whole.arcs_out_of(node);
  if (first == last) return;
  using Matrix = Eigen::SparseMatrix<double>;
  for (Matrix::InnerIterator it(occupation.seconds_per_byte, first); it; ++it) {
    const platforms::Resource& resource = occupation.resources[static_cast<std::size_t>(it.row())];
    if (resource.kind == platforms::Resource::Kind::kOutPort) {
      copy.send = BytesPerSecond{1 / it.value()};
    }
  }
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
    keep_send_time(whole, model, occupation, node, copy);
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
