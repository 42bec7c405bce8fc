// espalier generate FAMILY: platforms made up by a rule and a seed.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>

#include "cli/commands/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/platform_output.hpp"
#include "platforms/generators.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr std::array kFamilies{FamilyEntry{
    "random", "Connected random graph of a given density, symmetric links of Gaussian bandwidth",
    "Beaumont, Marchal, Robert, Broadcast Trees for Heterogeneous Platforms, IPDPS 2005"}};

struct RandomOptions {
  Console console;
  PlatformOutput output;
  platforms::RandomFamily family;
  std::string bandwidth = "100MB/s";
  std::string deviation = "20MB/s";
};

ExitStatus run_random(RandomOptions& options) {
  options.family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rate);
  options.family.deviation = parse_option("--deviation", options.deviation, parse_rate);
  const auto format = options.output.format();
  options.output.write(platforms::generate_random(options.family), format);
  return ExitStatus::kDone;
}

Command add_random(CLI::App& generate) {
  auto options = std::make_shared<RandomOptions>();
  CLI::App& app = *generate.add_subcommand("random", std::string(kFamilies[0].summary));
  platforms::RandomFamily& family = options->family;
  app.add_option("--nodes", family.nodes, "Hosts")->type_name("N")->capture_default_str();
  app.add_option("--density", family.density,
                 "Share of all pairs that are linked; raised to connect all")
      ->type_name("SHARE")
      ->capture_default_str();
  app.add_option("--bandwidth", options->bandwidth, "Mean bandwidth of a link")
      ->type_name("RATE")
      ->capture_default_str();
  app.add_option("--deviation", options->deviation, "Its standard deviation")
      ->type_name("RATE")
      ->capture_default_str();
  app.add_option("--seed", family.seed, "The same seed gives the same platform everywhere")
      ->type_name("N")
      ->capture_default_str();
  options->output.add_to(app);
  add_console_options(app, options->console);
  return {&app, [options] { return run_random(*options); }};
}

}  // namespace

std::span<const FamilyEntry> families() {
  return kFamilies;
}

std::vector<Command> add_generate(CLI::App& root) {
  CLI::App& app = *root.add_subcommand("generate", "Make a platform of a family");
  app.require_subcommand(1);
  return {add_random(app)};
}

}  // namespace espalier::cli
