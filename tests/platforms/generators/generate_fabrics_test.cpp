// Fat trees, tori and dragonflies: counts from formulas, values computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/platforms/generators/family_checks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::generate_fabrics_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

TEST(FatTreeFamily, KPortSwitches) {
  for (const std::size_t k : {2U, 4U, 6U, 10U}) {
    FatTreeFamily family;
    family.shape = k_port_fat_tree(k);
    const Platform platform = generate_fat_tree(family);
    // k^3 / 4 links in each of three levels.
    EXPECT_THAT(counts(platform),
                ElementsAre(k * k * k / 4, 5 * k * k / 4, 2 * 3 * (k * k * k / 4), 0))
        << k;
    EXPECT_TRUE(is_connected(platform));
    for (std::size_t i = 0; i < platform.nodes().size(); ++i) {
      const NodeId node{static_cast<std::uint32_t>(i)};
      const auto [first, last] = platform.arcs_out_of(node);
      EXPECT_EQ(last - first, platform.node(node).relay ? k : 1) << platform.node(node).name;
    }
  }
}

// Two leaf switches with two hosts each, two spines, two cables from each leaf to each spine:
//
//     s2-0   s2-1      each leaf with two cables to each spine
//     s1-0   s1-1
//     |  |   |  |      oversubscription 4: 2 x 10 from a leaf's hosts, 5 over its four cables up
//    h0  h1 h2  h3
TEST(FatTreeFamily, OversubscriptionSlowsTheCablesAbove) {
  FatTreeFamily family;
  family.shape = parse_fat_tree_shape("2;2,2;1,2;1,2");
  family.bandwidth = {10};
  const Platform plain = generate_fat_tree(family);
  EXPECT_THAT(counts(plain), ElementsAre(4, 4, 2 * (4 + 4), 0));
  EXPECT_EQ(rate(plain, "h3", "s1-1"), 10);
  EXPECT_EQ(rate(plain, "s1-1", "s2-0"), 20) << "two cables";
  family.oversubscription = {4};
  const Platform thin = generate_fat_tree(family);
  EXPECT_EQ(rate(thin, "s1-1", "h3"), 10);
  EXPECT_EQ(rate(thin, "s1-0", "s2-0"), 2.5);
  EXPECT_EQ(rate(thin, "s2-1", "s1-0"), 2.5);
  EXPECT_EQ(thin.node(NodeId{3}).group, "level1-1");
}

TEST(FatTreeFamily, OversubscriptionsByLevel) {
  FatTreeFamily family;  // 4 ports: 2 nodes below, 2 above, but 4 below the top
  family.bandwidth = {12};
  family.oversubscription = {3};
  const Platform platform = generate_fat_tree(family);
  EXPECT_EQ(rate(platform, "h0", "s1-0"), 12);
  EXPECT_EQ(rate(platform, "s1-0", "s2-0"), 4);
  EXPECT_EQ(rate(platform, "s2-0", "s3-0"), 4) << "the ratio is 1 beyond the list";
  EXPECT_EQ(platform.node(NodeId{5}).group, "level2-1/level1-2");
}

TEST(FatTreeFamily, TheSameFabricAsSimGrids) {
  FatTreeFamily family;
  family.shape = parse_fat_tree_shape("3;2,3,2;1,2,2;1,1,1");
  family.bandwidth = {1e8};
  const Platform ours = generate_fat_tree(family);
  const Platform theirs =
      parse_platform(R"(<platform version="4.1"><cluster id="c" prefix="n" suffix="" bw="100MBps"
lat="1us" radical="0-11" topology="FAT_TREE" topo_parameters="3;2,3,2;1,2,2;1,1,1"/></platform>)",
                     "s.xml")
          .platform;
  ASSERT_EQ(ours.arcs().size(), theirs.arcs().size());
  for (std::size_t i = 0; i < ours.arcs().size(); ++i) {
    EXPECT_EQ(ours.arcs()[i].from, theirs.arcs()[i].from);
    EXPECT_EQ(ours.arcs()[i].to, theirs.arcs()[i].to);
    EXPECT_EQ(ours.arcs()[i].bandwidth, theirs.arcs()[i].bandwidth);
  }
}

