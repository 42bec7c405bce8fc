// What Slurm's topology files say, whichever of the two they are, and the platform of it. Not
// installed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/formats/formats.hpp"

namespace espalier::platforms {

inline constexpr std::size_t kMostNames = 100'000;    // of a file, lists and all
inline constexpr std::size_t kMostNameBytes = 128;    // Slurm has 64 for switches
inline constexpr std::size_t kMostSwitchLevels = 16;  // a fat tree has three

// Slurm's lists of names, "node[01-04,7],login1", of one file.
class Hostlists {
 public:
  // The names that `list` stands for, in its order. Throws InputError (reason only) on a faulty
  // bracket, on a name of over kMostNameBytes, and when all lists together have over kMostNames.
  std::vector<std::string> expand(std::string_view list);
  // `name` as it stands: of a switch, a block or a ring. Throws as expand does.
  std::string single(std::string_view name);

 private:
  std::size_t left_ = kMostNames;
};

struct SlurmSwitch {
  std::string name;
  std::vector<std::string> nodes;     // hosts on it
  std::vector<std::string> switches;  // those below it
  std::string place;                  // for messages
};

// Hosts on a grid that wraps around, x counting fastest; a ring has the sizes {n, 1, 1}.
struct SlurmTorus {
  std::string name;
  std::array<std::uint64_t, 3> sizes{};
  std::vector<std::string> nodes;
  std::string place;  // for messages
};

// One of the two is empty.
struct SlurmTopology {
  std::vector<SlurmSwitch> switches;
  std::vector<SlurmTorus> toruses;
};

// The switch above `blocks`, which are on their own in the files. A block on its own needs none.
void join_blocks(std::vector<SlurmSwitch>& blocks, std::vector<std::string>& notes);

// The platform called by default_name: hosts, and switches as relays, each link both ways with the
// bandwidth of its level. `format` is the registry's name; `notes` what is to be said besides.
// Throws InputError: speeds that do not fit the levels, cycles, names that are unknown or used
// twice.
ReadResult slurm_platform(const SlurmTopology& topology, std::string_view format,
                          const std::string& file, const ReadOptions& options,
                          std::vector<std::string> notes);

}  // namespace espalier::platforms
