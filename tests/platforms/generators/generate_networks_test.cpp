// Stars, two clusters, cloud regions, and the common properties of all generated families.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>

#include "platforms/generators/generators.hpp"
#include "tests/platforms/generators/family_checks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::generate_networks_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;
using Form = TwoClustersFamily::Form;

TEST(StarFamily, HostsAroundASwitch) {
  for (const std::size_t hosts : {2U, 7U, 100U}) {
    StarFamily family;
    family.hosts = hosts;
    const Platform platform = generate_star(family);
    EXPECT_THAT(counts(platform), ElementsAre(hosts, 1, 2 * hosts, 0));
    EXPECT_TRUE(is_connected(platform));
    family.master = true;
    const Platform master = generate_star(family);
    EXPECT_THAT(counts(master), ElementsAre(hosts, 0, 2 * (hosts - 1), 0));
    EXPECT_TRUE(is_connected(master));
    EXPECT_EQ(rate(master, "h0", "h1"), 125e6);
  }
}

TEST(StarFamily, TheLastBandwidthIsForAllFurtherHosts) {
  StarFamily family;
  family.hosts = 4;
  family.bandwidth = {{400}};
  family.upload = {{300}, {100}};
  const Platform platform = generate_star(family);
  EXPECT_EQ(rate(platform, "h0", "s0"), 300);
  EXPECT_EQ(rate(platform, "h1", "s0"), 100);
  EXPECT_EQ(rate(platform, "h3", "s0"), 100);
  EXPECT_EQ(rate(platform, "s0", "h3"), 400);
  family.bandwidth = {{1}, {2}, {3}};
  family.upload.clear();
  family.master = true;
  const Platform master = generate_star(family);
  EXPECT_EQ(rate(master, "h0", "h1"), 1) << "of the workers in turn";
  EXPECT_EQ(rate(master, "h3", "h0"), 3);
}

