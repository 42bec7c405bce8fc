// Statistics of a platform: counts, and the heterogeneity of its links.
#pragma once

#include <cstddef>
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

// For pairs of nodes with arcs in both directions: the bandwidth of the faster arc divided by that
// of the slower one (at least 1).
struct Asymmetry {
  std::size_t pairs = 0;
  double median = 1;
  double greatest = 1;
  ArcId fastest{};  // the faster arc of the first pair with the greatest ratio, if greatest > 1
};

struct GroupCount {
  std::string group;  // the whole path, "site/rack"
  std::size_t nodes = 0;
};

// The number of nodes with a send (or receive) cap, and the range of these caps.
struct CapCount {
  std::size_t nodes = 0;
  BytesPerSecond least;
  BytesPerSecond greatest;
};

struct Summary {
  std::size_t hosts = 0;
  std::size_t relays = 0;
  std::size_t arcs = 0;
  std::size_t both_ways = 0;    // pairs of nodes with arcs in both directions
  std::size_t one_way = 0;      // arcs without a reverse arc
  double density = 0;           // arcs / (n (n - 1)) for n nodes, relays included; 0 for n < 2
  Quartiles bandwidth_Bps;      // over arcs; NaN without arcs
  std::vector<Decade> decades;  // ascending, from that of the slowest arc to that of the fastest
  Asymmetry asymmetry;
  std::size_t components = 0;         // strongly connected, over all nodes
  std::size_t largest_component = 0;  // nodes in it
  std::vector<GroupCount> groups;     // by name; without the nodes that have no group
  CapCount send_caps;
  CapCount receive_caps;
  Quartiles latency_s;   // over arcs; NaN without arcs
  Quartiles overhead_s;  // likewise
};

Summary summary_of(const Platform& platform);

}  // namespace espalier::platforms
