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

// Under the multi-port models a host's time per byte depends on all its links, including those
// outside the part. So it is set as a cap, which the model then uses. (On a reversed platform the
// host receives on its out-arcs; its caps are swapped there.)
class KeptTimes {
 public:
  // Keeps references.
  KeptTimes(const Platform& whole, platforms::Model model, const platforms::Occupation& occupation)
      : whole_(whole),
        occupation_(occupation),
        has_processor_(model == platforms::Model::kMultiPortProcessor) {
    if (model != platforms::Model::kMultiPort && !has_processor_) return;
    first_out_.assign(whole.nodes().size(), kNone);
    first_into_ = first_out_;
    for (std::uint32_t i = 0; i < whole.arcs().size(); ++i) {
      const platforms::Arc& arc = whole.arcs()[i];
      if (!arc.send) keep_least(first_out_[index_of(arc.from)], i);
      if (!arc.receive) keep_least(first_into_[index_of(arc.to)], i);
    }
  }

  void keep(NodeId node, platforms::Node& copy) const {
    if (first_into_.empty() || copy.relay) return;
    keep_rate(first_out_[index_of(node)], node, copy.send);
    keep_rate(first_into_[index_of(node)], node, copy.receive);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static void keep_least(std::uint32_t& least, std::uint32_t arc) { least = std::min(least, arc); }

  // cap: set to the rate at which the node's port is occupied by a byte on the arc, if it has one.
  void keep_rate(std::uint32_t arc, NodeId node, std::optional<BytesPerSecond>& cap) const {
    if (arc == kNone) return;
    using Kind = platforms::Resource::Kind;
    const Kind kind = has_processor_ ? Kind::kPort : Kind::kOutPort;
    for (Matrix::InnerIterator it(occupation_.seconds_per_byte, arc); it; ++it) {
      const auto& resource = occupation_.resources[static_cast<std::size_t>(it.row())];
      if (resource.kind != kind || resource.index != index_of(node)) continue;
      cap = BytesPerSecond{1 / it.value()};
      return;
    }
  }

  const Platform& whole_;
  const platforms::Occupation& occupation_;
  bool has_processor_;
  // Per node, the first arc out of and into it that has no rate of its own; empty: other models.
  std::vector<std::uint32_t> first_out_{};
  std::vector<std::uint32_t> first_into_{};
};

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
  const KeptTimes times(whole, model, occupation);
  std::vector<std::optional<NodeId>> part_node(whole.nodes().size());
  std::vector<NodeId> kept;
  const auto add = [&](NodeId node, bool relay) {
    platforms::Node copy = whole.node(node);
    copy.relay = relay;
    times.keep(node, copy);
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
