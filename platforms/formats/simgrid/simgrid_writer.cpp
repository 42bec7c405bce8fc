// Writes a SimGrid platform with the same contention: one link per arc, and shared links and caps
// as additional links of the routes that they limit.
//
// Only arcs are written as routes; SimGrid finds all other routes (routing Dijkstra) by the fewest
// links. It must use an arc if there is one, and must not route through a host if there is a path
// through relays. Therefore all routes are padded with links that cost nothing:
//
//   with b links for every arc, and w more for each of its ends that is a host, the path between
//   two hosts costs  b + 2 w           along an arc,
//                    (k + 1) b + 2 w   through k relays,
//                    2 b + 4 w         or more through another host,
//   so that w > (k - 1) b / 2 keeps this order for all k that occur.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "platforms/formats/readers.hpp"
#include "support/xml_text.hpp"

namespace espalier::platforms {

namespace {

// Names of links, followed by a number or the name of the shared link or the node.
constexpr std::string_view kArcLink = "link:";
constexpr std::string_view kSharedLink = "shared:";
constexpr std::string_view kSendLink = "send:";
constexpr std::string_view kReceiveLink = "receive:";
constexpr std::string_view kPadLink = "pad:";

constexpr std::size_t kMostSteps = 1'000'000;         // total links of all routes
constexpr std::size_t kMostRelayVisits = 50'000'000;  // arcs visited to measure paths
constexpr double kHostSpeed = 1;                      // Gflop/s; platforms contain no speeds

// The maximum number of relays on a shortest path through relays between two hosts; 0 without such
// paths.
class RelayPaths {
 public:
  explicit RelayPaths(const Platform& platform) : platform_(platform) {
    const std::size_t nodes = platform.nodes().size();
    std::vector<bool> enters(nodes);
    leaves_.resize(nodes);
    for (const Arc& arc : platform.arcs()) {
      const bool from_relay = platform.node(arc.from).relay;
      const bool to_relay = platform.node(arc.to).relay;
      if (!from_relay && to_relay) enters[index_of(arc.to)] = true;
      if (from_relay && !to_relay) leaves_[index_of(arc.from)] = true;
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      if (enters[i]) visit(NodeId{static_cast<std::uint32_t>(i)});
    }
  }
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  void visit(NodeId start) {
    std::vector<std::size_t> relays(platform_.nodes().size());  // on the path, with both ends
    std::vector<NodeId> queue{start};
    relays[index_of(start)] = 1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeId node = queue[i];
      const std::size_t count = relays[index_of(node)];
      if (leaves_[index_of(node)]) longest_ = std::max(longest_, count);
      const auto [first, last] = platform_.arcs_out_of(node);
      visits_ += last - first + 1;
      if (visits_ > kMostRelayVisits) {
        throw InputError("too many relays to write for SimGrid");
      }
      for (std::uint32_t arc = first; arc < last; ++arc) {
        const NodeId next = platform_.arcs()[arc].to;
        if (!platform_.node(next).relay || relays[index_of(next)] > 0) continue;
        relays[index_of(next)] = count + 1;
        queue.push_back(next);
      }
    }
  }

  const Platform& platform_;
  std::vector<bool> leaves_;
  std::size_t longest_ = 0;
  std::size_t visits_ = 0;
};

// Whether a host has two neighbours, so that a path could lead through it.
bool hosts_join_others(const Platform& platform) {
  std::vector<std::optional<NodeId>> neighbour(platform.nodes().size());
  bool joins = false;
  const auto meet = [&](NodeId node, NodeId other) {
    auto& known = neighbour[index_of(node)];
    joins = joins || (!platform.node(node).relay && known && *known != other);
    known = other;
  };
  for (const Arc& arc : platform.arcs()) {
    meet(arc.from, arc.to);
    meet(arc.to, arc.from);
  }
  return joins;
}

class SimgridWriter {
 public:
  explicit SimgridWriter(const Platform& platform)
      : platform_(platform), crossed_(platform.arcs().size()) {
    for (const SharedLink& shared_link : platform.shared_links()) {
      for (const ArcId arc : shared_link.arcs) {
        crossed_[index_of(arc)].push_back(fmt::format("{}{}", kSharedLink, shared_link.name));
      }
    }
    for (std::size_t i = 0; i < crossed_.size(); ++i) {
      const Node& from = platform.node(platform.arcs()[i].from);
      const Node& to = platform.node(platform.arcs()[i].to);
      if (from.send) crossed_[i].push_back(fmt::format("{}{}", kSendLink, from.name));
      if (to.receive) crossed_[i].push_back(fmt::format("{}{}", kReceiveLink, to.name));
      base_ = std::max(base_, crossed_[i].size() + 1);
    }
    const std::size_t relays = RelayPaths(platform).longest();
    if (relays > 0 && hosts_join_others(platform)) host_end_ = (relays - 1) * base_ / 2 + 1;
    if ((base_ + 2 * host_end_) * crossed_.size() <= kMostSteps) return;
    throw InputError(
        fmt::format("routes of up to {} links for {} arcs: more than {} to write for SimGrid",
                    base_ + 2 * host_end_, crossed_.size(), kMostSteps));
  }