TEST(FatTreeFamily, Refusals) {
  EXPECT_EQ(refusal([] { return k_port_fat_tree(5); }),
            "the ports of a switch must be even, 2 to 200000, not 5");
  EXPECT_EQ(refusal([] { return k_port_fat_tree(0); }),
            "the ports of a switch must be even, 2 to 200000, not 0");
  EXPECT_EQ(refusal([] { return parse_fat_tree_shape("2;4,4;1,2"); }),
            "the shape must be levels;down,...;up,...;cables,... with a number for each level, "
            "not '2;4,4;1,2'");
  EXPECT_EQ(refusal([] { return parse_fat_tree_shape("1;1000000000;1;1"); }),
            "the shape must be numbers from 1 to 200000, not '1;1000000000;1;1'");
  EXPECT_EQ(refusal([] { return parse_fat_tree_shape(""); }),
            "the shape must be numbers from 1 to 200000, not ''");
  const auto made = [](const FatTreeShape& shape, std::vector<double> ratios = {}) {
    FatTreeFamily family;
    family.shape = shape;
    family.oversubscription = std::move(ratios);
    return refusal([&] { return generate_fat_tree(family); });
  };
  EXPECT_EQ(made(k_port_fat_tree(200'000)), "more than 200000 nodes");
  EXPECT_EQ(made({{1000, 1000}, {1, 1}, {1, 1}}), "more than 200000 nodes");
  EXPECT_EQ(made({{1000}, {1000}, {1}}), "more than 500000 links");
  EXPECT_EQ(made({{2}, {200'000}, {1}}), "more than 200000 nodes");
  EXPECT_EQ(made({{}, {}, {}}), "nodes below a switch need at least one value, each at least 1");
  EXPECT_EQ(made({{4, 0}, {1, 1}, {1, 1}}),
            "nodes below a switch need at least one value, each at least 1");
  EXPECT_EQ(made({{4, 4}, {1}, {1, 1}}), "a fat tree's shape must have a number for each level");
  EXPECT_EQ(made({{1, 1}, {1, 1}, {1, 1}}), "hosts must be 2 to 200000, not 1");
  EXPECT_EQ(made(k_port_fat_tree(4), {2, 2, 2}),
            "3 oversubscriptions for 2 levels with links above");
  EXPECT_EQ(made(k_port_fat_tree(4), {0}), "an oversubscription must be 1e-06 to 1000000, not 0");
}

// Links of a torus with n hosts, per dimension: n for a size over 2, n / 2 for 2, none for 1.
TEST(TorusFamily, CountsByFormula) {
  const auto links = [](const std::vector<std::size_t>& dimensions) {
    std::size_t hosts = 1;
    for (const std::size_t size : dimensions) hosts *= size;
    std::size_t count = 0;
    for (const std::size_t size : dimensions) {
      if (size > 1) count += size == 2 ? hosts / 2 : hosts;
    }
    return count;
  };
  for (const std::vector<std::size_t>& dimensions :
       {std::vector<std::size_t>{2}, {5}, {3, 3, 2}, {4, 1, 2}, {2, 2, 2, 2}, {7, 5}}) {
    TorusFamily family;
    family.dimensions = dimensions;
    const Platform direct = generate_torus(family);
    const std::size_t hosts = direct.hosts().size();
    EXPECT_THAT(counts(direct), ElementsAre(hosts, 0, 2 * links(dimensions), 0));
    EXPECT_TRUE(is_connected(direct));
    family.injection = BytesPerSecond{5e8};
    const Platform routed = generate_torus(family);
    EXPECT_THAT(counts(routed), ElementsAre(hosts, hosts, 2 * (links(dimensions) + hosts), 0));
    EXPECT_TRUE(is_connected(routed));
    EXPECT_EQ(rate(routed, "h1", "s1"), 5e8);
    EXPECT_EQ(rate(routed, "s1", "s0"), 1.25e9);
  }
}

//    h6--h7--h8      3x3, the first dimension varies fastest; rows and columns wrap around
//    h3--h4--h5
//    h0--h1--h2
TEST(TorusFamily, NeighboursOf3x3) {
  TorusFamily family;
  family.dimensions = {3, 3};
  const Platform platform = generate_torus(family);
  std::vector<std::string> neighbours;
  const auto [first, last] = platform.arcs_out_of(NodeId{0});
  for (std::uint32_t i = first; i < last; ++i) {
    neighbours.push_back(platform.node(platform.arcs()[i].to).name);
  }
  EXPECT_THAT(neighbours, ElementsAre("h1", "h2", "h3", "h6"));
}

TEST(TorusFamily, Refusals) {
  const auto made = [](std::vector<std::size_t> dimensions) {
    TorusFamily family;
    family.dimensions = std::move(dimensions);
    return refusal([&] { return generate_torus(family); });
  };
  EXPECT_EQ(made({}), "a torus's dimensions need at least one value, each at least 1");
  EXPECT_EQ(made({3, 0}), "a torus's dimensions need at least one value, each at least 1");
  EXPECT_EQ(made({1}), "hosts must be 2 to 200000, not 1");
  EXPECT_EQ(made({1'000'000'000}), "more than 200000 nodes");
  EXPECT_EQ(made({100'000, 100'000, 100'000}), "more than 200000 nodes");
  EXPECT_EQ(made({10, 10, 10, 10, 10, 2}), "more than 500000 links");
  TorusFamily family;
  family.bandwidth = {0};
  EXPECT_EQ(refusal([&] { return generate_torus(family); }),
            "a bandwidth must be finite and positive, not 0 B/s");
  family.bandwidth = {1e300};
  EXPECT_EQ(refusal([&] { return generate_torus(family); }),
            "a bandwidth is out of range: 1e+300 B/s");
}

TEST(DragonflyFamily, BalancedCountsByFormula) {
  for (const std::size_t h : {1U, 2U, 3U}) {
    DragonflyFamily family;  // a = 2p = 2h, g = ah + 1 (Kim et al., 3.1)
    family.shape.routers = 2 * h;
    family.shape.hosts = h;
    family.shape.global_ports = h;
    const std::size_t a = 2 * h;
    const std::size_t g = a * h + 1;
    family.shape.groups = g;
    const Platform platform = generate_dragonfly(family);
    EXPECT_THAT(counts(platform),
                ElementsAre(g * a * h, g * a,
                            2 * (g * a * h + g * (a * (a - 1) / 2) + g * (g - 1) / 2), 0));
    EXPECT_TRUE(is_connected(platform));
    // Every router uses all its ports: p hosts, a - 1 routers, h groups.
    for (std::size_t i = g * a * h; i < platform.nodes().size(); ++i) {
      const auto [first, last] = platform.arcs_out_of(NodeId{static_cast<std::uint32_t>(i)});
      EXPECT_EQ(last - first, h + a - 1 + h);
    }
  }
}

TEST(DragonflyFamily, EveryTwoGroupsAreLinkedOnce) {
  for (const std::size_t groups : {2U, 3U, 6U, 8U, 9U}) {
    DragonflyFamily family;
    family.shape.groups = groups;
    const Platform platform = generate_dragonfly(family);
    std::multiset<std::pair<std::size_t, std::size_t>> pairs;
    std::vector<std::size_t> ports(platform.nodes().size(), 0);
    const std::size_t hosts = platform.hosts().size();
    for (const Arc& arc : platform.arcs()) {
      if (index_of(arc.from) < hosts || index_of(arc.to) < hosts) continue;
      const std::size_t from = (index_of(arc.from) - hosts) / 4;
      const std::size_t to = (index_of(arc.to) - hosts) / 4;
      if (from == to) continue;
      ++ports[index_of(arc.from)];
      if (from < to) pairs.insert({from, to});
    }
    EXPECT_EQ(pairs.size(), groups * (groups - 1) / 2);
    EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size());
    EXPECT_LE(*std::ranges::max_element(ports), 2U) << groups << " groups";
  }
}

TEST(DragonflyFamily, SimGridsNotation) {
  DragonflyFamily family;
  family.shape = parse_dragonfly_shape("3,4;4,3;5,1;2");
  family.local_bandwidth = {100};
  family.global_bandwidth = {10};
  const Platform platform = generate_dragonfly(family);
  EXPECT_THAT(counts(platform), ElementsAre(120, 60, 2 * (120 + 120 + 90 + 3), 0));
  EXPECT_EQ(rate(platform, "s1", "s20"), 40) << "4 links between groups 0 and 1";
  EXPECT_EQ(rate(platform, "s0", "s5"), 300) << "3 to the next chassis";
  EXPECT_EQ(rate(platform, "s0", "s4"), 100) << "1 in the chassis";
  EXPECT_EQ(rate(platform, "h0", "s0"), 1.25e9);
  EXPECT_EQ(platform.node(NodeId{119}).group, "group-2/chassis-11/router-59");
  EXPECT_EQ(generate_dragonfly({}).node(NodeId{2}).group, "group-0/router-1");
}

TEST(DragonflyFamily, Refusals) {
  const auto made = [](const DragonflyShape& shape) {
    DragonflyFamily family;
    family.shape = shape;
    return refusal([&] { return generate_dragonfly(family); });
  };
  EXPECT_EQ(made({.groups = 10}),
            "too many groups; a group has 8 global links, and there may be one group more");
  EXPECT_EQ(made({.groups = 5, .routers = 4, .global_ports = 0}),
            "too many groups; a group has 4 routers, and there may be as many groups");
  EXPECT_EQ(made({.groups = 0}),
            "groups, chassis, routers and hosts need at least one value, each at least 1");
  EXPECT_EQ(made({.hosts = 1'000'000'000}), "more than 200000 nodes");
  EXPECT_EQ(made({.groups = 1, .routers = 100'000, .hosts = 1}), "more than 500000 links");
  EXPECT_EQ(made({.group_cables = 0}), "parallel links need at least one value, each at least 1");
  EXPECT_EQ(refusal([] { return parse_dragonfly_shape("3,4;4,3;5,1"); }),
            "the shape must be groups,links;chassis,links;routers,links;nodes, not '3,4;4,3;5,1'");
}

}  // namespace
}  // namespace espalier::platforms::generate_fabrics_test
