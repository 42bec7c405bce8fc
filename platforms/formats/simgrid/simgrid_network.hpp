// What a SimGrid description comes to: nodes, links, and routes over the links. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace pugi {  // NOLINT(readability-identifier-naming)
class xml_node;
}

namespace espalier::platforms::simgrid {

// More than this is refused: 10^9 hosts are written in fifty characters.
inline constexpr std::size_t kMostNodes = 200'000;
inline constexpr std::size_t kMostRoutes = 1'000'000;

// "41.27MBps", "10Gbps", "1.25GiBps", "125000000" (bytes/s). "12us", "1.5ms", "2m" (minutes), "0"
// (seconds). Throw InputError (reason only).
BytesPerSecond parse_bandwidth(std::string_view text);
Seconds parse_latency(std::string_view text);

// The numbers of a radical, "1-29,58,60", in its order. Throws InputError (reason only) on one that
// is malformed, or of more than kMostNodes numbers.
std::vector<std::uint64_t> parse_radical(std::string_view text);

enum class Sharing : std::uint8_t {
  kShared,       // one capacity for both directions
  kSplitDuplex,  // one each
  kFatPipe,      // a cap on each transfer, however many there are
};
// Throws InputError (reason only) on another policy, by name.
Sharing parse_sharing(std::string_view text);

using DirectedLinkId = std::uint32_t;

// A node as routes see it. A switch with a backbone inside is two relays: what enters crosses the
// backbone before it leaves, once.
struct Netpoint {
  NodeId in{};
  NodeId out{};
  std::size_t zone = 0;
  bool host = false;
};

class Network {
 public:
  explicit Network(std::string name) : builder_(std::move(name)) {}

  // Throws on a name already taken, or too many nodes.
  NodeId add_node(const std::string& name, bool relay, const std::string& group);
  // Makes `name` a netpoint. Throws on a name already taken.
  void add_netpoint(const std::string& name, const Netpoint& netpoint);
  // Throws on an unknown name.
  [[nodiscard]] const Netpoint& netpoint(std::string_view name) const;
  [[nodiscard]] bool has_netpoint(std::string_view name) const;

  // One capacity.
  DirectedLinkId add_directed_link(std::string name, BytesPerSecond bandwidth, Seconds latency,
                                   bool fat = false);
  // A link by its policy. Throws on a name already taken or bad figures.
  void add_link(const std::string& name, BytesPerSecond bandwidth, Seconds latency,
                Sharing sharing);
  struct Ways {
    DirectedLinkId up;
    DirectedLinkId down;  // the same link unless split
  };
  // The links from a node to its switch and back, as `sharing` says.
  Ways add_ways(const std::string& name, BytesPerSecond bandwidth, Seconds latency,
                Sharing sharing);
  // The link of link `name` in `direction` ("UP", "DOWN", "NONE"); "name_UP" names it as well.
  // Throws on an unknown link, or a split one without direction.
  [[nodiscard]] DirectedLinkId directed_link(std::string_view name,
                                             std::string_view direction) const;

  enum class Duplicate : std::uint8_t { kRefuse, kReplace };
  // A route: an arc of the least bandwidth and the sum of latencies of its links. Throws on one
  // that is there already, has no links, crosses one twice, or starts where it ends.
  void connect(NodeId from, NodeId to, std::vector<DirectedLinkId> directed_links,
               Duplicate duplicate = Duplicate::kRefuse);

  // Notes what SimGrid means and a platform cannot say. Links of one route are its bandwidth; those
  // of several are shared links.
  Platform build(std::vector<std::string>& notes) &&;

 private:
  struct DirectedLink {
    std::string name;
    BytesPerSecond bandwidth;
    Seconds latency;
    bool fat;
  };
  struct Route {
    NodeId from;
    NodeId to;
    std::vector<DirectedLinkId> directed_links;
  };
  [[nodiscard]] std::string name_of(NodeId node) { return builder_.nodes()[index_of(node)].name; }

  PlatformBuilder builder_;
  std::unordered_map<std::string, Netpoint, NameHash, std::equal_to<>> netpoints_;
  std::vector<DirectedLink> directed_links_;
  std::unordered_map<std::string, Ways, NameHash, std::equal_to<>> links_;
  std::vector<Route> routes_;
  std::unordered_map<std::uint64_t, std::size_t> by_ends_;
};

// What the attributes of <cluster> say.
struct ClusterOptions {
  std::string id;
  std::string prefix;
  std::string suffix;
  std::vector<std::uint64_t> radical;
  BytesPerSecond bandwidth;
  Seconds latency;
  Sharing sharing = Sharing::kSplitDuplex;
  bool has_backbone = false;
  BytesPerSecond backbone_bandwidth;
  Seconds backbone_latency;
  bool backbone_fat = false;
  BytesPerSecond limiter;  // 0: none
  std::string router;      // its name
  std::string topology;    // "FLAT", "FAT_TREE", "TORUS", "DRAGONFLY"
  std::string parameters;  // of the topology
  std::string group;
  std::size_t zone = 0;
};
// All but group and zone, from the attributes of <cluster>. Throws InputError (reason only).
ClusterOptions cluster_options(const pugi::xml_node& node);
// Adds its hosts, switches and routes. Throws InputError (reason only).
void add_cluster(Network& network, const ClusterOptions& options);

// A star: the hosts' ways meet in a switch, behind a backbone link where there is one. Returns the
// switch as a netpoint of `zone`; names it `name`, and the second relay a backbone needs `name`
// with " (leaving)" behind.
Netpoint add_switch(Network& network, const std::string& name, std::size_t zone,
                    const std::vector<DirectedLinkId>& backbone);

}  // namespace espalier::platforms::simgrid
