#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::generate_tiers_test {
namespace {

using namespace espalier::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/tiers/";

TiersFamily family_of(const TiersShape& shape, std::uint64_t seed = 1) {
  TiersFamily family;
  family.shape = shape;
  family.seed = seed;
  return family;
}

// A single WAN. With redundancy 100 all distances between its nodes are known, and equal seeds have
// equal cells.
Platform wan(std::uint64_t nodes, std::uint64_t redundancy, std::uint64_t seed) {
  return generate_tiers(family_of({1, 0, 0, nodes, 0, 0, redundancy, 1, 1, 1, 1}, seed));
}

// Cells between the ends of a WAN link, from its delay: 5 us plus 40 us per cell.
std::int64_t cells(const Arc& arc) {
  const double length = (arc.latency.value * 1e6 - 5) / 40;
  EXPECT_NEAR(length, std::round(length), 1e-6);
  return std::llround(length);
}

// Weight of a minimum spanning tree by Kruskal's algorithm.
std::int64_t least_tree(const Platform& complete) {
  std::vector<Arc> arcs(complete.arcs().begin(), complete.arcs().end());
  std::ranges::stable_sort(arcs, {}, cells);
  std::vector<std::size_t> root(complete.nodes().size());
  std::iota(root.begin(), root.end(), 0U);
  std::int64_t weight = 0;
  for (const Arc& arc : arcs) {
    const std::size_t from = root[index_of(arc.from)];
    const std::size_t to = root[index_of(arc.to)];
    if (from == to) continue;
    std::ranges::replace(root, from, to);
    weight += cells(arc);
  }
  return weight;
}

TEST(TiersFamily, AWanIsAMinimumSpanningTreeOfItsCells) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::uint64_t n = 2 + seed;
    const Platform complete = wan(n, 100, seed);
    ASSERT_EQ(complete.arcs().size(), n * (n - 1));
    const Platform tree = wan(n, 1, seed);
    ASSERT_EQ(tree.arcs().size(), 2 * (n - 1));
    std::int64_t weight = 0;
    for (const Arc& arc : tree.arcs()) {
      if (arc.from < arc.to) weight += cells(arc);
      const auto same = complete.find_arc(arc.from, arc.to);
      EXPECT_EQ(complete.arc(*same).latency, arc.latency);
    }
    EXPECT_EQ(weight, least_tree(complete));
  }
}

// The delay of a link inside a network is that of the distance of its nodes; the grid of a MAN or
// LAN is centred on the node to which it is linked.
TEST(TiersFamily, PositionsMatchTheDelays) {
  const Platform platform = generate_tiers(family_of({1, 3, 2, 6, 4, 3, 2, 2, 1, 1, 1}));
  const auto at = [&](NodeId node) { return platform.node(node).position.value(); };
  for (const Arc& arc : platform.arcs()) {
    const std::string& from = platform.node(arc.from).group;
    const std::string& to = platform.node(arc.to).group;
    const double apart = std::hypot(at(arc.from).x - at(arc.to).x, at(arc.from).y - at(arc.to).y);
    if (from == "wan-0" && to == from) {
      EXPECT_EQ(static_cast<std::int64_t>(apart / 40), cells(arc));
    } else if (from == "wan-0") {
      EXPECT_LE(apart, 50 * 8 * std::sqrt(2)) << to;
    } else if (to.starts_with(from) && to != from) {
      EXPECT_LE(apart, 50 * 2 * std::sqrt(2)) << to;
    }
  }
}

TEST(TiersFamily, RedundancyLinksNodesToTheirNearestNonNeighbours) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Platform complete = wan(20, 100, seed);
    const Platform tree = wan(20, 1, seed);
    const Platform raised = wan(20, 3, seed);
    for (std::uint32_t u = 0; u < 20; ++u) {
      const auto [first, last] = raised.arcs_out_of(NodeId{u});
      EXPECT_GE(last - first, 3U) << "node " << u;
    }
    // Every additional link leads to the nearest non-neighbour of one of its ends.
    for (const Arc& arc : raised.arcs()) {
      if (arc.to < arc.from || tree.find_arc(arc.from, arc.to)) continue;
      const auto nearer = [&](NodeId node) {
        std::size_t count = 0;
        const auto [first, last] = complete.arcs_out_of(node);
        for (std::uint32_t e = first; e < last; ++e) {
          const Arc& other = complete.arcs()[e];
          if (cells(other) < cells(arc) && !raised.find_arc(node, other.to)) ++count;
        }
        return count;
      };
      EXPECT_TRUE(nearer(arc.from) == 0 || nearer(arc.to) == 0);
    }
  }
}

