// Families of generated platforms; docs/formats.md, "Generated families", describes them. The same
// family gives the same platform on every machine. All functions throw InputError (reason only) for
// invalid families.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "platforms/formats/text/link_classes.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

// The random family of Beaumont, Legrand, Marchal, Robert (HBT, Simulations, 1).
struct RandomFamily {
  std::size_t nodes = 30;
  double density = 0.12;            // links / (n (n - 1) / 2), with at least n - 1 links
  BytesPerSecond bandwidth{100e6};  // mean of the Gaussian
  BytesPerSecond deviation{20e6};
  std::uint64_t seed = 1;
};

// Hosts n0, n1, ...: a random spanning tree, then further random pairs up to the density.
Platform generate_random(const RandomFamily& family);

// The eleven parameters of Tiers' command line, in its order.
struct TiersShape {
  std::uint64_t wans = 1;                // NW: always 1
  std::uint64_t mans = 0;                // NM: per WAN
  std::uint64_t lans = 0;                // NL: per MAN
  std::uint64_t wan_nodes = 1;           // SW
  std::uint64_t man_nodes = 0;           // SM
  std::uint64_t lan_nodes = 0;           // SL
  std::uint64_t wan_redundancy = 1;      // RW: minimum degree of nodes inside; 1: a tree
  std::uint64_t man_redundancy = 1;      // RM
  std::uint64_t lan_redundancy = 1;      // RL
  std::uint64_t man_wan_redundancy = 1;  // RMW: links from a MAN to the WAN
  std::uint64_t lan_man_redundancy = 1;  // RLM: links from a LAN to its MAN
};

// M. Doar, "A better model for generating test networks", GLOBECOM 1996,
// doi:10.1109/GLOCOM.1996.586131.
struct TiersFamily {
  TiersShape shape;
  // If not empty, each link is drawn from its class, and the bandwidths and the spread are ignored.
  LinkClasses measured;
  // Mean bandwidth of each class; the defaults are Tiers' own values, taken as Mbit/s.
  BytesPerSecond wan_bandwidth{10e6 / 8};
  BytesPerSecond man_bandwidth{100e6 / 8};
  BytesPerSecond lan_bandwidth{1000e6 / 8};
  double spread = 0;  // deviation relative to the mean, Gaussian as in RandomFamily; 0: all equal
  std::uint64_t seed = 1;
};

// Hosts n0, n1, ...: first those of the WAN, then of the MANs, then of the LANs. The topology
// depends on the shape and the seed only. Throws also for a class that `measured` lacks.
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

// Statistics of a Tiers platform, generated or read. A link is a pair of nodes with an arc.
struct TiersStatistics {
  struct Row {
    std::string_view name;  // "WAN", "MAN", "LAN"; "MAN-WAN", "LAN-MAN"; "all"
    std::size_t networks = 0;
    std::size_t nodes = 0;
    std::size_t links = 0;
    std::size_t redundant = 0;  // links beyond the trees of networks, or beyond one uplink each
    // Numbers of neighbours of the row's nodes, in all levels; 0 in rows without nodes.
    std::size_t least_degree = 0;
    double mean_degree = 0;
    std::size_t greatest_degree = 0;
  };
  std::array<Row, 6> rows;  // in the order above
  double density = 0;       // links / (n (n - 1) / 2)
};
// Throws InputError if a node's group is not the name of a network of Tiers.
TiersStatistics tiers_statistics(const Platform& platform);

// Random variation of links with equal mean bandwidth; used by all families below.
struct Spread {
  // Deviation of a link's bandwidth relative to its mean, 0 (all equal) to 1000: Gaussian, redrawn
  // if below a tenth of the mean.
  double heterogeneity = 0;
  // A share of the hosts, drawn at random, has its own links `factor` times slower.
  struct SlowHosts {
    double share = 0;   // over 0; the sum of all shares is at most 1
    double factor = 1;  // 1 to 1e6
  };
  std::vector<SlowHosts> slow;
  std::uint64_t seed = 1;
};
// "0.25/4": a quarter of the hosts, 4 times slower. Throws InputError (reason only).
Spread::SlowHosts parse_slow_hosts(std::string_view text);

// In the families below a bandwidth is a mean, which `spread` varies.

struct StarFamily {
  std::size_t hosts = 16;
  // By host; the last one is for all further hosts.
  std::vector<BytesPerSecond> bandwidth{{125e6}};
  // From the hosts to the switch, if different; `bandwidth` is then for the opposite direction.
  // Empty: equal to `bandwidth`.
  std::vector<BytesPerSecond> upload;
  Seconds latency{20e-6};  // of each link
  // h0 in place of the switch; bandwidths are those of h1, h2, ...; upload is from the workers.
  bool master = false;
  Spread spread;
};
Platform generate_star(const StarFamily& family);

