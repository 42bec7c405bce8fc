// Families of platforms: those of the literature's experiments, and the shapes that networks have.
//
// All functions give the same platform for the same family on every machine, and throw InputError
// (reason only) for what cannot be made.
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
// node a cell; nodes have positions, with the middle of a MAN's or LAN's grid on the node above
// that it is joined to first, a cell being 40, 8 and 2 units. WAN and MANs: a minimum spanning tree
// of the whole-numbered distances; then each node, in order, whose degree inside is under the
// redundancy is joined to the nearest that are not its neighbours yet. LANs: a star about the first
// node, raised in the same way. A random node of each MAN is joined to a random WAN node w, and for
// k = 1 .. RMW - 1 another one to the k-th nearest to w; the hub of each LAN to a random node m of
// its MAN, and to the k-th nearest to m. Links go both ways, both directions equal; without
// `measured` the latency is Tiers' delay, taken as us. The seed's topology is the same whatever the
// bandwidths, and the same on every machine. Throws InputError for NW other than 1, under 2 or over
// 20,000 nodes, a network of none or of over 10,000, a redundancy outside 1 to 100, a bad bandwidth
// or spread, a class that `measured` lacks.
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

// How links that a family means alike come to differ: the same for all families below.
struct Spread {
  // Deviation of a link's bandwidth relative to its mean, 0 (all alike) to 1000: Gaussian, redrawn
  // under a tenth of the mean, as in RandomFamily and TiersFamily. One draw a link, both
  // directions. Latencies and caps stay as they are.
  double heterogeneity = 0;
  // Hosts of older generations: a share of the hosts, drawn at random and rounded to whole hosts,
  // has its own links (not those between switches) `factor` times slower. Of a link between two
  // such hosts the slower one counts.
  struct SlowHosts {
    double share = 0;   // over 0; all shares together at most 1
    double factor = 1;  // 1 to 1e6
  };
  std::vector<SlowHosts> slow;
  std::uint64_t seed = 1;
};
// "0.25/4": a quarter of the hosts, 4 times slower. Throws InputError (reason only).
Spread::SlowHosts parse_slow_hosts(std::string_view text);

// In the families below hosts are h0, h1, ..., which is their rank order; relays copy nothing and
// need no data; a link is two arcs; a bandwidth is a mean, which `spread` then varies. At most
// 200,000 nodes and 500,000 links.

// Hosts round a switch, "s0".
struct StarFamily {
  std::size_t hosts = 16;
  // Of the links by host; the last one is for all that follow.
  std::vector<BytesPerSecond> bandwidth{{125e6}};
  // Out of the hosts, where it differs; empty: as `bandwidth`, which is then into the hosts.
  std::vector<BytesPerSecond> upload;
  Seconds latency{20e-6};  // of each link
  // h0 in the switch's place: the master of a master-worker platform. Bandwidths are those of h1,
  // h2, ..., upload is from the workers.
  bool master = false;
  Spread spread;
};
Platform generate_star(const StarFamily& family);

// Two clusters and a thin link, groups "cluster-0" and "cluster-1".
struct TwoClustersFamily {
  enum class Form : std::uint8_t {
    kSwitches,    // hosts on switches s0 and s1, the thin link between these
    kGateways,    // no relays: hosts of a cluster all linked, the thin link between its first hosts
    kSharedLink,  // no relays: all hosts linked, a shared link for all links between the clusters
  };
  std::array<std::size_t, 2> hosts{8, 8};
  std::array<BytesPerSecond, 2> bandwidth{{{125e6}, {125e6}}};  // of the links in each cluster
  Seconds latency{20e-6};
  BytesPerSecond thin_bandwidth{12.5e6};
  Seconds thin_latency{5e-3};
  Form form = Form::kSwitches;
  bool half_duplex = false;  // the thin link carries its bandwidth in both directions together
  // Ranks: false: the first cluster's hosts, then the second's; true: in turn, while both have
  // some.
  bool interleaved = false;
  Spread spread;
};
Platform generate_two_clusters(const TwoClustersFamily& family);

