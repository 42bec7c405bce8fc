// Fat trees, tori and dragonflies.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "platforms/generators/fabrics.hpp"
#include "platforms/generators/generators.hpp"
#include "platforms/generators/link_drawer.hpp"

namespace espalier::platforms {

namespace {

// Bandwidth and latency of a kind of cable.
struct CableFigures {
  BytesPerSecond bandwidth;  // of one cable
  Seconds latency;
};

// The platform of a fabric. `figures` is by level of cables; group(host) gives the group of a host.
template <typename Group, typename SwitchName>
Platform build(const std::string& title, const Fabric& fabric, const Spread& spread,
               std::span<const CableFigures> figures, const Group& group,
               const SwitchName& switch_name) {
  require_hosts(fabric.hosts);
  for (const CableFigures& figure : figures) {
    require_mean(figure.bandwidth, "a bandwidth");
    require_duration(figure.latency, "a latency");
  }
  PlatformBuilder builder(title);
  LinkDrawer drawer(builder, spread, fabric.hosts);
  for (std::size_t i = 0; i < fabric.hosts; ++i) drawer.add_host(group(i));
  for (std::size_t kind = 0; kind < fabric.switches.size(); ++kind) {
    for (std::size_t i = 0; i < fabric.switches[kind]; ++i) drawer.add_relay(switch_name(kind, i));
  }
  for (const Cable& cable : fabric.cables) {
    const CableFigures& figure = figures[cable.level];
    drawer.link(NodeId{cable.one}, NodeId{cable.other},
                {figure.bandwidth.value * static_cast<double>(cable.count)}, figure.latency);
  }
  return std::move(builder).build();
}

std::string switch_number(std::size_t /*kind*/, std::size_t number) {
  return fmt::format("s{}", number);
}

// The bandwidth of a cable, level by level.
std::vector<CableFigures> figures_of(const FatTreeFamily& family) {
  const FatTreeShape& shape = family.shape;
  const std::size_t levels = shape.down.size();
  if (family.oversubscription.size() >= std::max<std::size_t>(1, levels)) {
    throw InputError(fmt::format("{} oversubscriptions for {} levels with links above",
                                 family.oversubscription.size(), levels == 0 ? 0 : levels - 1));
  }
  std::vector<CableFigures> figures(levels, {family.bandwidth, family.latency});
  if (family.oversubscription.empty()) return figures;
  for (std::size_t level = 1; level < levels; ++level) {
    const bool given = level <= family.oversubscription.size();
    const double ratio = given ? family.oversubscription[level - 1] : 1;
    constexpr double kMostRatio = 1e6;
    if (!(ratio >= 1 / kMostRatio && ratio <= kMostRatio)) {
      throw InputError(fmt::format("an oversubscription must be {} to {}, not {}", 1 / kMostRatio,
                                   kMostRatio, ratio));
    }
    const auto below = static_cast<double>(shape.down[level - 1] * shape.cables[level - 1]);
    const auto above = static_cast<double>(shape.up[level] * shape.cables[level]);
    figures[level].bandwidth.value = figures[level - 1].bandwidth.value * below / (ratio * above);
  }
  return figures;
}

// The subtrees of a host, below the switches of the top level: "level2-0/level1-3".
std::string subtrees_of(const FatTreeShape& shape, std::size_t host) {
  std::string group;
  for (std::size_t level = 0; level + 1 < shape.down.size(); ++level) {
    host /= shape.down[level];
    group = fmt::format("level{}-{}{}{}", level + 1, host, group.empty() ? "" : "/", group);
  }
  return group;
}

std::string group_of(const DragonflyShape& shape, std::size_t host) {
  const std::size_t router = host / shape.hosts;
  const std::size_t chassis = router / shape.routers;
  const std::string group = fmt::format("group-{}", chassis / shape.chassis);
  if (shape.chassis == 1) return fmt::format("{}/router-{}", group, router);
  return fmt::format("{}/chassis-{}/router-{}", group, chassis, router);
}

}  // namespace

FatTreeShape k_port_fat_tree(std::size_t k) {
  if (k < 2 || k % 2 != 0 || k > kMostFabricNodes) {
    throw InputError(
        fmt::format("the ports of a switch must be even, 2 to {}, not {}", kMostFabricNodes, k));
  }
  return {{k / 2, k / 2, k}, {1, k / 2, k / 2}, {1, 1, 1}};
}

FatTreeShape parse_fat_tree_shape(std::string_view text) {
  return parse_fat_tree_shape(text, "the shape");
}

DragonflyShape parse_dragonfly_shape(std::string_view text) {
  return parse_dragonfly_shape(text, "the shape");
}

Platform generate_fat_tree(const FatTreeFamily& family) {
  const FatTreeShape& shape = family.shape;
  const Fabric fabric = fat_tree(shape);
  return build(
      fmt::format("fat tree {};{};{};{}, seed {}", shape.down.size(), fmt::join(shape.down, ","),
                  fmt::join(shape.up, ","), fmt::join(shape.cables, ","), family.spread.seed),
      fabric, family.spread, figures_of(family),
      [&](std::size_t host) { return subtrees_of(shape, host); },
      [](std::size_t level, std::size_t number) {
        return fmt::format("s{}-{}", level + 1, number);
      });
}

Platform generate_torus(const TorusFamily& family) {
  const Fabric fabric = torus(family.dimensions, family.injection.has_value());
  std::vector<CableFigures> figures{{family.bandwidth, family.latency}};
  if (family.injection) figures.insert(figures.begin(), {*family.injection, family.latency});
  return build(
      fmt::format("torus {}, seed {}", fmt::join(family.dimensions, "x"), family.spread.seed),
      fabric, family.spread, figures, [](std::size_t) { return std::string(); }, switch_number);
}

Platform generate_dragonfly(const DragonflyFamily& family) {
  const DragonflyShape& shape = family.shape;
  const Fabric fabric = dragonfly(shape);
  const std::vector<CableFigures> figures{{family.bandwidth, family.latency},
                                          {family.local_bandwidth, family.latency},
                                          {family.local_bandwidth, family.latency},
                                          {family.global_bandwidth, family.global_latency}};
  return build(
      fmt::format("dragonfly {},{};{},{};{},{};{}, seed {}", shape.groups, shape.group_cables,
                  shape.chassis, shape.chassis_cables, shape.routers, shape.router_cables,
                  shape.hosts, family.spread.seed),
      fabric, family.spread, figures, [&](std::size_t host) { return group_of(shape, host); },
      switch_number);
}

}  // namespace espalier::platforms
