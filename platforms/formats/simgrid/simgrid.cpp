// Reader of SimGrid's XML platforms, version 4.1 and the older names of 3 and 4 (docs/formats.md).
// H. Casanova et al., "Versatile, scalable, and accurate simulation of distributed applications and
// platforms", JPDC 74(10), 2014, doi:10.1016/j.jpdc.2014.06.008.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "platforms/formats/graph/xml.hpp"
#include "platforms/formats/readers.hpp"
#include "platforms/formats/simgrid/simgrid_network.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

using simgrid::DirectedLinkId;
using simgrid::Netpoint;
using simgrid::Network;

constexpr std::size_t kDeepest = 32;

struct Zone {
  std::string id;
  std::string routing;
  std::size_t parent;  // of the top-level zone: itself
  std::size_t depth;
  std::string group;  // names of the zones below the top one: "AS1/cluster2"
};

// The links of a host in a zone whose routing is Cluster.
struct HostLink {
  NodeId host;
  DirectedLinkId up;
  DirectedLinkId down;
};

void require_version(const pugi::xml_node& platform) {
  const std::string text = required_attribute(platform, "version");
  const auto version = parse_number(text);
  if (version && *version >= 3 && *version < 5) return;
  throw InputError(fmt::format(
      "version {} is not supported, only 3 to 4.1; upgrade the file with simgrid_update_xml",
      in_quotes(text)));
}

// Whether a route element joins zones, and so names gateways.
bool between_zones(const pugi::xml_node& route) {
  const std::string_view name = route.name();
  return name != "route" && name != "bypassRoute";
}

bool symmetrical(const pugi::xml_node& route) {
  const std::string_view text = route.attribute("symmetrical").as_string("YES");
  if (text == "YES" || text == "yes") return true;
  if (text == "NO" || text == "no") return false;
  throw InputError(fmt::format("symmetrical is YES or NO, not {}", in_quotes(text)));
}

class SimgridReader {
 public:
  explicit SimgridReader(Source& source)
      : source_(source), xml_(source.text, source.file), network_(source.default_name()) {}

  Platform platform() {
    const pugi::xml_node platform = xml_.document().child("platform");
    if (!platform) source_.refuse("there is no element <platform>");
    xml_.at(platform, [&] { require_version(platform); });
    for (const pugi::xml_node node : platform.children()) declare(node, std::nullopt);
    if (zones_.empty()) source_.refuse("there is no zone and no cluster");
    for (const Pending& route : routes_) xml_.at(route.node, [&] { find_gateways(route); });
    for (const Pending& router : routers_) xml_.at(router.node, [&] { add_router(router); });
    for (const Pending& zone : stars_) xml_.at(zone.node, [&] { add_star(zone); });
    for (const Pending& route : routes_) xml_.at(route.node, [&] { add_route(route); });
    add_notes();
    return source_.at({}, [&] { return std::move(network_).build(source_); });
  }

 private:
  // An element to process once all names are known.
  struct Pending {
    pugi::xml_node node;
    std::size_t zone;
  };

  // First pass: adds zones, hosts and links; collects routes, routers and stars for later.
  void declare(const pugi::xml_node& node, std::optional<std::size_t> parent) {
    if (node.type() != pugi::node_element) return;
    const std::string_view name = node.name();
    if (name == "zone" || name == "AS") {
      const std::size_t zone = add_zone(node, required_routing(node), parent);
      for (const pugi::xml_node child : node.children()) declare(child, zone);
      return;
    }
    xml_.at(node, [&] {
      if (name == "cluster") return add_cluster(node, parent);
      if (leave_out(name, node)) return;
      if (!parent) throw InputError(fmt::format("<{}> must be in a zone", printable(name)));
      declare_member(node, name, *parent);
    });
  }

  void declare_member(const pugi::xml_node& node, std::string_view name, std::size_t zone) {
    constexpr std::array<std::string_view, 6> kRoutes{
        "route", "zoneRoute", "ASroute", "bypassRoute", "bypassZoneRoute", "bypassASroute"};
    if (name == "host") return static_cast<void>(add_host(required_attribute(node, "id"), zone));
    if (name == "link") return add_link(node);
    if (name == "cabinet") return add_cabinet(node, zone);
    if (name == "router") return routers_.push_back({node, zone});
    if (name == "host_link") return host_links_.push_back({node, zone});
    if (name == "backbone") return add_backbone(node, zone);
    if (std::ranges::find(kRoutes, name) != kRoutes.end()) return routes_.push_back({node, zone});
    if (name == "peer")
      throw InputError("<peer> belongs to Vivaldi zones, which are not supported");
    throw InputError(fmt::format("element <{}> is not supported", printable(name)));
  }

