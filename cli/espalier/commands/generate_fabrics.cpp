// espalier generate fat-tree, torus, dragonfly.
#include <algorithm>

#include "cli/espalier/commands/generate_family.hpp"

namespace espalier::cli {

namespace {

// "3x3x2".
std::vector<std::size_t> read_dimensions(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view one : split(text, 'x')) sizes.push_back(parse_count(one));
  return sizes;
}

std::size_t read_global_ports(const std::string& text) {
  const std::size_t ports = parse_count(text);
  if (ports == 0) throw InputError("a router needs at least one");
  return ports;
}

// One group per global link of a group, plus one. The factors are limited to avoid overflow; groups
// beyond that are refused later.
std::size_t most_groups(const platforms::DragonflyShape& shape) {
  constexpr std::size_t kMost = 1'000'000;
  return std::min(shape.routers, kMost) * std::min(shape.chassis, kMost) *
             std::min(shape.global_ports, kMost) +
         1;
}

}  // namespace

void add_options(Arguments& app, platforms::FatTreeFamily& family) {
  app.add("--ports", family.shape,
          [](const std::string& text) { return platforms::k_port_fat_tree(parse_count(text)); },
          "Three levels of switches with K ports: K^3 / 4 hosts", {.type = "K", .shown = "4"});
  app.add(
      "--shape", family.shape, platforms::parse_fat_tree_shape,
      "Another shape, as in SimGrid: levels;down,...;up,...;cables,..., from the hosts up, e.g. "
      "2;4,4;1,2;1,1",
      {.type = "SHAPE"});
  app.exclude("--shape", "--ports");
  app.add("--bandwidth", family.bandwidth, "Mean bandwidth of a cable");
  app.add("--oversubscription", family.oversubscription,
          "Bandwidth below a switch over the bandwidth above it, by level; sets the cables above; "
          "levels beyond the list: 1; default: all cables are equal",
          {.type = "RATIO,..."});
  app.add("--latency", family.latency, "Latency of each link");
}

void add_options(Arguments& app, platforms::TorusFamily& family) {
  app.add("--dims", family.dimensions, read_dimensions, "Sizes of the dimensions, e.g. 3x3x2",
          {.type = "NxN...", .shown = "4x4x4"});
  app.add("--bandwidth", family.bandwidth, "Mean bandwidth between neighbours");
  app.add("--latency", family.latency, "Latency of each link");
  app.add("--injection", family.injection,
          "Attach each host by a link of this mean bandwidth to its own router; default: hosts are "
          "linked directly");
}

void add_options(Arguments& app, platforms::DragonflyFamily& family) {
  platforms::DragonflyShape& shape = family.shape;
  shape.groups = 0;
  app.add("--hosts", shape.hosts, "Hosts on each router (p)");
  app.add("--routers", shape.routers, "Routers of a group, or chassis (a)");
  app.add("--chassis", shape.chassis, "Chassis of a group");
  app.add("--global-ports", shape.global_ports, read_global_ports,
          "Links to other groups per router (h)");
  app.add("--groups", shape.groups,
          "Groups, every two of them linked (g); 0: as many as the links allow");
  app.add("--shape", shape, platforms::parse_dragonfly_shape,
          "Instead of all these, as in SimGrid: "
          "groups,links;chassis,links;routers,links;nodes, e.g. 3,4;4,3;5,1;2",
          {.type = "SHAPE"});
  for (const char* const other :
       {"--hosts", "--routers", "--chassis", "--global-ports", "--groups"}) {
    app.exclude("--shape", other);
  }
  app.check([&shape] {
    if (shape.groups == 0) shape.groups = most_groups(shape);
  });
  app.add("--bandwidth", family.bandwidth, "Mean bandwidth of a host's link");
  app.add("--local", family.local_bandwidth, "Mean bandwidth of a link in a group");
  app.add("--global", family.global_bandwidth, "Mean bandwidth of a link between groups");
  app.add("--latency", family.latency, "Latency of each link in a group");
  app.add("--global-latency", family.global_latency, "Latency of a link between groups");
}

}  // namespace espalier::cli