  std::string write() {
    text_ =
        "<?xml version=\"1.0\"?>\n"
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\">\n";
    put("<zone id=\"{}\" routing=\"Dijkstra\">\n", xml_escaped(zone_name()));
    for (const Node& node : platform_.nodes()) write_node(node);
    write_links();
    for (std::size_t i = 0; i < crossed_.size(); ++i) write_route(i);
    text_ += "</zone>\n</platform>\n";
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), pattern, std::forward<Values>(values)...);
  }

  // Hosts, routers and zones must have different names.
  [[nodiscard]] std::string zone_name() const {
    std::string name = "platform";
    while (platform_.find_node(name)) name += '_';
    return name;
  }

  void write_node(const Node& node) {
    const std::string name = xml_escaped(node.name);
    if (node.relay) return put("<router id=\"{}\"/>\n", name);
    put("<host id=\"{}\" speed=\"{}Gf\"/>\n", name, kHostSpeed);
  }

  void write_links() {
    double fastest = 1;
    for (std::size_t i = 0; i < platform_.arcs().size(); ++i) {
      const Arc& arc = platform_.arcs()[i];
      fastest = std::max(fastest, arc.bandwidth.value);
      write_link(fmt::format("{}{}", kArcLink, i), arc.bandwidth, arc.latency);
    }
    for (const SharedLink& shared_link : platform_.shared_links()) {
      write_link(fmt::format("{}{}", kSharedLink, shared_link.name), shared_link.bandwidth);
    }
    for (const Node& node : platform_.nodes()) {
      if (node.send) write_link(fmt::format("{}{}", kSendLink, node.name), *node.send);
      if (node.receive) write_link(fmt::format("{}{}", kReceiveLink, node.name), *node.receive);
    }
    std::size_t pads = 0;
    for (std::size_t i = 0; i < crossed_.size(); ++i) pads = std::max(pads, pads_of(i));
    for (std::size_t i = 0; i < pads; ++i) {
      write_link(fmt::format("{}{}", kPadLink, i), {fastest}, {}, "FATPIPE");
    }
  }

  void write_link(const std::string& id, BytesPerSecond bandwidth, Seconds latency = {},
                  std::string_view sharing = "SHARED") {
    put("<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"{}\"/>\n",
        xml_escaped(id), bandwidth.value, latency.value, sharing);
  }

  [[nodiscard]] std::size_t pads_of(std::size_t index) const {
    const Arc& arc = platform_.arcs()[index];
    const std::size_t host_ends =
        (platform_.node(arc.from).relay ? 0U : 1U) + (platform_.node(arc.to).relay ? 0U : 1U);
    return base_ - 1 - crossed_[index].size() + host_end_ * host_ends;
  }

  void write_route(std::size_t index) {
    const Arc& arc = platform_.arcs()[index];
    put("<route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"{}{}\"/>",
        xml_escaped(platform_.node(arc.from).name), xml_escaped(platform_.node(arc.to).name),
        kArcLink, index);
    for (const std::string& id : crossed_[index]) put("<link_ctn id=\"{}\"/>", xml_escaped(id));
    for (std::size_t i = 0; i < pads_of(index); ++i) put("<link_ctn id=\"{}{}\"/>", kPadLink, i);
    text_ += "</route>\n";
  }

  const Platform& platform_;
  std::vector<std::vector<std::string>> crossed_;  // by arc: shared links and caps
  std::size_t base_ = 1;                           // links of every arc
  std::size_t host_end_ = 0;                       // additional links for each end that is a host
  std::string text_;
};

}  // namespace

std::string write_simgrid(const Platform& platform) {
  return SimgridWriter(platform).write();
}

}  // namespace espalier::platforms