// Hosts by the LogGP model: under one-port-unidirectional a segment of s bytes occupies the
// sender's and the receiver's processor for o, their interfaces for g + (s - 1) G, and arrives
// after L + 2 o + (s - 1) G. The defaults are those of CM's cluster Boba.
struct LogGPFamily {
  std::size_t hosts = 16;
  Seconds latency{30.40e-6};   // L
  Seconds overhead{8.15e-6};   // o, at most g
  Seconds gap{8.683e-6};       // g, at most L + 2 o
  Seconds per_byte{0.015e-6};  // G; its inverse is the mean bandwidth that `spread` varies
  Spread spread;
};
Platform generate_loggp(const LogGPFamily& family);

struct TwoClustersFamily {
  enum class Form : std::uint8_t {
    kSwitches,    // the thin link is between the switches of the clusters
    kGateways,    // between the first hosts of fully connected clusters
    kSharedLink,  // a shared link for all links between fully connected clusters
  };
  std::array<std::size_t, 2> hosts{8, 8};
  std::array<BytesPerSecond, 2> bandwidth{{{125e6}, {125e6}}};  // of the links in each cluster
  Seconds latency{20e-6};
  BytesPerSecond thin_bandwidth{12.5e6};
  Seconds thin_latency{5e-3};
  Form form = Form::kSwitches;
  bool half_duplex = false;  // both directions of the thin link share its bandwidth
  bool interleaved = false;  // ranks alternate between the clusters as long as both have hosts
  Spread spread;
};
Platform generate_two_clusters(const TwoClustersFamily& family);

// A parallel-ports generalised fat tree, by level from the hosts up: a switch of level l has
// down[l] nodes below it; each of these has up[l] switches above it, with cables[l] cables to each.
struct FatTreeShape {
  std::vector<std::size_t> down;
  std::vector<std::size_t> up;
  std::vector<std::size_t> cables;
};
// The three levels of k-port switches of Al-Fares, Loukissas, Vahdat, "A scalable, commodity data
// center network architecture", SIGCOMM 2008, doi:10.1145/1402958.1402967: k^3 / 4 hosts,
// 5 k^2 / 4 switches. Throws InputError if k is odd or 0.
FatTreeShape k_port_fat_tree(std::size_t k);
// SimGrid's "levels;down,...;up,...;cables,...": "2;4,4;1,2;1,1".
FatTreeShape parse_fat_tree_shape(std::string_view text);

struct FatTreeFamily {
  FatTreeShape shape = k_port_fat_tree(4);
  BytesPerSecond bandwidth{1.25e9};  // of a cable
  // By level of switches: the total bandwidth below divided by that above, 1 for levels beyond the
  // list; empty: every cable has `bandwidth`.
  std::vector<double> oversubscription;
  Seconds latency{1e-6};  // of each link
  Spread spread;
};
Platform generate_fat_tree(const FatTreeFamily& family);

struct TorusFamily {
  std::vector<std::size_t> dimensions{4, 4, 4};  // the first varies fastest in the rank order
  BytesPerSecond bandwidth{1.25e9};              // between neighbours
  Seconds latency{1e-6};
  // Of each host's link to its own router, a relay; unset: neighbouring hosts are linked directly.
  std::optional<BytesPerSecond> injection;
  Spread spread;
};
Platform generate_torus(const TorusFamily& family);

// J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology",
// ISCA 2008, doi:10.1109/ISCA.2008.19, and its variant with chassis.
struct DragonflyShape {
  std::size_t groups = 9;
  std::size_t chassis = 1;  // of a group
  std::size_t routers = 4;  // of a chassis
  std::size_t hosts = 2;    // of a router
  // Maximum number of links of a router to other groups. 0: as in SimGrid, router j of group i is
  // linked to router i of group j.
  std::size_t global_ports = 2;
  // Parallel links; their bandwidths add.
  std::size_t group_cables = 1;
  std::size_t chassis_cables = 1;
  std::size_t router_cables = 1;
};
// SimGrid's "groups,links;chassis,links;routers,links;nodes": "3,4;4,3;5,1;2".
DragonflyShape parse_dragonfly_shape(std::string_view text);

struct DragonflyFamily {
  DragonflyShape shape;
  BytesPerSecond bandwidth{1.25e9};         // of a host's link
  BytesPerSecond local_bandwidth{1.25e9};   // of a link in a group
  BytesPerSecond global_bandwidth{1.25e9};  // of a link between groups
  Seconds latency{1e-6};
  Seconds global_latency{1e-6};
  Spread spread;
};
Platform generate_dragonfly(const DragonflyFamily& family);

// The gateways of the regions are relays "gw0", "gw1", ...
struct MultiRegionFamily {
  std::size_t regions = 8;           // 2 to 700
  std::size_t hosts = 4;             // in each
  BytesPerSecond bandwidth{1.25e9};  // between host and gateway; varied by `spread`
  Seconds latency{100e-6};
  BytesPerSecond least_wan{12.5e6};  // each direction between two regions is drawn separately
  BytesPerSecond most_wan{1.25e9};
  // Cap on all traffic that leaves or enters a region, as a shared link. Empty: no cap. Several:
  // one for each provider; the regions belong to the providers in turn.
  std::vector<BytesPerSecond> egress;
  std::vector<BytesPerSecond> ingress;
  Spread spread;
};
Platform generate_multi_region(const MultiRegionFamily& family);

}  // namespace espalier::platforms
