#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "platforms/generators/generators.hpp"
#include "platforms/generators/link_drawer.hpp"
#include "platforms/generators/sampler.hpp"
#include "support/choice.hpp"

namespace espalier::platforms {

namespace {

constexpr std::uint64_t kMostNodes = 20'000;
constexpr std::uint64_t kMostRedundancy = 100;
constexpr std::uint64_t kGrid = 100;

constexpr std::array<TiersPreset, 2> kPresets{{
    {"hbt-30", "30 nodes: a WAN of 6, 3 MANs of 4, 6 LANs of 2", {1, 3, 2, 6, 4, 2, 3, 2, 1, 1, 1}},
    {"hbt-65",
     "65 nodes: a WAN of 10, 5 MANs of 5, 10 LANs of 3",
     {1, 5, 2, 10, 5, 3, 4, 3, 2, 2, 2}},
}};

// Tiers' values for the links of one level: bandwidth class, fixed delay, delay per unit of
// distance, units per cell.
struct LevelMetrics {
  std::uint64_t bandwidth_class;
  std::uint64_t fixed_delay;
  std::uint64_t delay_per_unit;
  std::uint64_t units_per_cell;
};
constexpr std::array<LevelMetrics, 3> kInside{
    {{10, 5, 1, 40}, {100, 100, 10, 8}, {1000, 150, 100, 2}}};
// Between levels the distance is taken as one unit.
constexpr LevelMetrics kManToWan{10, 50, 1, 1};
constexpr LevelMetrics kLanToMan{100, 1000, 1, 1};

std::uint64_t nodes_of(const TiersShape& shape) {
  return shape.wan_nodes + shape.mans * (shape.man_nodes + shape.lans * shape.lan_nodes);
}

void require_shape(const TiersShape& shape) {
  const auto require = [](std::string_view name, std::uint64_t value, std::uint64_t least,
                          std::uint64_t most) {
    if (value >= least && value <= most) return;
    throw InputError(fmt::format("{} must be {} to {}, not {}", name, least, most, value));
  };
  require("NW", shape.wans, 1, 1);
  require("NM", shape.mans, 0, kMostNodes);
  require("NL", shape.lans, 0, kMostNodes);
  require("SW", shape.wan_nodes, 1, kGrid * kGrid);
  require("SM", shape.man_nodes, shape.mans > 0 ? 1 : 0, kGrid * kGrid);
  require("SL", shape.lan_nodes, shape.mans * shape.lans > 0 ? 1 : 0, kGrid * kGrid);
  require("RW", shape.wan_redundancy, 1, kMostRedundancy);
  require("RM", shape.man_redundancy, 1, kMostRedundancy);
  require("RL", shape.lan_redundancy, 1, kMostRedundancy);
  require("RMW", shape.man_wan_redundancy, 1, kMostRedundancy);
  require("RLM", shape.lan_man_redundancy, 1, kMostRedundancy);
  require("the number of nodes", nodes_of(shape), 2, kMostNodes);
}

void require_figures(const TiersFamily& family) {
  for (const BytesPerSecond rate :
       {family.wan_bandwidth, family.man_bandwidth, family.lan_bandwidth}) {
    require_mean(rate, "a bandwidth");
  }
  require_deviation(family.spread, "the spread");
  if (family.measured.empty()) return;
  for (const LevelMetrics& level : kInside) {
    const auto found = family.measured.find(level.bandwidth_class);
    if (found == family.measured.end() || found->second.empty()) {
      throw InputError(fmt::format("no measured links of class {}", level.bandwidth_class));
    }
  }
}

struct Cell {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

// The position of a cell, in the units of the links' delays.
Position in_units(const Cell& cell, std::size_t level) {
  const auto units = static_cast<double>(kInside[level].units_per_cell);
  return {units * static_cast<double>(cell.x), units * static_cast<double>(cell.y)};
}

struct TiersLink {
  std::size_t u;
  std::size_t v;
  std::uint64_t bandwidth_class;
  std::uint64_t delay;
};

// One network: nodes [first, first + size).
struct Network {
  std::size_t first;
  std::size_t size;
};

// The links without bandwidths, which are drawn later so that they do not affect the topology.
class Topology {
 public:
  explicit Topology(const TiersFamily& family) : shape_(family.shape), sampler_(family.seed) {
    const Network wan = add_network(0, shape_.wan_nodes, shape_.wan_redundancy);
    std::vector<Network> mans;
    for (std::uint64_t i = 0; i < shape_.mans; ++i) {
      mans.push_back(add_network(1, shape_.man_nodes, shape_.man_redundancy));
    }
    for (const Network& man : mans) join_to_wan(man, wan);
    for (const Network& man : mans) {
      for (std::uint64_t i = 0; i < shape_.lans; ++i) {
        join_to_man(add_network(2, shape_.lan_nodes, shape_.lan_redundancy), man);
      }
    }
  }

