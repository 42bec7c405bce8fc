// What the commands `generate FAMILY` share. A family's options bind to the generator's own struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/platform_output.hpp"
#include "platforms/generators/generators.hpp"

namespace espalier::cli {

// The shape is given by eleven numbers or by the name of a preset.
struct TiersOptions : platforms::TiersFamily {
  std::vector<std::string> parameters{};
  std::optional<std::string> preset{};
  std::string classes{};  // file of measured links; empty: none
};
// Reads the file of classes first.
platforms::Platform generate_tiers(const TiersOptions& family);

// The options that only this family has.
void add_options(Arguments& app, platforms::RandomFamily& family);
void add_options(Arguments& app, TiersOptions& family);
void add_options(Arguments& app, platforms::StarFamily& family);
void add_options(Arguments& app, platforms::LogGPFamily& family);
void add_options(Arguments& app, platforms::TwoClustersFamily& family);
void add_options(Arguments& app, platforms::FatTreeFamily& family);
void add_options(Arguments& app, platforms::TorusFamily& family);
void add_options(Arguments& app, platforms::DragonflyFamily& family);
void add_options(Arguments& app, platforms::MultiRegionFamily& family);

// --heterogeneity, --slow-hosts.
void add_spread(Arguments& app, platforms::Spread& spread);

// What --verbose says of a platform in `file`.
void describe(const platforms::RandomFamily& family, const std::string& file,
              const platforms::Platform& platform, const Console& console);
void describe(const TiersOptions& family, const std::string& file,
              const platforms::Platform& platform, const Console& console);
void describe_network(const std::string& file, const platforms::Platform& platform,
                      const Console& console);
template <class Family>
void describe(const Family& /*family*/, const std::string& file,
              const platforms::Platform& platform, const Console& console) {
  describe_network(file, platform, console);
}

// `generate NAME`: kMake makes a platform of a family.
template <class Family, auto kMake>
struct GenerateCommand {
  std::string_view name{};
  Console console{};
  PlatformOutput output{};
  Family family{};

  [[nodiscard]] std::uint64_t& seed() {
    if constexpr (requires { family.seed; }) {
      return family.seed;
    } else {
      return family.spread.seed;
    }
  }
  void add_to(Arguments& app) {
    add_options(app, family);
    if constexpr (requires { family.spread.slow; }) add_spread(app, family.spread);
    app.add("--seed", seed(), "The same seed gives the same platform everywhere");
    output.add_series_to(app);
    add_console_options(app, console);
  }
  [[nodiscard]] ExitStatus run() {
    const std::uint64_t first = seed();
    output.write_series(
        std::string(name),
        [&](std::uint64_t draw) {
          seed() = first + draw;
          return kMake(family);
        },
        [&](const std::string& file, const platforms::Platform& platform) {
          if (console.verbose) describe(family, file, platform, console);
        },
        console);
    return ExitStatus::kDone;
  }
};

}  // namespace espalier::cli