TEST(StarFamily, Refusals) {
  const auto made = [](const std::function<void(StarFamily&)>& change) {
    StarFamily family;
    change(family);
    return refusal([&] { return generate_star(family); });
  };
  EXPECT_EQ(made([](auto& f) { f.hosts = 0; }), "hosts must be 2 to 200000, not 0");
  EXPECT_EQ(made([](auto& f) { f.hosts = 1'000'000'000; }),
            "hosts must be 2 to 200000, not 1000000000");
  EXPECT_EQ(made([](auto& f) { f.bandwidth.clear(); }), "a star needs a bandwidth");
  EXPECT_EQ(made([](auto& f) { f.bandwidth = {{-1}}; }),
            "a bandwidth must be finite and positive, not -1 B/s");
  EXPECT_EQ(made([](auto& f) { f.upload.assign(17, {1}); }), "17 bandwidths for 16 links");
  EXPECT_EQ(made([](auto& f) { f.latency = {-1}; }),
            "the latency must be finite and not negative, not -1 s");
}

TEST(TwoClustersFamily, CountsByForm) {
  for (const std::array<std::size_t, 2> hosts :
       {std::array<std::size_t, 2>{3, 3}, {1, 1}, {5, 2}}) {
    TwoClustersFamily family;
    family.hosts = hosts;
    const std::size_t n = hosts[0] + hosts[1];
    const std::size_t inside = hosts[0] * (hosts[0] - 1) + hosts[1] * (hosts[1] - 1);
    const auto made = [&](Form form) {
      family.form = form;
      const Platform platform = generate_two_clusters(family);
      EXPECT_TRUE(is_connected(platform));
      return counts(platform);
    };
    EXPECT_THAT(made(Form::kSwitches), ElementsAre(n, 2, 2 * (n + 1), 0));
    EXPECT_THAT(made(Form::kGateways), ElementsAre(n, 0, inside + 2, 0));
    EXPECT_THAT(made(Form::kSharedLink), ElementsAre(n, 0, n * (n - 1), 2));
    family.half_duplex = true;
    EXPECT_THAT(made(Form::kSwitches), ElementsAre(n, 2, 2 * (n + 1), 1));
    EXPECT_THAT(made(Form::kGateways), ElementsAre(n, 0, inside + 2, 1));
    EXPECT_THAT(made(Form::kSharedLink), ElementsAre(n, 0, n * (n - 1), 1));
  }
}

TEST(TwoClustersFamily, RanksInOrderOrAlternating) {
  const auto groups = [](bool interleaved) {
    TwoClustersFamily family;
    family.hosts = {4, 2};
    family.interleaved = interleaved;
    std::string text;
    const Platform platform = generate_two_clusters(family);
    for (const Node& node : platform.nodes()) {
      if (!node.relay) text += node.group.back();
    }
    return text;
  };
  EXPECT_EQ(groups(false), "000011");
  EXPECT_EQ(groups(true), "010100");
}

TEST(TwoClustersFamily, Figures) {
  TwoClustersFamily family;
  family.hosts = {2, 2};
  family.bandwidth = {{{100}, {50}}};
  family.thin_bandwidth = {10};
  const Platform switches = generate_two_clusters(family);
  EXPECT_EQ(rate(switches, "h1", "s0"), 100);
  EXPECT_EQ(rate(switches, "s1", "h2"), 50);
  EXPECT_EQ(rate(switches, "s0", "s1"), 10);
  family.form = Form::kGateways;
  const Platform gateways = generate_two_clusters(family);
  EXPECT_EQ(rate(gateways, "h0", "h2"), 10);
  EXPECT_EQ(rate(gateways, "h1", "h2"), 0) << "no link";
  family.form = Form::kSharedLink;
  const Platform shared = generate_two_clusters(family);
  EXPECT_EQ(rate(shared, "h1", "h2"), 10);
  EXPECT_EQ(shared.shared_links()[0].name, "thin link from cluster-0");
  EXPECT_EQ(shared.shared_links()[0].bandwidth.value, 10);
  EXPECT_EQ(shared.shared_links()[0].arcs.size(), 4U);
}

TEST(TwoClustersFamily, Refusals) {
  const auto made = [](const std::function<void(TwoClustersFamily&)>& change) {
    TwoClustersFamily family;
    change(family);
    return refusal([&] { return generate_two_clusters(family); });
  };
  EXPECT_EQ(made([](auto& f) { f.hosts = {0, 5}; }), "hosts must be 1 to 200000, not 0");
  EXPECT_EQ(made([](auto& f) {
              f.hosts = {150'000, 150'000};
            }),
            "hosts must be 2 to 200000, not 300000");
  EXPECT_EQ(made([](auto& f) {
              f.hosts = {1000, 1000};
              f.form = Form::kGateways;
            }),
            "more than 500000 links between all pairs of 2000 nodes");
  EXPECT_EQ(made([](auto& f) { f.thin_bandwidth = {NAN}; }),
            "the thin link's bandwidth must be finite and positive, not nan B/s");
}

TEST(MultiRegionFamily, CountsByFormula) {
  for (const std::size_t regions : {2U, 5U, 12U}) {
    for (const std::size_t hosts : {1U, 3U}) {
      MultiRegionFamily family;
      family.regions = regions;
      family.hosts = hosts;
      const std::size_t arcs = 2 * regions * hosts + regions * (regions - 1);
      const Platform plain = generate_multi_region(family);
      EXPECT_THAT(counts(plain), ElementsAre(regions * hosts, regions, arcs, 0));
      EXPECT_TRUE(is_connected(plain));
      family.egress = {{1e6}};
      EXPECT_THAT(counts(generate_multi_region(family)),
                  ElementsAre(regions * hosts, regions, arcs, regions));
      family.ingress = {{1e6}, {2e6}};
      EXPECT_THAT(counts(generate_multi_region(family)),
                  ElementsAre(regions * hosts, regions, arcs, 2 * regions));
    }
  }
}

TEST(MultiRegionFamily, WideAreaLinksAreDrawnAndLatenciesFollowDistance) {
  MultiRegionFamily family;
  family.regions = 40;
  family.hosts = 1;
  const Platform platform = generate_multi_region(family);
  std::size_t below = 0;
  std::size_t wide = 0;
  double latencies = 0;
  for (const Arc& arc : platform.arcs()) {
    if (!platform.node(arc.from).relay || !platform.node(arc.to).relay) continue;
    ++wide;
    EXPECT_GE(arc.bandwidth, family.least_wan);
    EXPECT_LE(arc.bandwidth, family.most_wan);
    if (arc.bandwidth.value < std::sqrt(12.5e6 * 1.25e9)) ++below;
    const Arc& back = platform.arc(platform.find_arc(arc.to, arc.from).value());
    EXPECT_EQ(back.latency, arc.latency);
    EXPECT_NE(back.bandwidth, arc.bandwidth) << "each direction is drawn separately";
    latencies += arc.latency.value;
  }
  EXPECT_EQ(wide, 40U * 39);
  EXPECT_NEAR(static_cast<double>(below) / 1560, 0.5, 0.05) << "half the logarithms";
  // On average, the distance of two random points of a sphere is a quarter of the circumference.
  EXPECT_NEAR(latencies / 1560, 6371.0088e3 * M_PI / 2 / 200e6, 0.005);
  // No detour is shorter than the great circle, except for the rounding to ns.
  for (const Arc& arc : platform.arcs()) {
    if (index_of(arc.from) < 40 || index_of(arc.to) < 40) continue;
    for (std::uint32_t by = 40; by < 80; ++by) {
      if (NodeId{by} == arc.from || NodeId{by} == arc.to) continue;
      const double first = platform.arc(*platform.find_arc(arc.from, NodeId{by})).latency.value;
      const double second = platform.arc(*platform.find_arc(NodeId{by}, arc.to)).latency.value;
      EXPECT_LE(arc.latency.value, first + second + 3e-9);
    }
  }
}

TEST(MultiRegionFamily, NodesLieInTheirRegion) {
  MultiRegionFamily family;
  family.regions = 5;
  family.hosts = 2;
  const Platform platform = generate_multi_region(family);
  for (std::size_t i = 0; i < 10; ++i) {
    const Position position = platform.nodes()[i].position.value();
    EXPECT_EQ(position, platform.nodes()[10 + i / 2].position);
    EXPECT_LE(std::abs(position.x), 180);
    EXPECT_LE(std::abs(position.y), 90);
  }
  EXPECT_NE(platform.nodes()[10].position, platform.nodes()[11].position);
  // 200 km a millisecond along the great circle.
  const Position one = platform.nodes()[10].position.value();
  const Position other = platform.nodes()[11].position.value();
  constexpr double kDegree = std::numbers::pi / 180;
  const double angle = std::acos(std::sin(one.y * kDegree) * std::sin(other.y * kDegree) +
                                 std::cos(one.y * kDegree) * std::cos(other.y * kDegree) *
                                     std::cos((one.x - other.x) * kDegree));
  const auto arc = platform.find_arc(NodeId{10}, NodeId{11});
  EXPECT_NEAR(platform.arc(arc.value()).latency.value, angle * 6371.0088e3 / 200e6, 1e-6);
}

TEST(MultiRegionFamily, ProvidersInTurn) {
  MultiRegionFamily family;
  family.regions = 5;
  family.hosts = 1;
  family.egress = {{5}, {7}, {16}};
  family.ingress = {{100}};
  const Platform platform = generate_multi_region(family);
  std::map<std::string, double> links;
  for (const SharedLink& link : platform.shared_links()) {
    EXPECT_EQ(link.arcs.size(), 4U);
    links[link.name] = link.bandwidth.value;
  }
  EXPECT_EQ(links.at("egress of region-0"), 5);
  EXPECT_EQ(links.at("egress of region-4"), 7);
  EXPECT_EQ(links.at("ingress of region-4"), 100);
  EXPECT_EQ(platform.node(NodeId{4}).group, "provider-1/region-4");
  for (const SharedLink& link : platform.shared_links()) {
    if (link.name != "egress of region-2") continue;
    for (const ArcId arc : link.arcs) EXPECT_EQ(platform.node(platform.arc(arc).from).name, "gw2");
  }
}

TEST(MultiRegionFamily, Refusals) {
  const auto made = [](const std::function<void(MultiRegionFamily&)>& change) {
    MultiRegionFamily family;
    change(family);
    return refusal([&] { return generate_multi_region(family); });
  };
  EXPECT_EQ(made([](auto& f) { f.regions = 1; }), "regions must be 2 to 700, not 1");
  EXPECT_EQ(made([](auto& f) { f.regions = 1'000'000'000; }),
            "regions must be 2 to 700, not 1000000000");
  EXPECT_EQ(made([](auto& f) { f.hosts = 0; }), "hosts must be 1 to 200000, not 0");
  EXPECT_EQ(made([](auto& f) { f.hosts = 100'000; }), "more than 200000 nodes");
  EXPECT_EQ(made([](auto& f) { std::swap(f.least_wan, f.most_wan); }),
            "bandwidths between regions must ascend, not go from 1250000000 to 12500000 B/s");
  EXPECT_EQ(made([](auto& f) { f.least_wan = {1e-9}; }),
            "bandwidths between regions must lie within a factor of 1000000000");
  EXPECT_EQ(made([](auto& f) {
              f.egress.assign(2, {1});
              f.ingress.assign(3, {1});
            }),
            "2 caps on what leaves regions, but 3 on what enters them");
  EXPECT_EQ(made([](auto& f) { f.egress.assign(9, {1}); }), "caps of 9 providers for 8 regions");
  EXPECT_EQ(made([](auto& f) { f.ingress = {{0}}; }),
            "a bandwidth must be finite and positive, not 0 B/s");
}

}  // namespace
}  // namespace espalier::platforms::generate_networks_test
