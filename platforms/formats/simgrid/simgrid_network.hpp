// The network of a SimGrid description: nodes, links, and routes over the links. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platforms/formats/readers.hpp"

namespace pugi {  // NOLINT(readability-identifier-naming)
class xml_node;
}

namespace espalier::platforms::simgrid {

// Limits, because fifty characters can describe 10^9 hosts.
inline constexpr std::size_t kMostNodes = 200'000;
inline constexpr std::size_t kMostRoutes = 1'000'000;

// "41.27MBps", "10Gbps", "1.25GiBps", "125000000" (bytes/s). "12us", "1.5ms", "2m" (minutes), "0"
// (seconds). Throw InputError (reason only).
BytesPerSecond parse_bandwidth(std::string_view text);
Seconds parse_latency(std::string_view text);

// The numbers of a radical, "1-29,58,60", in its order. Throws InputError (reason only) if it is
// malformed or has more than kMostNodes numbers.
std::vector<std::uint64_t> parse_radical(std::string_view text);

enum class Sharing : std::uint8_t {
  kShared,       // one capacity for both directions
  kSplitDuplex,  // one capacity per direction
  kFatPipe,      // a cap on each transfer, for any number of transfers
};
// Throws InputError (reason only) on an unknown policy.
Sharing parse_sharing(std::string_view text);

using DirectedLinkId = std::uint32_t;

// An end of routes. A switch with an internal backbone is two relays, so that every path through it
// crosses the backbone once.
struct Netpoint {
  NodeId in{};
  NodeId out{};
  std::size_t zone = 0;
  bool host = false;
};

class Network {
 public:
  explicit Network(std::string name) : builder_(std::move(name)) {}

  // Throws on a duplicate name, or too many nodes.
  NodeId add_node(const std::string& name, bool relay, const std::string& group);
  // Makes `name` a netpoint. Throws on a duplicate name.
  void add_netpoint(const std::string& name, const Netpoint& netpoint);
  // Throws on an unknown name.
  [[nodiscard]] const Netpoint& netpoint(std::string_view name) const;

  // A link with one capacity.
  DirectedLinkId add_directed_link(std::string name, BytesPerSecond bandwidth, Seconds latency,
                                   bool fat = false);
  // A link with a sharing policy. Throws on an invalid or duplicate name.
  void add_link(const std::string& name, BytesPerSecond bandwidth, Seconds latency,
                Sharing sharing);
  struct LinkPair {
    DirectedLinkId up;
    DirectedLinkId down;  // the same as `up` unless split
  };
  // The links from a node to its switch and back, according to `sharing`.
  LinkPair add_link_pair(const std::string& name, BytesPerSecond bandwidth, Seconds latency,
                         Sharing sharing);
  // The directed link of link `name` in `direction` ("UP", "DOWN", "NONE"); "name_UP" is also
  // accepted. Throws on an unknown link, or on a split one without a direction.
  [[nodiscard]] DirectedLinkId directed_link(std::string_view name,
                                             std::string_view direction) const;

  enum class Duplicate : std::uint8_t { kRefuse, kReplace };
  // A route: an arc with the minimum bandwidth and the sum of the latencies of its links. Throws on
  // a duplicate route, one without links, one that uses a link twice, or one to its own start.
  void connect(NodeId from, NodeId to, std::vector<DirectedLinkId> directed_links,
               Duplicate duplicate = Duplicate::kRefuse);

  // Notes what a platform cannot represent. Links of a single route only limit its bandwidth; links
  // of several routes become shared links.
  Platform build(Source& source) &&;

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
  std::unordered_map<std::string, LinkPair, NameHash, std::equal_to<>> links_;
  std::vector<Route> routes_;
  std::unordered_map<std::uint64_t, std::size_t> by_ends_;
};

// The attributes of <cluster>.
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

// Adds the switch of a star, with an internal backbone link if `backbone` is not empty. Returns the
// switch as a netpoint of `zone`. It is called `name`; with a backbone, the second relay is called
// `name` followed by " (leaving)".
Netpoint add_switch(Network& network, const std::string& name, std::size_t zone,
                    const std::vector<DirectedLinkId>& backbone);

}  // namespace espalier::platforms::simgrid
