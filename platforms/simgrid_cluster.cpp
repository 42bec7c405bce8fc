// The topologies of SimGrid's <cluster>.
#include <fmt/format.h>

#include <array>

#include "platforms/simgrid_network.hpp"
#include "platforms/xml.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms::simgrid {

namespace {

// "2;4,4;1,2;1,2": groups of whole numbers, each 1 to kMostNodes.
std::vector<std::vector<std::size_t>> parse_parameters(const std::string& text) {
  std::vector<std::vector<std::size_t>> groups(1);
  std::size_t number = 0;
  bool digits = false;
  for (const char letter : text + ";") {
    if (letter >= '0' && letter <= '9' && number <= kMostNodes) {
      number = number * 10 + static_cast<std::size_t>(letter - '0');
      digits = true;
      continue;
    }
    if ((letter != ',' && letter != ';') || !digits || number < 1 || number > kMostNodes) {
      throw InputError(fmt::format("topo_parameters must be numbers from 1 to {}, not {}",
                                   kMostNodes, in_quotes(text)));
    }
    groups.back().push_back(number);
    number = 0;
    digits = false;
    if (letter == ';') groups.emplace_back();
  }
  groups.pop_back();
  return groups;
}

// The product, but never much over kMostNodes.
std::size_t product(std::span<const std::size_t> factors) {
  std::size_t result = 1;
  for (const std::size_t factor : factors) {
    result *= factor;
    if (result > kMostNodes) return kMostNodes + 1;
  }
  return result;
}

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
    std::vector<WireId> backbone;
    if (options_.has_backbone) {
      backbone.push_back(network_.add_wire(options_.id + "_backbone", options_.backbone_bandwidth,
                                           options_.backbone_latency, options_.backbone_fat));
    }
    const Netpoint hub = add_switch(network_, options_.router, options_.zone, backbone);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const std::string name = fmt::format("{}_link_{}", options_.id, options_.radical[i]);
      const Network::Ways ways =
          network_.add_ways(name, options_.bandwidth, options_.latency, options_.sharing);
      std::vector<WireId> up{ways.up};
      std::vector<WireId> down{ways.down};
      if (options_.limiter.value > 0) {
        const WireId limiter = network_.add_wire(name + "_limiter", options_.limiter, {});
        up.push_back(limiter);
        down.push_back(limiter);
      }
      network_.connect(hosts_[i], hub.in, std::move(up));
      network_.connect(hub.out, hosts_[i], std::move(down));
    }
  }

  // A parallel-ports generalised fat tree: Zahavi, "Fat-tree routing and node ordering providing
  // contention free traffic for MPI global collectives", JPDC 72(11), 2012,
  // doi:10.1016/j.jpdc.2012.01.018. A node of level l has a digit per level i: under up[i] for
  // i <= l, under down[i] above. Neighbours in levels l and l + 1 agree in all digits but that of
  // l + 1.
  void add_fat_tree() {
    const auto groups = parse_parameters(options_.parameters);
    const std::size_t levels = groups[0][0];
    if (groups.size() != 4 || groups[0].size() != 1 || groups[1].size() != levels ||
        groups[2].size() != levels || groups[3].size() != levels) {
      refuse_parameters("levels;down,...;up,...;cables,... with a number for each level");
    }
    require_hosts(product(groups[1]));
    std::vector<NodeId> lower = hosts_;
    for (std::size_t level = 0; level < levels; ++level) {
      // Digits of the levels below come first: `below` values; then this one's, then those above.
      const std::size_t below = product(std::span(groups[2]).first(level));
      const std::size_t down = groups[1][level];
      const std::size_t up = groups[2][level];
      const std::size_t above = product(std::span(groups[1]).subspan(level + 1));
      const std::array<std::size_t, 3> counts{below, up, above};
      const std::vector<NodeId> upper =
          add_switches(fmt::format("{}_level{}", options_.id, level + 1), product(counts));
      for (std::size_t high = 0; high < above; ++high) {
        for (std::size_t child = 0; child < down; ++child) {
          for (std::size_t parent = 0; parent < up; ++parent) {
            for (std::size_t low = 0; low < below; ++low) {
              cable(lower[low + below * (child + down * high)],
                    upper[low + below * (parent + up * high)], groups[3][level]);
            }
          }
        }
      }
      lower = upper;
    }
  }

  // Hosts on a grid that closes on itself; a dimension of 2 has one link, not two.
  void add_torus() {
    const auto groups = parse_parameters(options_.parameters);
    if (groups.size() != 1) refuse_parameters("the sizes of the dimensions, such as 3,2,2");
    require_hosts(product(groups[0]));
    std::size_t stride = 1;
    for (const std::size_t size : groups[0]) {
      for (std::size_t i = 0; i < hosts_.size() && size > 1; ++i) {
        const std::size_t at = i / stride % size;
        if (size == 2 && at == 1) continue;
        cable(hosts_[i], hosts_[i - at * stride + (at + 1) % size * stride], 1);
      }
      stride *= size;
    }
  }

  // Routers of a chassis, and equal places of a group's chassis, are all linked; router j of group
  // i leads to router i of group j.
  void add_dragonfly() {
    const auto groups = parse_parameters(options_.parameters);
    if (groups.size() != 4 || groups[0].size() != 2 || groups[1].size() != 2 ||
        groups[2].size() != 2 || groups[3].size() != 1) {
      refuse_parameters("groups,links;chassis,links;routers,links;nodes");
    }
    const std::size_t chassis = groups[1][0];
    const std::size_t blades = groups[2][0];
    const std::array<std::size_t, 4> sizes{groups[0][0], chassis, blades, groups[3][0]};
    require_hosts(product(sizes));
    const std::size_t of_group = chassis * blades;
    if (sizes[0] > of_group) refuse_parameters("at most as many groups as a group has routers");
    const std::vector<NodeId> routers =
        add_switches(options_.id + "_router", product(std::span(sizes).first(3)));
    for (std::size_t i = 0; i < hosts_.size(); ++i) cable(hosts_[i], routers[i / sizes[3]], 1);
    for (std::size_t i = 0; i < routers.size(); ++i) {
      const std::size_t place = i % blades;
      for (std::size_t j = place + 1; j < blades; ++j) {
        cable(routers[i], routers[i - place + j], groups[2][1]);
      }
      for (std::size_t c = i % of_group / blades + 1; c < chassis; ++c) {
        cable(routers[i], routers[i / of_group * of_group + c * blades + place], groups[1][1]);
      }
    }
    for (std::size_t i = 0; i < sizes[0]; ++i) {
      for (std::size_t j = i + 1; j < sizes[0]; ++j) {
        cable(routers[i * of_group + j], routers[j * of_group + i], groups[0][1]);
      }
    }
  }

 private:
  [[noreturn]] void refuse_parameters(std::string_view expected) const {
    throw InputError(fmt::format("topo_parameters of a {} are {}, not {}", options_.topology,
                                 expected, in_quotes(options_.parameters)));
  }

  void require_hosts(std::size_t count) const {
    if (count == hosts_.size()) return;
    if (count > kMostNodes) throw InputError(fmt::format("more than {} nodes", kMostNodes));
    throw InputError(fmt::format("the {} is for {} hosts, the radical has {}", options_.topology,
                                 count, hosts_.size()));
  }

  std::vector<NodeId> add_switches(const std::string& stem, std::size_t count) {
    std::vector<NodeId> switches;
    for (std::size_t i = 0; i < count; ++i) {
      switches.push_back(network_.add_node(fmt::format("{}_{}", stem, i), true, ""));
    }
    return switches;
  }

  // `count` parallel cables: their bandwidths add.
  void cable(NodeId one, NodeId other, std::size_t count) {
    const BytesPerSecond bandwidth{options_.bandwidth.value * static_cast<double>(count)};
    const Network::Ways ways =
        network_.add_ways(fmt::format("{}_link_{}_{}", options_.id, index_of(one), index_of(other)),
                          bandwidth, options_.latency, options_.sharing);
    network_.connect(one, other, {ways.up});
    network_.connect(other, one, {ways.down});
  }

  Network& network_;
  const ClusterOptions& options_;
  std::vector<NodeId> hosts_;
};

}  // namespace

Netpoint add_switch(Network& network, const std::string& name, std::size_t zone,
                    const std::vector<WireId>& backbone) {
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
  Cluster cluster(network, options);
  constexpr std::array<std::string_view, 4> kTopologies{"FLAT", "FAT_TREE", "TORUS", "DRAGONFLY"};
  if (options.topology == kTopologies[0]) return cluster.add_flat();
  if (options.has_backbone || options.limiter.value > 0) {
    throw InputError(
        fmt::format("a {} with a backbone or limiter_link is not read", options.topology));
  }
  if (options.topology == kTopologies[1]) return cluster.add_fat_tree();
  if (options.topology == kTopologies[2]) return cluster.add_torus();
  if (options.topology == kTopologies[3]) return cluster.add_dragonfly();
  throw InputError(unknown_name("topology", options.topology, kTopologies));
}

}  // namespace espalier::platforms::simgrid