  // Whether `name` is an element that does not describe the network.
  bool leave_out(std::string_view name, const pugi::xml_node& node) {
    if (name == "trace_connect") {
      const std::string_view kind = node.attribute("kind").value();
      if (kind == "BANDWIDTH" || kind == "LATENCY" || kind == "LINK_AVAIL") ++profiles_;
      return true;
    }
    constexpr std::array<std::string_view, 11> kOther{
        "prop",    "config", "random", "storage", "storage_type", "mount",
        "process", "actor",  "trace",  "disk",    "model_prop"};
    return std::ranges::find(kOther, name) != kOther.end();
  }

  std::string required_routing(const pugi::xml_node& node) const {
    std::string routing;
    xml_.at(node, [&] {
      routing = required_attribute(node, "routing");
      const std::string zone = in_quotes(required_attribute(node, "id"));
      if (routing == "Vivaldi") {
        throw InputError(
            fmt::format("zone {} is Vivaldi: it has coordinates instead of links", zone));
      }
      if (routing == "Wifi" || routing == "WIFI") {
        throw InputError(fmt::format("zone {} is Wi-Fi, which is not supported", zone));
      }
      constexpr std::array<std::string_view, 6> kRoutings{"Full",          "Floyd", "Dijkstra",
                                                          "DijkstraCache", "None",  "Cluster"};
      if (std::ranges::find(kRoutings, routing) != kRoutings.end()) return;
      throw InputError(unknown_name("routing", routing, kRoutings));
    });
    return routing;
  }

  std::size_t add_zone(const pugi::xml_node& node, std::string routing,
                       std::optional<std::size_t> parent) {
    const std::size_t index = zones_.size();
    xml_.at(node, [&] {
      Zone zone{required_attribute(node, "id"), std::move(routing), parent.value_or(index), 0, ""};
      require_name(zone.id, "a zone's name");
      if (!parent && !zones_.empty()) throw InputError("a second top-level zone");
      if (parent) {
        const Zone& above = zones_[*parent];
        zone.depth = above.depth + 1;
        if (zone.depth >= kDeepest) {
          throw InputError(fmt::format("zones nested over {} levels", kDeepest));
        }
        zone.group = above.group.empty() ? zone.id : above.group + "/" + zone.id;
      }
      if (!zones_by_name_.emplace(zone.id, index).second) {
        throw InputError(fmt::format("two zones are named {}", in_quotes(zone.id)));
      }
      if (zone.routing == "Cluster" && node.name() != std::string_view("cluster")) {
        stars_.push_back({node, index});
      }
      if (zone.routing == "None") ++without_routes_;
      zones_.push_back(std::move(zone));
      backbones_.emplace_back();
      star_links_.emplace_back();
    });
    return index;
  }

  NodeId add_host(const std::string& name, std::size_t zone) {
    const NodeId host = network_.add_node(name, false, zones_[zone].group);
    network_.add_netpoint(name, {host, host, zone, true});
    return host;
  }

  void add_link(const pugi::xml_node& node) {
    const auto sharing =
        simgrid::parse_sharing(node.attribute("sharing_policy").as_string("SHARED"));
    network_.add_link(required_attribute(node, "id"),
                      simgrid::parse_bandwidth(required_attribute(node, "bandwidth")),
                      simgrid::parse_latency(node.attribute("latency").as_string("0")), sharing);
    for (const char* const profile : {"bandwidth_file", "latency_file", "state_file"}) {
      if (*node.attribute(profile).value() != '\0') ++profiles_;
    }
  }

  void add_cluster(const pugi::xml_node& node, std::optional<std::size_t> parent) {
    const std::size_t zone = add_zone(node, "Cluster", parent);
    simgrid::ClusterOptions options = simgrid::cluster_options(node);
    options.group = zones_[zone].group;
    options.zone = zone;
    simgrid::add_cluster(network_, options);
    if (options.topology == "TORUS") ++tori_;
    if (options.topology != "FLAT" && options.has_backbone) ++unused_backbones_;
  }

