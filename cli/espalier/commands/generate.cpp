// espalier generate FAMILY: synthetic platforms from parameters and a seed.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/commands/generate_family.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/number_list.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/platform_output.hpp"
#include "platforms/generators/generators.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kTiersParameters = "NW NM NL SW SM SL RW RM RL RMW RLM";

struct RandomOptions {
  Console console;
  PlatformOutput output;
  platforms::RandomFamily family;
  std::string bandwidth = "100MB/s";
  std::string deviation = "20MB/s";
  std::string heterogeneity;
};

ExitStatus run_random(RandomOptions& options) {
  options.family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rate);
  options.family.deviation = parse_option("--deviation", options.deviation, parse_rate);
  if (!options.heterogeneity.empty()) {
    const double share = parse_option("--heterogeneity", options.heterogeneity, parse_number);
    options.family.deviation = {share * options.family.bandwidth.value};
  }
  const std::uint64_t seed = options.family.seed;
  options.output.write_series(
      "random",
      [&](std::uint64_t draw) {
        options.family.seed = seed + draw;
        return platforms::generate_random(options.family);
      },
      [&](const std::string& file, const platforms::Platform& platform) {
        options.console.detail(fmt::format("{}: {} nodes, {} links", file, platform.nodes().size(),
                                           platform.arcs().size() / 2));
      },
      options.console);
  return ExitStatus::kDone;
}

Command add_random(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<RandomOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  platforms::RandomFamily& family = options->family;
  app.add("--nodes", family.nodes, "Hosts", {.type = "N"});
  app.add("--density", family.density,
          "Share of all pairs that are linked; raised if needed to connect all", {.type = "SHARE"});
  app.add("--bandwidth", options->bandwidth, "Mean bandwidth of a link", {.type = "RATE"});
  app.add("--deviation", options->deviation, "Its standard deviation", {.type = "RATE"});
  app.add("--heterogeneity", options->heterogeneity, "Standard deviation relative to the mean",
          {.type = "SHARE"});
  app.exclude("--heterogeneity", "--deviation");
  app.add("--seed", family.seed, "The same seed gives the same platform everywhere", {.type = "N"});
  options->output.add_series_to(app);
  add_console_options(app, options->console);
  return {app, [options] { return run_random(*options); }};
}

struct TiersOptions {
  Console console;
  PlatformOutput output;
  std::vector<std::string> parameters;
  std::string preset;
  std::string classes;
  std::string wan = "10Mbit/s";
  std::string man = "100Mbit/s";
  std::string lan = "1Gbit/s";
  double deviation = 0;
  std::uint64_t seed = 1;
};

