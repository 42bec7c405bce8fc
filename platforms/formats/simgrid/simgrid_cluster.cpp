// The topologies of SimGrid's <cluster>.
#include <fmt/format.h>

#include <array>
#include <map>

#include "platforms/formats/graph/xml.hpp"
#include "platforms/formats/simgrid/simgrid_network.hpp"
#include "platforms/generators/fabrics.hpp"
#include "support/choice.hpp"

namespace espalier::platforms::simgrid {

namespace {

class Cluster {
 public:
  Cluster(Network& network, const ClusterOptions& options) : network_(network), options_(options) {
    for (const std::uint64_t number : options.radical) {
      const std::string name = fmt::format("{}{}{}", options.prefix, number, options.suffix);
      const NodeId node = network.add_node(name, false, options.group);
      network.add_netpoint(name, {node, node, options.zone, true});
      hosts_.push_back(node);
    }
  }

  void add_flat() {
    std::vector<DirectedLinkId> backbone;
    if (options_.has_backbone) {
      backbone.push_back(
          network_.add_directed_link(options_.id + "_backbone", options_.backbone_bandwidth,
                                     options_.backbone_latency, options_.backbone_fat));
    }
    const Netpoint hub = add_switch(network_, options_.router, options_.zone, backbone);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const std::string name = fmt::format("{}_link_{}", options_.id, options_.radical[i]);
      const Network::LinkPair pair =
          network_.add_link_pair(name, options_.bandwidth, options_.latency, options_.sharing);
      connect(hosts_[i], hub, pair, name, true);
    }
  }

  void add_fat_tree() {
    const FatTreeShape shape = parse_fat_tree_shape(options_.parameters, parameters_of());
    require_hosts(hosts_of(shape));
    add_fabric(fat_tree(shape));
  }

  void add_torus() {
    const std::vector<std::size_t> shape = parse_torus_shape(options_.parameters, parameters_of());
    require_hosts(hosts_of(shape));
    add_fabric(torus(shape, /*routers=*/false));
  }

  void add_dragonfly() {
    const DragonflyShape shape = parse_dragonfly_shape(options_.parameters, parameters_of());
    require_hosts(hosts_of(shape));
    add_fabric(dragonfly(shape));
  }

 private:
  [[nodiscard]] std::string parameters_of() const {
    return "topo_parameters of a " + options_.topology;
  }

  void require_hosts(std::size_t count) const {
    if (count == hosts_.size()) return;
    if (count > kMostNodes) throw InputError(fmt::format("more than {} nodes", kMostNodes));
    throw InputError(fmt::format("the {} needs {} hosts, but the radical has {}", options_.topology,
                                 count, hosts_.size()));
  }

  void add_fabric(const Fabric& fabric) {
    std::vector<NodeId> nodes = hosts_;
    for (std::size_t kind = 0; kind < fabric.switches.size(); ++kind) {
      const std::string stem = options_.topology == "FAT_TREE"
                                   ? fmt::format("{}_level{}", options_.id, kind + 1)
                                   : options_.id + "_router";
      for (std::size_t i = 0; i < fabric.switches[kind]; ++i) {
        nodes.push_back(network_.add_node(fmt::format("{}_{}", stem, i), true, ""));
      }
    }
    for (const Cable& cable : fabric.cables) {
      add_cable(nodes[cable.one], nodes[cable.other], cable.count, cable.one < hosts_.size());
    }
  }

  // The links of a host, or of two switches.
  void connect(NodeId node, const Netpoint& hub, const Network::LinkPair& pair,
               const std::string& name, bool is_host) {
    std::vector<DirectedLinkId> up{pair.up};
    std::vector<DirectedLinkId> down{pair.down};
    if (is_host && options_.limiter.value > 0) {  // one more link, for all cables and directions
      const auto found = limiters_.find(node);
      const DirectedLinkId limiter =
          found != limiters_.end()
              ? found->second
              : network_.add_directed_link(name + "_limiter", options_.limiter, {});
      limiters_.emplace(node, limiter);
      up.push_back(limiter);
      down.push_back(limiter);
    }
    network_.connect(node, hub.in, std::move(up));
    network_.connect(hub.out, node, std::move(down));
  }

  // `count` parallel cables: their bandwidths add.
  void add_cable(NodeId one, NodeId other, std::size_t count, bool is_host) {
    const BytesPerSecond bandwidth{options_.bandwidth.value * static_cast<double>(count)};
    const std::string name =
        fmt::format("{}_link_{}_{}", options_.id, index_of(one), index_of(other));
    const Network::LinkPair pair =
        network_.add_link_pair(name, bandwidth, options_.latency, options_.sharing);
    connect(one, {.in = other, .out = other}, pair, name, is_host);
  }

  Network& network_;
  const ClusterOptions& options_;
  std::vector<NodeId> hosts_;
  std::map<NodeId, DirectedLinkId> limiters_;  // by host
};

}  // namespace

Netpoint add_switch(Network& network, const std::string& name, std::size_t zone,
                    const std::vector<DirectedLinkId>& backbone) {
  Netpoint hub;
  hub.zone = zone;
  hub.in = network.add_node(name, true, "");
  hub.out = hub.in;
  if (!backbone.empty()) {
    hub.out = network.add_node(name + " (leaving)", true, "");
    network.connect(hub.in, hub.out, backbone);
  }
  network.add_netpoint(name, hub);
  return hub;
}

ClusterOptions cluster_options(const pugi::xml_node& node) {
  ClusterOptions options;
  options.id = required_attribute(node, "id");
  options.prefix = required_attribute(node, "prefix");
  options.suffix = required_attribute(node, "suffix");
  options.radical = parse_radical(required_attribute(node, "radical"));
  options.bandwidth = parse_bandwidth(required_attribute(node, "bw"));
  options.latency = parse_latency(required_attribute(node, "lat"));
  options.sharing = parse_sharing(node.attribute("sharing_policy").as_string("SPLITDUPLEX"));
  const std::string backbone = node.attribute("bb_bw").value();
  options.has_backbone = !backbone.empty();
  if (options.has_backbone) {
    options.backbone_bandwidth = parse_bandwidth(backbone);
    options.backbone_latency = parse_latency(node.attribute("bb_lat").as_string("0"));
    options.backbone_fat =
        node.attribute("bb_sharing_policy").value() == std::string_view("FATPIPE");
  }
  const std::string limiter = node.attribute("limiter_link").value();
  if (!limiter.empty()) options.limiter = parse_bandwidth(limiter);
  options.router = node.attribute("router_id").value();
  if (options.router.empty()) {
    options.router = options.prefix + options.id + "_router" + options.suffix;
  }
  options.topology = node.attribute("topology").as_string("FLAT");
  options.parameters = node.attribute("topo_parameters").value();
  return options;
}

void add_cluster(Network& network, const ClusterOptions& options) {
  constexpr std::array<Choice<void (Cluster::*)()>, 4> kTopologies{
      {{"FLAT", &Cluster::add_flat},
       {"FAT_TREE", &Cluster::add_fat_tree},
       {"TORUS", &Cluster::add_torus},
       {"DRAGONFLY", &Cluster::add_dragonfly}}};
  Cluster cluster(network, options);
  if (options.topology == "TORUS" && options.limiter.value > 0) {
    throw InputError("a TORUS with a limiter_link is not supported");
  }
  (cluster.*choice_named("topology", kTopologies, options.topology).value)();
}

}  // namespace espalier::platforms::simgrid