  [[nodiscard]] const std::vector<TiersLink>& links() const { return links_; }
  [[nodiscard]] const std::vector<Position>& positions() const { return positions_; }

 private:
  Network add_network(std::size_t level, std::size_t size, std::uint64_t redundancy) {
    const Network network{cells_.size(), size};
    std::vector<bool> taken(kGrid * kGrid);
    while (cells_.size() < network.first + size) {
      const std::size_t at = sampler_.below(kGrid * kGrid);
      if (taken[at]) continue;
      taken[at] = true;
      cells_.push_back(
          {static_cast<std::int64_t>(at / kGrid), static_cast<std::int64_t>(at % kGrid)});
    }
    degrees_.resize(cells_.size());
    for (std::size_t i = network.first; i < cells_.size(); ++i) {
      positions_.push_back(in_units(cells_[i], level));
    }
    if (level == 2) {
      for (std::size_t i = 1; i < size; ++i) add_inside(level, network.first, network.first + i);
    } else {
      add_spanning_tree(level, network);
    }
    if (redundancy > 1) raise_degrees(level, network, redundancy);
    return network;
  }

  // In whole cells, rounded down, as in Tiers.
  [[nodiscard]] std::uint64_t distance(std::size_t u, std::size_t v) const {
    const std::int64_t x = cells_[u].x - cells_[v].x;
    const std::int64_t y = cells_[u].y - cells_[v].y;
    return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x * x + y * y)));
  }

  // Prim's algorithm on all pairs.
  void add_spanning_tree(std::size_t level, const Network& network) {
    constexpr std::uint64_t kIn = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t kUnreached = kIn - 1;
    std::vector<std::uint64_t> nearest(network.size, kUnreached);
    std::vector<std::size_t> parent(network.size);
    std::size_t added = 0;
    for (std::size_t step = 1; step < network.size; ++step) {
      nearest[added] = kIn;
      for (std::size_t i = 0; i < network.size; ++i) {
        const std::uint64_t length = distance(network.first + added, network.first + i);
        if (nearest[i] == kIn || length >= nearest[i]) continue;
        nearest[i] = length;
        parent[i] = added;
      }
      added = static_cast<std::size_t>(std::ranges::min_element(nearest) - nearest.begin());
      add_inside(level, network.first + parent[added], network.first + added);
    }
  }

  void raise_degrees(std::size_t level, const Network& network, std::uint64_t redundancy) {
    for (std::size_t u = network.first; u < network.first + network.size; ++u) {
      if (degrees_[u] >= redundancy) continue;
      for (const std::size_t v : by_distance(network, u)) {
        if (degrees_[u] >= redundancy) break;
        if (!pairs_.contains(key(u, v))) add_inside(level, u, v);
      }
    }
  }

  // The other nodes of the network by distance from `node`, ties in their order.
  [[nodiscard]] std::vector<std::size_t> by_distance(const Network& network,
                                                     std::size_t node) const {
    std::vector<std::size_t> others;
    others.reserve(network.size);
    for (std::size_t v = network.first; v < network.first + network.size; ++v) {
      if (v != node) others.push_back(v);
    }
    std::ranges::stable_sort(others, {}, [&](std::size_t v) { return distance(node, v); });
    return others;
  }

  std::size_t random_node(const Network& network) {
    return network.first + sampler_.below(network.size);
  }

  // Moves the middle of the network's grid to `gateway`.
  void place(const Network& network, std::size_t level, std::size_t gateway) {
    const Position middle = in_units({kGrid / 2, kGrid / 2}, level);
    for (std::size_t i = network.first; i < network.first + network.size; ++i) {
      positions_[i].x += positions_[gateway].x - middle.x;
      positions_[i].y += positions_[gateway].y - middle.y;
    }
  }

  void join_to_wan(const Network& man, const Network& wan) {
    const std::size_t gateway = random_node(wan);
    add_between(random_node(man), gateway, kManToWan);
    place(man, 1, gateway);
    if (shape_.man_wan_redundancy == 1) return;
    std::vector<std::size_t> further = by_distance(wan, gateway);
    further.resize(std::min<std::size_t>(further.size(), shape_.man_wan_redundancy - 1));
    for (const std::size_t node : further) add_between(random_node(man), node, kManToWan);
  }

