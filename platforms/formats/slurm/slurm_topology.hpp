// The content of Slurm's topology.conf or topology.yaml, and the platform built from it. Not
// installed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/formats/readers.hpp"

namespace espalier::platforms {

inline constexpr std::size_t kMostNames = 100'000;    // in a file, with all lists expanded
inline constexpr std::size_t kMostNameBytes = 128;    // Slurm has 64 for switches
inline constexpr std::size_t kMostSwitchLevels = 16;  // a fat tree has three

// Expands Slurm's lists of names, "node[01-04,7],login1", of one file.
class Hostlists {
 public:
  // The names in `list`, in its order. Throws InputError (reason only) on an invalid bracket, on a
  // name over kMostNameBytes, and if all lists of the file have over kMostNames in total.
  std::vector<std::string> expand(std::string_view list);
  // `name` unchanged, for a switch, a block or a ring. Throws like expand().
  std::string single(std::string_view name);

 private:
  std::size_t left_ = kMostNames;
};

struct SlurmSwitch {
  std::string name;
  std::vector<std::string> nodes;     // hosts attached to it
  std::vector<std::string> switches;  // switches below it
  std::string place;                  // for messages
  double link_speed = 0;  // of the links downwards, in a unit of the user's; 0: not given
};

// Hosts on a torus, x varying fastest; a ring has the sizes {n, 1, 1}.
struct SlurmTorus {
  std::string name;
  std::array<std::uint64_t, 3> sizes{};
  std::vector<std::string> nodes;
  std::string place;  // for messages
};

// One of the two lists is empty.
struct SlurmTopology {
  std::vector<SlurmSwitch> switches;
  std::vector<SlurmTorus> toruses;
};

// Adds a switch above `blocks`, unless there is only one block. The files do not describe the
// network between blocks.
void join_blocks(std::vector<SlurmSwitch>& blocks, std::vector<std::string>& notes);

// Hosts, and switches as relays; each link in both directions with the bandwidth of the switch
// above it, if its LinkSpeed has a unit, otherwise of its level. Throws InputError if the number of
// speeds differs from that of the levels that need one, and on cycles, unknown names and duplicate
// names.
Platform slurm_platform(const SlurmTopology& topology, Source& source);

}  // namespace espalier::platforms
