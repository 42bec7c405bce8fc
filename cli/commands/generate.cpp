// espalier generate FAMILY: platforms made up by a rule and a seed.
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

Command add_random(Arguments& generate) {
  auto options = std::make_shared<RandomOptions>();
  Arguments app = generate.add_command("random", std::string(kFamilies[0].summary));
  platforms::RandomFamily& family = options->family;
  app.add("--nodes", family.nodes, "Hosts", {.type = "N"});
  app.add("--density", family.density, "Share of all pairs that are linked; raised to connect all",
          {.type = "SHARE"});
  app.add("--bandwidth", options->bandwidth, "Mean bandwidth of a link", {.type = "RATE"});
  app.add("--deviation", options->deviation, "Its standard deviation", {.type = "RATE"});
  app.add("--seed", family.seed, "The same seed gives the same platform everywhere", {.type = "N"});
  options->output.add_to(app);
  add_console_options(app, options->console);
  return {app, [options] { return run_random(*options); }};
}

}  // namespace

std::span<const FamilyEntry> families() {
  return kFamilies;
}

std::vector<Command> add_generate(Arguments root) {
  Arguments app = root.add_command("generate", "Make a platform of a family");
  return {add_random(app)};
}

}  // namespace espalier::cli