  void join_to_man(const Network& lan, const Network& man) {
    const std::size_t gateway = random_node(man);
    add_between(lan.first, gateway, kLanToMan);
    place(lan, 2, gateway);
    if (shape_.lan_man_redundancy == 1) return;
    std::vector<std::size_t> further = by_distance(man, gateway);
    further.resize(std::min<std::size_t>(further.size(), shape_.lan_man_redundancy - 1));
    for (const std::size_t node : further) add_between(lan.first, node, kLanToMan);
  }

  void add_inside(std::size_t level, std::size_t u, std::size_t v) {
    const LevelMetrics& metrics = kInside[level];
    pairs_.insert(key(u, v));
    ++degrees_[u];
    ++degrees_[v];
    links_.push_back(
        {u, v, metrics.bandwidth_class,
         metrics.fixed_delay + metrics.delay_per_unit * metrics.units_per_cell * distance(u, v)});
  }

  void add_between(std::size_t u, std::size_t v, const LevelMetrics& metrics) {
    links_.push_back({u, v, metrics.bandwidth_class, metrics.fixed_delay + metrics.delay_per_unit});
  }

  static std::uint64_t key(std::size_t u, std::size_t v) {
    return std::min(u, v) * kMostNodes + std::max(u, v);
  }

  const TiersShape& shape_;
  Sampler sampler_;
  std::vector<Cell> cells_;             // by node, on its network's own grid
  std::vector<Position> positions_;     // by node, of all networks on one plane
  std::vector<std::uint64_t> degrees_;  // by node, inside its network
  std::unordered_set<std::uint64_t> pairs_;
  std::vector<TiersLink> links_;
};

std::string group_of(const TiersShape& shape, std::uint64_t node) {
  if (node < shape.wan_nodes) return "wan-0";
  node -= shape.wan_nodes;
  const std::uint64_t in_mans = shape.mans * shape.man_nodes;
  if (node < in_mans) return fmt::format("man-{}", node / shape.man_nodes);
  const std::uint64_t lan = (node - in_mans) / shape.lan_nodes;
  return fmt::format("man-{}/lan-{}", lan / shape.lans, lan);
}

MeasuredLink draw_figures(const TiersFamily& family, const TiersLink& link, Sampler& sampler) {
  if (!family.measured.empty()) {
    const auto& choices = family.measured.at(link.bandwidth_class);
    return choices[sampler.below(choices.size())];
  }
  BytesPerSecond mean = family.wan_bandwidth;
  if (link.bandwidth_class == kInside[1].bandwidth_class) mean = family.man_bandwidth;
  if (link.bandwidth_class == kInside[2].bandwidth_class) mean = family.lan_bandwidth;
  if (family.spread > 0) mean = sampler.bandwidth(mean, family.spread);
  return {mean, {static_cast<double>(link.delay) * 1e-6}};
}

std::string title(const TiersFamily& family) {
  const TiersShape& s = family.shape;
  return fmt::format("tiers {} {} {} {} {} {} {} {} {} {} {}, seed {}", s.wans, s.mans, s.lans,
                     s.wan_nodes, s.man_nodes, s.lan_nodes, s.wan_redundancy, s.man_redundancy,
                     s.lan_redundancy, s.man_wan_redundancy, s.lan_man_redundancy, family.seed);
}

}  // namespace

Platform generate_tiers(const TiersFamily& family) {
  require_shape(family.shape);
  require_figures(family);
  const Topology topology(family);
  PlatformBuilder builder(title(family));
  for (std::uint64_t i = 0; i < nodes_of(family.shape); ++i) {
    builder.add_node({.name = fmt::format("n{}", i),
                      .group = group_of(family.shape, i),
                      .position = topology.positions()[i]});
  }
  Sampler sampler(family.seed ^ kOtherDraws);
  for (const TiersLink& link : topology.links()) {
    const MeasuredLink figures = draw_figures(family, link, sampler);
    builder.add_both_ways({NodeId{static_cast<std::uint32_t>(link.u)},
                           NodeId{static_cast<std::uint32_t>(link.v)}, figures.bandwidth,
                           figures.latency});
  }
  return std::move(builder).build();
}

std::span<const TiersPreset> tiers_presets() {
  return kPresets;
}

TiersShape tiers_preset(std::string_view name) {
  return choice_named("preset", kPresets, name).shape;
}

}  // namespace espalier::platforms
