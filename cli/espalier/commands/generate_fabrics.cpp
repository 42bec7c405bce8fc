// espalier generate fat-tree, torus, dragonfly.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/espalier/commands/generate_family.hpp"
#include "cli/espalier/number_list.hpp"
#include "cli/espalier/options.hpp"

namespace espalier::cli {

namespace {

struct FatTreeOptions {
  FamilyOptions common;
  std::uint64_t ports = 4;
  std::string shape;
  std::string oversubscription;
  std::string bandwidth = "10Gbit/s";
  std::string latency = "1us";
};

std::vector<double> parse_ratios(const std::string& text) {
  std::vector<double> ratios;
  for (const std::string& one : split_list(text)) ratios.push_back(parse_number(one));
  return ratios;
}

ExitStatus run_fat_tree(const FatTreeOptions& options) {
  platforms::FatTreeFamily family;
  if (options.shape.empty()) {
    family.shape = parse_option("--ports", std::to_string(options.ports), [&](const auto&) {
      return platforms::k_port_fat_tree(options.ports);
    });
  } else {
    family.shape = parse_option("--shape", options.shape, [](const std::string& text) {
      return platforms::parse_fat_tree_shape(text);
    });
  }
  if (!options.oversubscription.empty()) {
    family.oversubscription =
        parse_option("--oversubscription", options.oversubscription, parse_ratios);
  }
  family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rate);
  family.latency = parse_option("--latency", options.latency, parse_duration);
  options.common.write("fat-tree", [&](const platforms::Spread& spread) {
    family.spread = spread;
    return platforms::generate_fat_tree(family);
  });
  return ExitStatus::kDone;
}

struct TorusOptions {
  FamilyOptions common;
  std::string dimensions = "4x4x4";
  std::string bandwidth = "10Gbit/s";
  std::string latency = "1us";
  std::string injection;
};

// "3x3x2".
std::vector<std::size_t> parse_dimensions(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t mark = std::min(text.find('x', start), text.size());
    sizes.push_back(parse_count(text.substr(start, mark - start)));
    start = mark + 1;
  }
  return sizes;
}

ExitStatus run_torus(const TorusOptions& options) {
  platforms::TorusFamily family;
  family.dimensions = parse_option("--dims", options.dimensions, parse_dimensions);
  family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rate);
  family.latency = parse_option("--latency", options.latency, parse_duration);
  if (!options.injection.empty()) {
    family.injection = parse_option("--injection", options.injection, parse_rate);
  }
  options.common.write("torus", [&](const platforms::Spread& spread) {
    family.spread = spread;
    return platforms::generate_torus(family);
  });
  return ExitStatus::kDone;
}

struct DragonflyOptions {
  FamilyOptions common;
  platforms::DragonflyShape counts;
  std::uint64_t groups = 0;
  std::string shape;
  std::string bandwidth = "10Gbit/s";
  std::string local = "10Gbit/s";
  std::string global = "10Gbit/s";
  std::string latency = "1us";
  std::string global_latency = "1us";
};

platforms::DragonflyShape shape_of(const DragonflyOptions& options) {
  if (!options.shape.empty()) {
    return parse_option("--shape", options.shape, [](const std::string& text) {
      return platforms::parse_dragonfly_shape(text);
    });
  }
  platforms::DragonflyShape shape = options.counts;
  if (shape.global_ports == 0) {
    throw InputError({}, "--global-ports", "a router needs at least one");
  }
  // One group per global link of a group, plus one. The factors are limited to avoid overflow;
  // groups beyond that are refused later.
  constexpr std::size_t kMost = 1'000'000;
  shape.groups = options.groups > 0
                     ? options.groups
                     : std::min(shape.routers, kMost) * std::min(shape.chassis, kMost) *
                               std::min(shape.global_ports, kMost) +
                           1;
  return shape;
}

ExitStatus run_dragonfly(const DragonflyOptions& options) {
  platforms::DragonflyFamily family;
  family.shape = shape_of(options);
  family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rate);
  family.local_bandwidth = parse_option("--local", options.local, parse_rate);
  family.global_bandwidth = parse_option("--global", options.global, parse_rate);
  family.latency = parse_option("--latency", options.latency, parse_duration);
  family.global_latency = parse_option("--global-latency", options.global_latency, parse_duration);
  options.common.write("dragonfly", [&](const platforms::Spread& spread) {
    family.spread = spread;
    return platforms::generate_dragonfly(family);
  });
  return ExitStatus::kDone;
}

}  // namespace

Command add_fat_tree(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<FatTreeOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("--ports", options->ports, "Three levels of switches with K ports: K^3 / 4 hosts",
          {.type = "K"});
  app.add(
      "--shape", options->shape,
      "Another shape, as in SimGrid: levels;down,...;up,...;cables,..., from the hosts up, e.g. "
      "2;4,4;1,2;1,1",
      {.type = "SHAPE"});
  app.exclude("--shape", "--ports");
  app.add("--bandwidth", options->bandwidth, "Mean bandwidth of a cable", {.type = "RATE"});
  app.add("--oversubscription", options->oversubscription,
          "Bandwidth below a switch over the bandwidth above it, by level; sets the cables above; "
          "levels beyond the list: 1; default: all cables are equal",
          {.type = "RATIO,..."});
  app.add("--latency", options->latency, "Latency of each link", {.type = "TIME"});
  options->common.add_to(app);
  return {app, [options] { return run_fat_tree(*options); }};
}

Command add_torus(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<TorusOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("--dims", options->dimensions, "Sizes of the dimensions, e.g. 3x3x2", {.type = "NxN..."});
  app.add("--bandwidth", options->bandwidth, "Mean bandwidth between neighbours", {.type = "RATE"});
  app.add("--latency", options->latency, "Latency of each link", {.type = "TIME"});
  app.add("--injection", options->injection,
          "Attach each host by a link of this mean bandwidth to its own router; default: hosts are "
          "linked directly",
          {.type = "RATE"});
  options->common.add_to(app);
  return {app, [options] { return run_torus(*options); }};
}

Command add_dragonfly(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<DragonflyOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("--hosts", options->counts.hosts, "Hosts on each router (p)", {.type = "N"});
  app.add("--routers", options->counts.routers, "Routers of a group, or chassis (a)",
          {.type = "N"});
  app.add("--chassis", options->counts.chassis, "Chassis of a group", {.type = "N"});
  app.add("--global-ports", options->counts.global_ports, "Links to other groups per router (h)",
          {.type = "N"});
  app.add("--groups", options->groups,
          "Groups, every two of them linked (g); 0: as many as the links allow", {.type = "N"});
  app.add("--shape", options->shape,
          "Instead of all these, as in SimGrid: "
          "groups,links;chassis,links;routers,links;nodes, e.g. 3,4;4,3;5,1;2",
          {.type = "SHAPE"});
  for (const char* const other :
       {"--hosts", "--routers", "--chassis", "--global-ports", "--groups"}) {
    app.exclude("--shape", other);
  }
  app.add("--bandwidth", options->bandwidth, "Mean bandwidth of a host's link", {.type = "RATE"});
  app.add("--local", options->local, "Mean bandwidth of a link in a group", {.type = "RATE"});
  app.add("--global", options->global, "Mean bandwidth of a link between groups", {.type = "RATE"});
  app.add("--latency", options->latency, "Latency of each link in a group", {.type = "TIME"});
  app.add("--global-latency", options->global_latency, "Latency of a link between groups",
          {.type = "TIME"});
  options->common.add_to(app);
  return {app, [options] { return run_dragonfly(*options); }};
}

}  // namespace espalier::cli
