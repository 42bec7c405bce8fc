// espalier generate FAMILY: synthetic platforms from parameters and a seed.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/commands/generate_family.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/platform_output.hpp"
#include "platforms/generators/generators.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kTiersParameters = "NW NM NL SW SM SL RW RM RL RMW RLM";

// The shape of eleven numbers in the order of kTiersParameters.
platforms::TiersShape shape_of(const std::vector<std::string>& numbers) {
  platforms::TiersShape shape;
  const std::array<std::uint64_t*, 11> slots{&shape.wans,
                                             &shape.mans,
                                             &shape.lans,
                                             &shape.wan_nodes,
                                             &shape.man_nodes,
                                             &shape.lan_nodes,
                                             &shape.wan_redundancy,
                                             &shape.man_redundancy,
                                             &shape.lan_redundancy,
                                             &shape.man_wan_redundancy,
                                             &shape.lan_man_redundancy};
  if (numbers.size() != slots.size()) {
    throw InputError(
        fmt::format("generate tiers: expected --preset or the {} numbers {}, got {} of them",
                    slots.size(), kTiersParameters, numbers.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    try {
      *slots[i] = parse_count(numbers[i]);
    } catch (const InputError&) {
      throw InputError(fmt::format("generate tiers: parameter {} must be a whole number, not {}",
                                   i + 1, in_quotes(numbers[i])));
    }
  }
  return shape;
}

std::string statistics_table(const platforms::TiersStatistics& statistics) {
  Table table({{"level", Table::Align::kLeft},
               {"networks"},
               {"nodes"},
               {"links"},
               {"redundant"},
               {"least degree"},
               {"mean"},
               {"greatest"}});
  for (const auto& row : statistics.rows) {
    const auto of_nodes = [&](const std::string& text) {
      return row.nodes > 0 ? text : std::string("-");
    };
    table.add_row({std::string(row.name), of_nodes(std::to_string(row.networks)),
                   of_nodes(std::to_string(row.nodes)), std::to_string(row.links),
                   std::to_string(row.redundant), of_nodes(std::to_string(row.least_degree)),
                   of_nodes(fixed(row.mean_degree, 2)),
                   of_nodes(std::to_string(row.greatest_degree))});
  }
  return table.text() + fmt::format("density  {:.4f}\n", statistics.density);
}

std::string preset_help() {
  std::string help = "Instead of the numbers, one of:";
  for (const platforms::TiersPreset& preset : platforms::tiers_presets()) {
    help += fmt::format("{} {} ({})", help.back() == ':' ? "" : ",", preset.name, preset.summary);
  }
  return help;
}

template <class Family, auto kMake>
void add_family(Arguments& generate, const FamilyEntry& entry) {
  generate.add_command<GenerateCommand<Family, kMake>>(entry.name, entry.summary, entry.name);
}

constexpr std::array<FamilyEntry, 9> kFamilies{{
    {"random", "Connected random graph of a given density, symmetric links of Gaussian bandwidth",
     "Beaumont, Marchal, Robert, Broadcast Trees for Heterogeneous Platforms, IPDPS 2005",
     &add_family<platforms::RandomFamily, platforms::generate_random>},
    {"tiers", "WAN, MANs and LANs by the model of Tiers, bandwidths by class",
     "Doar, A better model for generating test networks, GLOBECOM 1996, "
     "doi:10.1109/GLOCOM.1996.586131",
     &add_family<TiersOptions, generate_tiers>},
    {"star", "Hosts around a switch, or workers around a master, with links of different bandwidth",
     "-", &add_family<platforms::StarFamily, platforms::generate_star>},
    {"loggp",
     "Equal hosts by the LogGP model: processors, interfaces and a wire with times of their own",
     "Alexandrov, Ionescu, Schauser, Scheiman, LogGP, JPDC 44 (1997), doi:10.1006/jpdc.1997.1346",
     &add_family<platforms::LogGPFamily, platforms::generate_loggp>},
    {"two-clusters", "Two clusters and a thin link between them, ranks in order or interleaved",
     "-", &add_family<platforms::TwoClustersFamily, platforms::generate_two_clusters>},
    {"fat-tree", "Switches as a generalised fat tree, with oversubscription",
     "Zahavi, Fat-tree routing and node ordering, JPDC 72(11), 2012, "
     "doi:10.1016/j.jpdc.2012.01.018; Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, "
     "doi:10.1145/1402958.1402967",
     &add_family<platforms::FatTreeFamily, platforms::generate_fat_tree>},
    {"torus", "Hosts, or routers with one host each, on a grid with wrap-around links", "-",
     &add_family<platforms::TorusFamily, platforms::generate_torus>},
    {"dragonfly", "Groups of linked routers, every two groups linked, with or without chassis",
     "Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008, "
     "doi:10.1109/ISCA.2008.19",
     &add_family<platforms::DragonflyFamily, platforms::generate_dragonfly>},
    {"multi-region",
     "Cloud regions: hosts behind gateways, links of random bandwidth between regions", "-",
     &add_family<platforms::MultiRegionFamily, platforms::generate_multi_region>},
}};

}  // namespace

std::span<const FamilyEntry> families() {
  return kFamilies;
}

void add_options(Arguments& app, platforms::RandomFamily& family) {
  app.add("--nodes", family.nodes, "Hosts");
  app.add("--density", family.density,
          "Share of all pairs that are linked; raised if needed to connect all", {.type = "SHARE"});
  app.add("--bandwidth", family.bandwidth, "Mean bandwidth of a link");
  app.add("--deviation", family.deviation, "Its standard deviation");
  app.add("--heterogeneity", family.deviation,
          [&bandwidth = family.bandwidth](const std::string& text) {
            return BytesPerSecond{parse_number(text) * bandwidth.value};
          },
          "Standard deviation relative to the mean", {.type = "SHARE", .shown = ""});
  app.exclude("--heterogeneity", "--deviation");
}

void describe(const platforms::RandomFamily& /*family*/, const std::string& file,
              const platforms::Platform& platform, const Console& console) {
  console.detail(fmt::format("{}: {} nodes, {} links", file, platform.nodes().size(),
                             platform.arcs().size() / 2));
}

void add_options(Arguments& app, TiersOptions& family) {
  app.add("parameters", family.parameters,
          "MANs (NM) of the WAN (NW, always 1), LANs of each MAN (NL), nodes of each (S.), minimum "
          "degree of the nodes (R.), uplinks of a MAN (RMW) and of a LAN (RLM)",
          {.type = std::string(kTiersParameters)});
  app.add_text("--preset",
               [&family](const std::string& name) {
                 if (!family.parameters.empty()) {
                   throw InputError("a preset has its own parameters; leave out the numbers");
                 }
                 family.shape = platforms::tiers_preset(name);
                 family.preset = name;
               },
               preset_help(), {.type = "NAME"});
  app.check([&family] {
    if (!family.preset) family.shape = shape_of(family.parameters);
  });
  app.add("--wan", family.wan_bandwidth, "Mean bandwidth in the WAN and between MAN and WAN");
  app.add("--man", family.man_bandwidth, "Mean bandwidth in MANs and between LAN and MAN");
  app.add("--lan", family.lan_bandwidth, "Mean bandwidth in LANs");
  app.add("--heterogeneity,--deviation", family.spread,
          "Standard deviation, relative to the mean; Gaussian", {.type = "SHARE"});
  app.add("--classes", family.classes,
          "Instead draw bandwidths and latencies from this table of measured links, by class",
          {.type = "FILE"});
}

platforms::Platform generate_tiers(const TiersOptions& family) {
  platforms::TiersFamily drawn = family;
  if (!family.classes.empty()) drawn.measured = platforms::read_link_classes(family.classes);
  return platforms::generate_tiers(drawn);
}

void describe(const TiersOptions& /*family*/, const std::string& file,
              const platforms::Platform& platform, const Console& console) {
  console.detail(fmt::format("{}: {}", file, platform.name()));
  console.block(statistics_table(platforms::tiers_statistics(platform)));
}

void add_generate(Arguments root) {
  Arguments app = root.add_group("generate", "Generate a synthetic platform");
  for (const FamilyEntry& family : kFamilies) family.add(app, family);
}

}  // namespace espalier::cli
