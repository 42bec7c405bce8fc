#include "experiments/families.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "platforms/generators/generators.hpp"
#include "support/errors.hpp"

namespace espalier::experiments {

namespace {

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, doi:10.1145/2660193.2660195):
// similar seeds give unrelated platforms.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

// A seed of 32 bits, short enough to copy by hand.
std::uint64_t seed_of(std::uint64_t seed, std::size_t nodes, double density, std::size_t draw) {
  constexpr double kSteps = 1e9;  // rounds densities, so that equal texts give the same seed
  const auto steps = static_cast<std::uint64_t>(std::llround(density * kSteps));
  return mixed(mixed(mixed(mixed(seed) ^ nodes) ^ steps) ^ draw) >> 32U;
}

Grid random_defaults() {
  return {.nodes = {10, 20, 30, 40, 50},
          .densities = {0.04, 0.08, 0.12, 0.16, 0.20},
          .draws = 10,
          .seed = 1};
}

// A case for each draw of a platform of the family.
template <class Family, class Generate>
void add_draws(const Grid& grid, Family family, std::size_t nodes, std::optional<double> density,
               const Generate& generate, std::vector<Case>& cases) {
  if (grid.draws == 0) throw InputError("draws must be at least 1");
  for (std::size_t draw = 1; draw <= grid.draws; ++draw) {
    family.seed = seed_of(grid.seed, nodes, density.value_or(0), draw);
    cases.push_back({.platform = {},
                     .nodes = nodes,
                     .density = density,
                     .draw = draw,
                     .seed = family.seed,
                     .source = {},
                     .make = [family, generate] {
                       return std::make_shared<const platforms::Platform>(generate(family));
                     }});
  }
}

std::vector<Case> random_cases(const Grid& grid) {
  for (const std::size_t nodes : grid.nodes) {
    if (nodes < 2) throw InputError(fmt::format("nodes must be at least 2, not {}", nodes));
  }
  for (const double density : grid.densities) {
    if (!(density > 0 && density <= 1)) {
      throw InputError(fmt::format("a density must be over 0 and at most 1, not {}", density));
    }
  }
  if (grid.nodes.empty() || grid.densities.empty()) {
    throw InputError("give at least one number of nodes and one density");
  }
  std::vector<Case> cases;
  for (const std::size_t nodes : grid.nodes) {
    for (const double density : grid.densities) {
      platforms::RandomFamily family;  // 100 +- 20 MB/s
      family.nodes = nodes;
      family.density = density;
      add_draws(grid, family, nodes, density, platforms::generate_random, cases);
    }
  }
  return cases;
}

Grid tiers_defaults() {
  return {.nodes = {30, 65}, .densities = {}, .draws = 100, .seed = 1};
}

// Tiers' topologies with the bandwidths of the random platforms: HBT does not specify its own.
platforms::TiersFamily tiers_family(std::size_t nodes) {
  platforms::TiersFamily family;
  family.shape = platforms::tiers_preset(fmt::format("hbt-{}", nodes));
  family.wan_bandwidth = family.man_bandwidth = family.lan_bandwidth = BytesPerSecond{100e6};
  family.spread = 0.2;
  return family;
}

std::vector<Case> tiers_cases(const Grid& grid) {
  if (grid.nodes.empty()) throw InputError("give at least one number of nodes");
  std::vector<Case> cases;
  for (const std::size_t nodes : grid.nodes) {
    add_draws(grid, tiers_family(nodes), nodes, {}, platforms::generate_tiers, cases);
  }
  return cases;
}

constexpr std::string_view kHbt =
    "Beaumont, Marchal, Robert, Broadcast Trees for Heterogeneous Platforms, IPDPS 2005";
constexpr std::array kFamilies{
    FamilyEntry{"random", "Random platforms by nodes and density, links of 100 +- 20 MB/s", kHbt,
                random_defaults, random_cases},
    FamilyEntry{"tiers", "Tiers' wide-area topologies of 30 and 65 nodes, links of 100 +- 20 MB/s",
                kHbt, tiers_defaults, tiers_cases}};

}  // namespace

std::span<const FamilyEntry> families() {
  return kFamilies;
}

}  // namespace espalier::experiments