platforms::TiersShape parse_shape(const TiersOptions& options) {
  if (!options.preset.empty()) {
    if (!options.parameters.empty()) {
      throw InputError({}, "--preset", "a preset has its own parameters; leave out the numbers");
    }
    return parse_option("--preset", options.preset, platforms::tiers_preset);
  }
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
  if (options.parameters.size() != slots.size()) {
    throw InputError(
        fmt::format("generate tiers: expected --preset or the {} numbers {}, got {} of them",
                    slots.size(), kTiersParameters, options.parameters.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::string& text = options.parameters[i];
    const char* const last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, *slots[i]);
    if (fault != std::errc{} || end != last) {
      throw InputError(fmt::format("generate tiers: parameter {} must be a whole number, not {}",
                                   i + 1, in_quotes(text)));
    }
  }
  return shape;
}

platforms::TiersFamily parse_family(const TiersOptions& options) {
  platforms::TiersFamily family;
  family.shape = parse_shape(options);
  if (!options.classes.empty()) family.measured = platforms::read_link_classes(options.classes);
  family.wan_bandwidth = parse_option("--wan", options.wan, parse_rate);
  family.man_bandwidth = parse_option("--man", options.man, parse_rate);
  family.lan_bandwidth = parse_option("--lan", options.lan, parse_rate);
  family.spread = options.deviation;
  family.seed = options.seed;
  return family;
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

ExitStatus run_tiers(const TiersOptions& options) {
  platforms::TiersFamily family = parse_family(options);
  options.output.write_series(
      "tiers",
      [&](std::uint64_t draw) {
        family.seed = options.seed + draw;
        return platforms::generate_tiers(family);
      },
      [&](const std::string& file, const platforms::Platform& platform) {
        if (!options.console.verbose) return;
        options.console.detail(fmt::format("{}: {}", file, platform.name()));
        options.console.block(statistics_table(platforms::tiers_statistics(platform)));
      },
      options.console);
  return ExitStatus::kDone;
}

std::string preset_help() {
  std::string help = "Instead of the numbers, one of:";
  for (const platforms::TiersPreset& preset : platforms::tiers_presets()) {
    help += fmt::format("{} {} ({})", help.back() == ':' ? "" : ",", preset.name, preset.summary);
  }
  return help;
}

Command add_tiers(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<TiersOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("parameters", options->parameters,
          "MANs (NM) of the WAN (NW, always 1), LANs of each MAN (NL), nodes of each (S.), minimum "
          "degree of the nodes (R.), uplinks of a MAN (RMW) and of a LAN (RLM)",
          {.type = std::string(kTiersParameters)});
  app.add("--preset", options->preset, preset_help(), {.type = "NAME"});
  app.add("--wan", options->wan, "Mean bandwidth in the WAN and between MAN and WAN",
          {.type = "RATE"});
  app.add("--man", options->man, "Mean bandwidth in MANs and between LAN and MAN",
          {.type = "RATE"});
  app.add("--lan", options->lan, "Mean bandwidth in LANs", {.type = "RATE"});
  app.add("--heterogeneity,--deviation", options->deviation,
          "Standard deviation, relative to the mean; Gaussian", {.type = "SHARE"});
  app.add("--classes", options->classes,
          "Instead draw bandwidths and latencies from this table of measured links, by class",
          {.type = "FILE"});
  app.add("--seed", options->seed, "The same seed gives the same platform everywhere",
          {.type = "N"});
  options->output.add_series_to(app);
  add_console_options(app, options->console);
  return {app, [options] { return run_tiers(*options); }};
}

constexpr std::array<FamilyEntry, 8> kFamilies{{
    {"random", "Connected random graph of a given density, symmetric links of Gaussian bandwidth",
     "Beaumont, Marchal, Robert, Broadcast Trees for Heterogeneous Platforms, IPDPS 2005",
     &add_random},
    {"tiers", "WAN, MANs and LANs by the model of Tiers, bandwidths by class",
     "Doar, A better model for generating test networks, GLOBECOM 1996, "
     "doi:10.1109/GLOCOM.1996.586131",
     &add_tiers},
    {"star", "Hosts around a switch, or workers around a master, with links of different bandwidth",
     "-", &add_star},
    {"two-clusters", "Two clusters and a thin link between them, ranks in order or interleaved",
     "-", &add_two_clusters},
    {"fat-tree", "Switches as a generalised fat tree, with oversubscription",
     "Zahavi, Fat-tree routing and node ordering, JPDC 72(11), 2012, "
     "doi:10.1016/j.jpdc.2012.01.018; Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, "
     "doi:10.1145/1402958.1402967",
     &add_fat_tree},
    {"torus", "Hosts, or routers with one host each, on a grid with wrap-around links", "-",
     &add_torus},
    {"dragonfly", "Groups of linked routers, every two groups linked, with or without chassis",
     "Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008, "
     "doi:10.1109/ISCA.2008.19",
     &add_dragonfly},
    {"multi-region",
     "Cloud regions: hosts behind gateways, links of random bandwidth between regions", "-",
     &add_multi_region},
}};

}  // namespace

std::span<const FamilyEntry> families() {
  return kFamilies;
}

std::vector<Command> add_generate(Arguments root) {
  Arguments app = root.add_command("generate", "Generate a synthetic platform");
  std::vector<Command> commands;
  commands.reserve(kFamilies.size());
  for (const FamilyEntry& family : kFamilies) commands.push_back(family.add(app, family));
  return commands;
}

}  // namespace espalier::cli