TEST(TiersFamily, LanStarsAreLinkedToOneNodeOfTheirMan) {
  // n0: WAN; n1 to n3: MAN 0; n4 to n6: MAN 1; then LANs 0, 1 of MAN 0 and 2, 3 of MAN 1, of 4.
  const Platform platform = generate_tiers(family_of({1, 2, 2, 1, 3, 4, 1, 1, 1, 1, 1}));
  ASSERT_EQ(platform.nodes().size(), 23U);
  EXPECT_EQ(platform.arcs().size(), 2U * 22);
  EXPECT_EQ(platform.nodes()[0].group, "wan-0");
  EXPECT_EQ(platform.nodes()[4].group, "man-1");
  EXPECT_EQ(platform.nodes()[22].group, "man-1/lan-3");
  for (std::uint32_t lan = 0; lan < 4; ++lan) {
    const std::uint32_t hub = 7 + 4 * lan;
    const auto [first, last] = platform.arcs_out_of(NodeId{hub});
    ASSERT_EQ(last - first, 4U) << "one uplink, three leaves";
    const std::size_t up = index_of(platform.arcs()[first].to);
    EXPECT_EQ((up - 1) / 3, lan / 2) << "a node of its own MAN";
    EXPECT_DOUBLE_EQ(platform.arcs()[first].latency.value, 1001e-6);
    EXPECT_EQ(platform.arcs()[first].bandwidth.value, 100e6 / 8);
    EXPECT_EQ(platform.arcs()[first + 1].bandwidth.value, 1e9 / 8);
    for (std::uint32_t leaf = hub + 1; leaf < hub + 4; ++leaf) {
      const auto [begin, end] = platform.arcs_out_of(NodeId{leaf});
      EXPECT_EQ(end - begin, 1U);
    }
  }
}

TEST(TiersFamily, UplinksAreLimitedByTheNumberOfNodes) {
  const TiersStatistics some =
      tiers_statistics(generate_tiers(family_of({1, 4, 3, 6, 5, 2, 1, 1, 1, 3, 2})));
  EXPECT_EQ(some.rows[3].links, 4U * 3);
  EXPECT_EQ(some.rows[4].links, 12U * 2);
  const TiersStatistics all =
      tiers_statistics(generate_tiers(family_of({1, 4, 3, 6, 5, 2, 1, 1, 1, 100, 100})));
  EXPECT_EQ(all.rows[3].links, 4U * 6);
  EXPECT_EQ(all.rows[4].links, 12U * 5);
}

TEST(TiersFamily, TheReadmesShapes) {
  // Of Tiers' own README: 30 nodes; 20 + 3 * 10; 10 + 10 * (10 + 5 * 5); 10 + 8 * (20 + 3 * 3).
  EXPECT_EQ(generate_tiers(family_of({1, 0, 0, 30, 0, 0, 3, 1, 1, 1, 1})).nodes().size(), 30U);
  EXPECT_EQ(generate_tiers(family_of({1, 3, 0, 20, 10, 0, 3, 2, 1, 1, 1})).nodes().size(), 50U);
  EXPECT_EQ(generate_tiers(family_of({1, 10, 5, 10, 10, 5, 2, 1, 1, 2, 1})).nodes().size(), 360U);
  EXPECT_EQ(generate_tiers(family_of({1, 8, 3, 10, 20, 3, 3, 2, 1, 1, 1})).nodes().size(), 242U);
}