// A parallel-ports generalised fat tree, by level from the hosts up: a switch of level l has
// down[l] nodes below, a node under it up[l] switches above, with cables[l] cables to each.
struct FatTreeShape {
  std::vector<std::size_t> down;
  std::vector<std::size_t> up;
  std::vector<std::size_t> cables;
};
// The three levels of k-port switches of Al-Fares, Loukissas, Vahdat, "A scalable, commodity data
// center network architecture", SIGCOMM 2008, doi:10.1145/1402958.1402967: k^3 / 4 hosts,
// 5 k^2 / 4 switches. Throws InputError when k is odd or 0.
FatTreeShape k_port_fat_tree(std::size_t k);
// SimGrid's "levels;down,...;up,...;cables,...": "2;4,4;1,2;1,1".
FatTreeShape parse_fat_tree_shape(std::string_view text);

// Switches "s1-0", "s1-1", ...: level, number. Groups name the subtrees below the top level, the
// greater first: "level2-0/level1-3".
struct FatTreeFamily {
  FatTreeShape shape = k_port_fat_tree(4);
  BytesPerSecond bandwidth{1.25e9};  // of a cable
  // By level of switches: what the links below one carry together, over what those above do.
  // Empty: every cable has `bandwidth`; else only the hosts' have, and those above follow; 1 where
  // the list is shorter than the tree is high.
  std::vector<double> oversubscription;
  Seconds latency{1e-6};  // of each link
  Spread spread;
};
Platform generate_fat_tree(const FatTreeFamily& family);

// A grid that closes on itself; of two hosts in a row there is one link, not two.
struct TorusFamily {
  std::vector<std::size_t> dimensions{4, 4, 4};  // the first one runs fastest in the rank order
  BytesPerSecond bandwidth{1.25e9};              // between neighbours
  Seconds latency{1e-6};
  // Set: each host hangs by a link of this bandwidth on a router of its own ("s0", a relay), which
  // passes on what is not for it. Unset: neighbours are linked host to host.
  std::optional<BytesPerSecond> injection;
  Spread spread;
};
Platform generate_torus(const TorusFamily& family);

// J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology",
// ISCA 2008, doi:10.1109/ISCA.2008.19, and its form with chassis: in a group all routers of a
// chassis are linked, and all equal places of its chassis; every two groups are linked once.
struct DragonflyShape {
  std::size_t groups = 9;
  std::size_t chassis = 1;  // of a group
  std::size_t routers = 4;  // of a chassis
  std::size_t hosts = 2;    // of a router
  // Links to other groups that a router has room for: the k-th link of a group leads to the
  // (k + 1)-th group after it, and they are assigned to its routers in turn. 0: as SimGrid has it,
  // router j of group i leads to router i of group j.
  std::size_t global_ports = 2;
  // Parallel links; their bandwidths add.
  std::size_t group_cables = 1;
  std::size_t chassis_cables = 1;
  std::size_t router_cables = 1;
};
// SimGrid's "groups,links;chassis,links;routers,links;nodes": "3,4;4,3;5,1;2".
DragonflyShape parse_dragonfly_shape(std::string_view text);

// Routers "s0", "s1", ...; groups "group-2/router-9", with chassis "group-2/chassis-5/router-9".
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

// Cloud regions: hosts on a gateway each region ("gw0", a relay), links between all gateways. Each
// direction between two regions is drawn by itself, its logarithm evenly between the two ends,
// whose ratio is at most 1e9.
// Regions lie on a sphere of the earth's size, evenly drawn: the positions of their nodes, in
// degrees; latency is the great circle at 200 km a millisecond. Groups "region-3", with several
// providers "provider-0/region-3".
struct MultiRegionFamily {
  std::size_t regions = 8;           // 2 to 700
  std::size_t hosts = 4;             // in each
  BytesPerSecond bandwidth{1.25e9};  // between host and gateway; `spread` is for these
  Seconds latency{100e-6};
  BytesPerSecond least_wan{12.5e6};
  BytesPerSecond most_wan{1.25e9};
  // What leaves or enters a region together at most, as shared links ("egress of region-3"). Empty:
  // no such cap. Several: one for each provider, to whom the regions belong in turn.
  std::vector<BytesPerSecond> egress;
  std::vector<BytesPerSecond> ingress;
  Spread spread;
};
Platform generate_multi_region(const MultiRegionFamily& family);

}  // namespace espalier::platforms
