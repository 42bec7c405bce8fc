// A platform in figures: how many of what, and how unlike its links are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/statistics.hpp"

namespace espalier::platforms {

// The arcs whose bandwidth in bit/s is in [10^power, 10^(power + 1)).
struct Decade {
  int power = 0;
  std::size_t arcs = 0;
};

// Of pairs of nodes with arcs both ways: the faster arc's bandwidth over the slower one's, 1 or
// more.
struct Asymmetry {
  std::size_t pairs = 0;
  double median = 1;
  double greatest = 1;
  ArcId fastest{};  // of the first pair of the greatest ratio: its faster arc, if greatest > 1
};

struct GroupCount {
  std::string group;  // the whole path, "site/rack"
  std::size_t nodes = 0;
};

// Nodes with a cap on what they send, or receive, and the range of those caps.
struct CapCount {
  std::size_t nodes = 0;
  BytesPerSecond least;
  BytesPerSecond greatest;
};

struct Summary {
  std::size_t hosts = 0;
  std::size_t relays = 0;
  std::size_t arcs = 0;
  std::size_t both_ways = 0;  // pairs of nodes with an arc each way
  std::size_t one_way = 0;    // arcs with none back
  double density = 0;         // arcs over those that all nodes, relays too, could have; 0 below two
  Quartiles bandwidth_Bps;    // over arcs; NaN without any
  std::vector<Decade> decades;  // ascending, from the least arc's to the greatest one's
  Asymmetry asymmetry;
  std::size_t components = 0;         // strongly connected, over all nodes
  std::size_t largest_component = 0;  // nodes in it
  std::vector<GroupCount> groups;     // by name; nodes without a group are in none
  CapCount send_caps;
  CapCount receive_caps;
  Quartiles latency_s;   // over arcs; NaN without any
  Quartiles overhead_s;  // likewise
};

Summary summary_of(const Platform& platform);

}  // namespace espalier::platforms