TEST(TiersFamily, ThePresetsKeepTheirCountAndDensity) {
  for (const TiersPreset& preset : tiers_presets()) {
    const std::size_t n = preset.name == "hbt-30" ? 30 : 65;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const Platform platform = generate_tiers(family_of(tiers_preset(preset.name), seed));
      EXPECT_EQ(platform.nodes().size(), n);
      const double density = tiers_statistics(platform).density;
      EXPECT_GE(density, 0.05) << preset.name << ", seed " << seed;
      EXPECT_LE(density, 0.15) << preset.name << ", seed " << seed;
    }
  }
  EXPECT_EQ(refusal([] { return tiers_preset("hbt30"); }),
            "unknown preset 'hbt30'; did you mean 'hbt-30'? one of: hbt-30, hbt-65");
}

TEST(TiersFamily, TheSeedDecidesAndBandwidthsDoNotAffectTheTopology) {
  TiersFamily family = family_of(tiers_preset("hbt-30"), 7);
  const Platform first = generate_tiers(family);
  testing::expect_same(generate_tiers(family), first);
  family.spread = 0.2;
  const Platform spread = generate_tiers(family);
  family.measured = read_link_classes(kData + "enslyon_measured_links.csv");
  const Platform measured = generate_tiers(family);
  for (const Platform* const other : {&spread, &measured}) {
    ASSERT_EQ(other->arcs().size(), first.arcs().size());
    for (std::size_t i = 0; i < first.arcs().size(); ++i) {
      EXPECT_EQ(other->arcs()[i].from, first.arcs()[i].from);
      EXPECT_EQ(other->arcs()[i].to, first.arcs()[i].to);
      const Arc& arc = other->arcs()[i];
      EXPECT_EQ(other->arc(*other->find_arc(arc.to, arc.from)).bandwidth, arc.bandwidth);
    }
  }
  family.seed = 8;
  EXPECT_NE(write_platform(generate_tiers(family), "json"), write_platform(measured, "json"));
}

TEST(TiersFamily, DrawsFromTheClassOfEachLink) {
  TiersFamily family = family_of({1, 2, 2, 3, 3, 3, 1, 1, 1, 1, 1});
  family.measured = {{10, {{{1}, {0.1}}}}, {100, {{{2}, {0.2}}}}, {1000, {{{3}, {0.3}}}}};
  const Platform platform = generate_tiers(family);
  family.measured.clear();
  const Platform plain = generate_tiers(family);
  for (std::size_t i = 0; i < plain.arcs().size(); ++i) {
    const double drawn = std::log10(plain.arcs()[i].bandwidth.value * 8 / 1e6);
    EXPECT_NEAR(platform.arcs()[i].bandwidth.value, drawn, 1e-12);
    EXPECT_NEAR(platform.arcs()[i].latency.value, drawn / 10, 1e-12);
  }
}

TEST(TiersFamily, SpreadIsRelativeToTheMean) {
  TiersFamily family = family_of({1, 0, 0, 60, 0, 0, 100, 1, 1, 1, 1});
  family.wan_bandwidth = {1000};
  family.spread = 0.2;
  const Platform platform = generate_tiers(family);
  double sum = 0;
  double squares = 0;
  for (const Arc& arc : platform.arcs()) {
    EXPECT_GE(arc.bandwidth.value, 100);
    sum += arc.bandwidth.value;
    squares += arc.bandwidth.value * arc.bandwidth.value;
  }
  const auto n = static_cast<double>(platform.arcs().size());
  EXPECT_NEAR(sum / n, 1000, 20);
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * (sum / n)), 200, 15);
}

