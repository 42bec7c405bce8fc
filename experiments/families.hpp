// The platforms of an experiment: each family is a grid of parameters, and makes one case per point
// of it and draw. `espalier study` has a command for every entry of families().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::experiments {

// One platform and the host that it is seen from. The platform is made when its turn comes, on any
// thread, and is the same each time.
struct Case {
  std::string platform;           // a file's platform; empty where the figures below tell it
  std::size_t nodes = 0;          // hosts, as asked for; 0: whatever the platform has
  std::optional<double> density;  // as asked for; unset where the family has no such parameter
  std::size_t draw = 0;           // from 1; 0 where nothing is drawn
  std::uint64_t seed = 0;         // the platform's own, for `espalier generate`
  std::string source;             // a host's name; empty: the first
  std::function<std::shared_ptr<const platforms::Platform>()> make;
};

// What a family is drawn over.
struct Grid {
  std::vector<std::size_t> nodes;
  std::vector<double> densities;  // empty: the family has no such parameter
  std::size_t draws = 1;          // per combination
  std::uint64_t seed = 1;         // of the whole experiment
};

struct FamilyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // the paper whose experiment it is
  Grid (*defaults)();       // that paper's figures
  // Ordered by nodes, density, draw. A case depends on its own parameters and the experiment's seed
  // alone: a larger grid holds the cases of a smaller one. Throws InputError for a grid that has no
  // platforms (fewer than 2 nodes, a density outside (0, 1], no draws).
  std::vector<Case> (*cases)(const Grid& grid);
};

std::span<const FamilyEntry> families();

}  // namespace espalier::experiments