  void add_cabinet(const pugi::xml_node& node, std::size_t zone) {
    require_star(zone, "cabinet");
    const std::string prefix = required_attribute(node, "prefix");
    const std::string suffix = required_attribute(node, "suffix");
    const auto bandwidth = simgrid::parse_bandwidth(required_attribute(node, "bw"));
    const auto latency = simgrid::parse_latency(required_attribute(node, "lat"));
    for (const std::uint64_t number : simgrid::parse_radical(required_attribute(node, "radical"))) {
      const std::string name = fmt::format("{}{}{}", prefix, number, suffix);
      const auto pair = network_.add_link_pair("link_" + name, bandwidth, latency,
                                               simgrid::Sharing::kSplitDuplex);
      star_links_[zone].push_back({add_host(name, zone), pair.up, pair.down});
    }
  }

  void add_backbone(const pugi::xml_node& node, std::size_t zone) {
    require_star(zone, "backbone");
    if (!backbones_[zone].empty()) throw InputError("duplicate backbone");
    const std::string id = required_attribute(node, "id");
    network_.add_link(id, simgrid::parse_bandwidth(required_attribute(node, "bandwidth")),
                      simgrid::parse_latency(required_attribute(node, "latency")),
                      simgrid::Sharing::kShared);
    backbones_[zone].push_back(network_.directed_link(id, "NONE"));
  }

  void require_star(std::size_t zone, std::string_view what) const {
    if (zones_[zone].routing == "Cluster") return;
    throw InputError(fmt::format("a {} must be in a zone whose routing is Cluster", what));
  }

  void find_gateways(const Pending& route) {
    if (!between_zones(route.node)) return;
    gateways_.insert(required_attribute(route.node, "gw_src"));
    gateways_.insert(required_attribute(route.node, "gw_dst"));
  }

  // With Full routing no route is composed of others, so a router that is not a gateway is unused.
  void add_router(const Pending& router) {
    const std::string name = required_attribute(router.node, "id");
    const Zone& zone = zones_[router.zone];
    if (zone.routing == "Cluster") return routers_of_stars_.push_back({router.zone, name});
    if (zone.routing == "Full" && !gateways_.contains(name)) {
      left_out_.insert(name);
      return;
    }
    const NodeId node = network_.add_node(name, true, "");
    network_.add_netpoint(name, {node, node, router.zone, false});
  }

  void add_star(const Pending& star) {
    std::string name = zones_[star.zone].id + "_router";
    for (const auto& [zone, router] : routers_of_stars_) {
      if (zone == star.zone) name = router;
    }
    const Netpoint hub = simgrid::add_switch(network_, name, star.zone, backbones_[star.zone]);
    for (const HostLink& link : star_links_[star.zone]) {
      network_.connect(link.host, hub.in, {link.up});
      network_.connect(hub.out, link.host, {link.down});
    }
    for (const Pending& link : host_links_) {
      if (link.zone != star.zone) continue;
      xml_.at(link.node, [&] {
        const Netpoint& host = network_.netpoint(required_attribute(link.node, "id"));
        network_.connect(host.in, hub.in,
                         {network_.directed_link(required_attribute(link.node, "up"), "UP")});
        network_.connect(hub.out, host.in,
                         {network_.directed_link(required_attribute(link.node, "down"), "DOWN")});
      });
    }
  }

  // An end of a route: src or dst, or the gateway of the zone that these name.
  const Netpoint& end_of(const Pending& route, const char* end, const char* gateway) const {
    const std::string name = required_attribute(route.node, end);
    if (!between_zones(route.node)) {
      const Netpoint& netpoint = network_.netpoint(name);
      if (netpoint.zone != route.zone) refuse_outside(name, route.zone);
      return netpoint;
    }
    const auto zone = zones_by_name_.find(name);
    if (zone == zones_by_name_.end()) {
      throw InputError(fmt::format("there is no zone {}", in_quotes(name)));
    }
    const bool bypass = route.node.name()[0] == 'b';
    if (!bypass && (zones_[zone->second].parent != route.zone || zone->second == route.zone)) {
      refuse_outside(name, route.zone);
    }
    const std::string gateway_name = required_attribute(route.node, gateway);
    const Netpoint& netpoint = network_.netpoint(gateway_name);
    for (std::size_t i = netpoint.zone; i != zone->second; i = zones_[i].parent) {
      if (zones_[i].parent == i) refuse_outside(gateway_name, zone->second);
    }
    return netpoint;
  }

