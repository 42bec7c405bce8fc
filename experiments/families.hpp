// The platforms of an experiment. Each family is a grid of parameters, with one case for each point
// and draw. `espalier study` has a command for every entry of families().
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

// One platform and its source. make() is called when the case is run, on any thread, and always
// gives the same platform.
struct Case {
  std::string platform;           // the platform's name, from a file; empty if it is generated
  std::size_t nodes = 0;          // requested hosts; 0: as many as the platform has
  std::optional<double> density;  // requested; unset if the family has no such parameter
  std::size_t draw = 0;           // from 1; 0 if nothing is drawn
  std::uint64_t seed = 0;         // of this platform, for `espalier generate`
  std::string source;             // a host's name; empty: the first host
  std::function<std::shared_ptr<const platforms::Platform>()> make;
};

// The parameters over which a family is drawn.
struct Grid {
  std::vector<std::size_t> nodes;
  std::vector<double> densities;  // empty: the family has no such parameter
  std::size_t draws = 1;          // per combination
  std::uint64_t seed = 1;         // of the whole experiment
};

struct FamilyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // the paper with the experiment
  Grid (*defaults)();       // the paper's parameters
  // Ordered by nodes, density, draw. A case depends only on its own parameters and the experiment's
  // seed, so a larger grid contains the cases of a smaller one. Throws InputError for a grid
  // without platforms (fewer than 2 nodes, a density outside (0, 1], no draws).
  std::vector<Case> (*cases)(const Grid& grid);
};

std::span<const FamilyEntry> families();

}  // namespace espalier::experiments
