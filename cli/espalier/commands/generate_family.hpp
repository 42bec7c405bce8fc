// What the commands `generate FAMILY` share, and the families defined in other files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/reports/platform_output.hpp"
#include "platforms/generators/generators.hpp"

namespace espalier::cli {

Command add_star(Arguments& generate, const FamilyEntry& entry);
Command add_two_clusters(Arguments& generate, const FamilyEntry& entry);
Command add_fat_tree(Arguments& generate, const FamilyEntry& entry);
Command add_torus(Arguments& generate, const FamilyEntry& entry);
Command add_dragonfly(Arguments& generate, const FamilyEntry& entry);
Command add_multi_region(Arguments& generate, const FamilyEntry& entry);

// --heterogeneity, --slow-hosts, --seed.
class SpreadOptions {
 public:
  void add_to(Arguments& app);
  [[nodiscard]] platforms::Spread read() const;

 private:
  double heterogeneity_ = 0;
  std::vector<std::string> slow_;
  std::uint64_t seed_ = 1;
};

// The options that all families share: spread, output, console.
struct FamilyOptions {
  Console console;
  PlatformOutput output;
  SpreadOptions spread;

  void add_to(Arguments& app);
  // Writes the draws 0, 1, ... of `make`, which gets the spread with the draw's seed. `stem` begins
  // the file names of a series.
  void write(std::string_view stem,
             const std::function<platforms::Platform(const platforms::Spread&)>& make) const;
};

// Splits "10,20,30" at its commas.
std::vector<std::string> split_list(const std::string& text);
// Rates separated by commas, in their order; one whole number. Throw InputError (reason only).
std::vector<BytesPerSecond> parse_rates(const std::string& text);
std::size_t parse_count(const std::string& text);

}  // namespace espalier::cli
