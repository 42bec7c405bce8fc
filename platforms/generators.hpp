// Families of random platforms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "platforms/link_classes.hpp"
#include "platforms/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

// The random family of Beaumont, Legrand, Marchal, Robert (HBT, Simulations, 1).
struct RandomFamily {
  std::size_t nodes = 30;
  double density = 0.12;            // links / (n (n - 1) / 2), but never under n - 1 links
  BytesPerSecond bandwidth{100e6};  // mean of the Gaussian
  BytesPerSecond deviation{20e6};
  std::uint64_t seed = 1;
};

// A connected platform of hosts n0, n1, ...: a random spanning tree, then random further pairs up
// to the density; each link both ways, both directions equal. Bandwidths are Gaussian, redrawn
// while under a tenth of the mean, so that no link is near zero. The same family gives the same
// platform on every machine (own sampling, not std::normal_distribution's). Throws InputError for
// fewer than 2 nodes, a density outside (0, 1], a bad bandwidth or deviation.
Platform generate_random(const RandomFamily& family);

// The eleven parameters of Tiers' command line, in its order: how many WANs, MANs per WAN and LANs
// per MAN, how many nodes each has, the degree that nodes are raised to inside each (1: a tree),
// and how many links lead from a MAN to the WAN and from a LAN to its MAN.
struct TiersShape {
  std::uint64_t wans = 1;                // NW: always 1
  std::uint64_t mans = 0;                // NM
  std::uint64_t lans = 0;                // NL
  std::uint64_t wan_nodes = 1;           // SW
  std::uint64_t man_nodes = 0;           // SM
  std::uint64_t lan_nodes = 0;           // SL
  std::uint64_t wan_redundancy = 1;      // RW
  std::uint64_t man_redundancy = 1;      // RM
  std::uint64_t lan_redundancy = 1;      // RL
  std::uint64_t man_wan_redundancy = 1;  // RMW
  std::uint64_t lan_man_redundancy = 1;  // RLM
};

// WAN-MAN-LAN topologies by the model of Tiers: M. Doar, "A better model for generating test
// networks", GLOBECOM 1996, doi:10.1109/GLOCOM.1996.586131.
struct TiersFamily {
  TiersShape shape;
  // Where not empty: each link is drawn from its class (10 in the WAN and between MAN and WAN, 100
  // in MANs and between LAN and MAN, 1000 in LANs), and what follows does not count.
  LinkClasses measured;
  // Mean bandwidth of each class; Tiers' own figures, taken as Mbit/s, unless said.
  BytesPerSecond wan_bandwidth{10e6 / 8};
  BytesPerSecond man_bandwidth{100e6 / 8};
  BytesPerSecond lan_bandwidth{1000e6 / 8};
  double spread = 0;  // deviation relative to the mean, Gaussian as in RandomFamily; 0: all alike
  std::uint64_t seed = 1;
};

// A connected platform of hosts n0, n1, ...: the WAN's, then the MANs', then the LANs'; groups
// "wan-0", "man-2", "man-2/lan-5". Each network lies on a grid of 100 by 100 cells, at most one
// node a cell. WAN and MANs: a minimum spanning tree of the whole-numbered distances; then each
// node, in order, whose degree inside is under the redundancy is joined to the nearest that are not
// its neighbours yet. LANs: a star about the first node, raised in the same way. A random node of
// each MAN is joined to a random WAN node w, and for k = 1 .. RMW - 1 another one to the k-th
// nearest to w; the hub of each LAN to a random node m of its MAN, and to the k-th nearest to m.
// Links go both ways, both directions equal; without `measured` the latency is Tiers' delay, taken
// as us. The seed's topology is the same whatever the bandwidths, and the same on every machine.
// Throws InputError for NW other than 1, under 2 or over 20,000 nodes, a network of none or of over
// 10,000, a redundancy outside 1 to 100, a bad bandwidth or spread, a class that `measured` lacks.
Platform generate_tiers(const TiersFamily& family);

// Shapes like the Tiers platforms of Beaumont, Legrand, Marchal, Robert (HBT, Simulations, 2),
// whose parameters are not known: 30 and 65 nodes, densities from 0.05 to 0.15.
struct TiersPreset {
  std::string_view name;  // "hbt-30", "hbt-65"
  std::string_view summary;
  TiersShape shape;
};
std::span<const TiersPreset> tiers_presets();
// The shape of that name. Throws InputError on an unknown one.
TiersShape tiers_preset(std::string_view name);

// What became of a Tiers platform, generated or read. A link is a pair of nodes with an arc.
struct TiersStatistics {
  struct Row {
    std::string_view name;  // "WAN", "MAN", "LAN"; "MAN-WAN", "LAN-MAN"; "all"
    std::size_t networks = 0;
    std::size_t nodes = 0;
    std::size_t links = 0;
    std::size_t redundant = 0;  // beyond the trees of networks, or one uplink each
    // Neighbours of the row's nodes, of whatever level; 0 in rows without nodes.
    std::size_t least_degree = 0;
    double mean_degree = 0;
    std::size_t greatest_degree = 0;
  };
  std::array<Row, 6> rows;  // in the order above
  double density = 0;       // links / (n (n - 1) / 2)
};
// Throws InputError when a node's group names no network of Tiers.
TiersStatistics tiers_statistics(const Platform& platform);

}  // namespace espalier::platforms