TEST(TiersFamily, Refusals) {
  const auto reason = [](const TiersShape& shape) {
    return refusal([&] { return generate_tiers(family_of(shape)); });
  };
  EXPECT_EQ(reason({2, 0, 0, 30, 0, 0, 1, 1, 1, 1, 1}), "NW must be 1 to 1, not 2");
  EXPECT_EQ(reason({1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1}),
            "the number of nodes must be 2 to 20000, not 1");
  EXPECT_EQ(reason({1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}), "SW must be 1 to 10000, not 0");
  EXPECT_EQ(reason({1, 1, 0, 5, 0, 0, 1, 1, 1, 1, 1}), "SM must be 1 to 10000, not 0");
  EXPECT_EQ(reason({1, 1, 1, 5, 1, 0, 1, 1, 1, 1, 1}), "SL must be 1 to 10000, not 0");
  EXPECT_EQ(reason({1, 20000, 20000, 1, 1, 10000, 1, 1, 1, 1, 1}),
            "the number of nodes must be 2 to 20000, not 4000000020001");
  EXPECT_EQ(reason({1, 0, 0, 30, 0, 0, 0, 1, 1, 1, 1}), "RW must be 1 to 100, not 0");
  EXPECT_EQ(reason({1, 0, 0, 30, 0, 0, 1, 1, 1, 1, 101}), "RLM must be 1 to 100, not 101");
  TiersFamily family = family_of({1, 0, 0, 30, 0, 0, 1, 1, 1, 1, 1});
  family.spread = -1;
  EXPECT_EQ(refusal([&] { return generate_tiers(family); }),
            "the spread must be 0 to 1000, not -1");
  family.spread = 0;
  family.lan_bandwidth = {0};
  EXPECT_EQ(refusal([&] { return generate_tiers(family); }),
            "a bandwidth must be finite and positive, not 0 B/s");
  family.lan_bandwidth = {1e300};
  EXPECT_EQ(refusal([&] { return generate_tiers(family); }),
            "a bandwidth is out of range: 1e+300 B/s");
  family.lan_bandwidth = {1};
  family.measured = {{10, {{{1}, {0}}}}};
  EXPECT_EQ(refusal([&] { return generate_tiers(family); }), "no measured links of class 100");
}

// Counted by hand in the real files (tiers_test.cpp); all networks are trees.
TEST(TiersStatistics, OfTheRealFiles) {
  const auto links = [](const TiersStatistics& statistics) {
    std::vector<std::size_t> counts;
    for (const auto& row : statistics.rows) counts.push_back(row.links);
    return counts;
  };
  using ::testing::ElementsAre;
  const TiersStatistics small = tiers_statistics(read_platform(kData + "small.tiers").platform);
  EXPECT_THAT(links(small), ElementsAre(2, 4, 12, 2, 6, 26));
  EXPECT_EQ(small.rows[1].networks, 2U);
  EXPECT_EQ(small.rows[2].nodes, 18U);
  EXPECT_EQ(small.rows[5].redundant, 0U);
  EXPECT_EQ(small.rows[0].greatest_degree, 3U) << "node 2: one WAN link, two MANs";
  EXPECT_DOUBLE_EQ(small.rows[5].mean_degree, 52.0 / 27);
  EXPECT_DOUBLE_EQ(small.density, 26.0 / (27 * 26 / 2));
  const TiersStatistics medium = tiers_statistics(read_platform(kData + "medium.tiers").platform);
  EXPECT_THAT(links(medium), ElementsAre(4, 8, 24, 2, 6, 44));
  EXPECT_EQ(medium.rows[5].least_degree, 1U);
}

// With the parameters of the real outputs, the model has the same counts.
TEST(TiersStatistics, AGeneratedPlatformHasTheCountsOfTheRealOnes) {
  const auto compare = [](const std::string& file, const TiersShape& shape) {
    const TiersStatistics real = tiers_statistics(read_platform(kData + file).platform);
    const TiersStatistics ours = tiers_statistics(generate_tiers(family_of(shape)));
    for (std::size_t i = 0; i < real.rows.size(); ++i) {
      EXPECT_EQ(ours.rows[i].networks, real.rows[i].networks) << real.rows[i].name;
      EXPECT_EQ(ours.rows[i].nodes, real.rows[i].nodes) << real.rows[i].name;
      EXPECT_EQ(ours.rows[i].links, real.rows[i].links) << real.rows[i].name;
    }
  };
  compare("small.tiers", {1, 2, 3, 3, 3, 3, 1, 1, 1, 1, 1});
  compare("medium.tiers", {1, 2, 3, 5, 5, 5, 1, 1, 1, 1, 1});
}

TEST(TiersStatistics, RefusesOtherPlatforms) {
  PlatformBuilder builder("x");
  builder.node_named("a");
  const Platform platform = std::move(builder).build();
  EXPECT_EQ(refusal([&] { return tiers_statistics(platform); }),
            "node 'a' is in no network of Tiers: its group is ''");
}

}  // namespace
}  // namespace espalier::platforms::generate_tiers_test