  [[noreturn]] void refuse_outside(const std::string& name, std::size_t zone) const {
    throw InputError(
        fmt::format("{} is not in zone {}", in_quotes(name), in_quotes(zones_[zone].id)));
  }

  void add_route(const Pending& route) {
    const std::string source = required_attribute(route.node, "src");
    const std::string target = required_attribute(route.node, "dst");
    if (source == target) {
      if (between_zones(route.node)) throw InputError("a route from a zone to itself");
      return;  // a loopback
    }
    if (!between_zones(route.node) && (left_out_.contains(source) || left_out_.contains(target))) {
      return;
    }
    const Netpoint& from = end_of(route, "src", "gw_src");
    const Netpoint& to = end_of(route, "dst", "gw_dst");
    std::vector<DirectedLinkId> there;
    std::vector<DirectedLinkId> back;
    for (const pugi::xml_node link : route.node.children()) {
      if (link.type() != pugi::node_element) continue;
      if (link.name() != std::string_view("link_ctn")) {
        throw InputError(fmt::format("element <{}> is not supported", printable(link.name())));
      }
      const std::string id = required_attribute(link, "id");
      const std::string_view direction = link.attribute("direction").as_string("NONE");
      there.push_back(network_.directed_link(id, direction));
      std::string_view opposite = direction;
      if (direction == "UP") opposite = "DOWN";
      if (direction == "DOWN") opposite = "UP";
      back.push_back(network_.directed_link(id, opposite));
    }
    if (between_zones(route.node)) host_gateways_ += (from.host ? 1U : 0U) + (to.host ? 1U : 0U);
    const bool bypass = route.node.name()[0] == 'b';
    network_.connect(from.out, to.in, std::move(there),
                     bypass ? Network::Duplicate::kReplace : Network::Duplicate::kRefuse);
    if (bypass || !symmetrical(route.node)) return;
    std::ranges::reverse(back);
    network_.connect(to.out, from.in, std::move(back));
  }

  void add_notes() {
    source_.note_count(left_out_.size(),
                       "left out {} routers in zones of Full routing that are not gateways");
    source_.note_count(without_routes_, "{} zones of routing None: no routes inside");
    source_.note_count(
        tori_, "{} tori: hosts are linked to their neighbours; the planner chooses longer paths");
    source_.note_counted(unused_backbones_, "backbone",
                         "left out {} of clusters that are not FLAT, as SimGrid does");
    if (host_gateways_ > 0) {
      source_.note("hosts as gateways: they forward as hosts, not as switches");
    }
    source_.note_count(profiles_, "left out {} profiles: links keep their declared figures");
  }

  Source& source_;
  XmlFile xml_;
  Network network_;
  std::vector<Zone> zones_;
  std::unordered_map<std::string, std::size_t> zones_by_name_;
  std::vector<std::vector<DirectedLinkId>> backbones_;  // by zone
  std::vector<std::vector<HostLink>> star_links_;       // by zone
  std::vector<Pending> routes_;
  std::vector<Pending> routers_;
  std::vector<Pending> stars_;
  std::vector<Pending> host_links_;
  std::vector<std::pair<std::size_t, std::string>> routers_of_stars_;
  std::set<std::string> gateways_;
  std::set<std::string> left_out_;
  std::size_t host_gateways_ = 0;
  std::size_t without_routes_ = 0;
  std::size_t tori_ = 0;
  std::size_t unused_backbones_ = 0;
  std::size_t profiles_ = 0;
};

bool detects_simgrid(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  // A byte order mark may come first.
  if (text[first] != '<' && !text.starts_with("\xEF\xBB\xBF")) return false;
  return text.find("<platform") != std::string_view::npos;
}

}  // namespace

constinit const FormatEntry kSimgridFormat{
    "simgrid",
    "XML, SimGrid's platforms: zones, clusters, routes over shared links",
    detects_simgrid,
    [](Source& source) { return SimgridReader(source).platform(); },
    64,
    ".xml",
    write_simgrid};

}  // namespace espalier::platforms
