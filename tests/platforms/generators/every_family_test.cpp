// The common properties of all generated families.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/platforms/generators/family_checks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::every_family_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;
using Form = TwoClustersFamily::Form;

// Every family with a Spread, of moderate size, for the tests below.
struct AnyFamily {
  std::string name;
  std::function<Platform(const Spread&)> make;
};

template <typename Family>
AnyFamily any(std::string name, Platform (*generate)(const Family&), Family family = {}) {
  return {std::move(name), [=](const Spread& spread) {
            Family drawn = family;
            drawn.spread = spread;
            return generate(drawn);
          }};
}

std::vector<AnyFamily> all_families() {
  MultiRegionFamily regions;
  regions.least_wan = regions.most_wan;
  TwoClustersFamily shared;
  shared.form = Form::kSharedLink;
  TwoClustersFamily gateways;
  gateways.form = Form::kGateways;
  TorusFamily routed;
  routed.injection = BytesPerSecond{1.25e9};
  return {any("star", &generate_star),
          any("two clusters", &generate_two_clusters),
          any("two clusters, gateways", &generate_two_clusters, gateways),
          any("two clusters, shared link", &generate_two_clusters, shared),
          any("fat tree", &generate_fat_tree),
          any("torus", &generate_torus),
          any("torus, routers", &generate_torus, routed),
          any("dragonfly", &generate_dragonfly),
          any("multi-region", &generate_multi_region, regions)};
}

TEST(Families, TheSeedDecidesAndJsonRoundTrips) {
  Spread spread;
  spread.heterogeneity = 0.3;
  spread.slow = {{0.25, 4}};
  for (const AnyFamily& family : all_families()) {
    SCOPED_TRACE(family.name);
    spread.seed = 7;
    const Platform first = family.make(spread);
    testing::expect_same(family.make(spread), first);
    const std::string text = write_platform(first, "json");
    testing::expect_same(parse_platform(text, "p.json").platform, first);
    spread.seed = 8;
    const Platform other = family.make(spread);
    ASSERT_EQ(other.arcs().size(), first.arcs().size());
    std::size_t alike = 0;
    for (std::size_t i = 0; i < first.arcs().size(); ++i) {
      EXPECT_EQ(other.arcs()[i].from, first.arcs()[i].from);
      EXPECT_EQ(other.arcs()[i].to, first.arcs()[i].to);
      if (other.arcs()[i].bandwidth == first.arcs()[i].bandwidth) ++alike;
    }
    EXPECT_LT(alike, first.arcs().size());
  }
}

// Without heterogeneity every seed gives the same values. With it, only bandwidths vary, and those
// of links with the same mean have the requested deviation.
TEST(Families, HeterogeneityIsTheDeviationRelativeToTheMean) {
  for (const AnyFamily& family : all_families()) {
    SCOPED_TRACE(family.name);
    Spread spread;
    const Platform plain = family.make(spread);
    spread.seed = 99;
    const Platform same = family.make(spread);
    std::vector<double> factors;
    std::vector<Platform> drawn;
    spread.heterogeneity = 0.2;
    for (spread.seed = 1; spread.seed <= 60; ++spread.seed) drawn.push_back(family.make(spread));
    for (std::size_t i = 0; i < plain.arcs().size(); ++i) {
      const Arc& arc = plain.arcs()[i];
      EXPECT_EQ(same.arcs()[i].bandwidth, arc.bandwidth);
      for (std::size_t k = 0; k < drawn.size(); ++k) {
        const Arc& other = drawn[k].arcs()[i];
        if (family.name != "multi-region") {
          EXPECT_EQ(other.latency, arc.latency);
        }
        const Arc& back = drawn[k].arc(*drawn[k].find_arc(other.to, other.from));
        EXPECT_EQ(back.bandwidth, other.bandwidth);
        if (other.bandwidth != arc.bandwidth) {
          factors.push_back(other.bandwidth.value / arc.bandwidth.value);
        }
      }
    }
    ASSERT_GT(factors.size(), 1000U);
    double sum = 0;
    double squares = 0;
    for (const double factor : factors) {
      sum += factor;
      squares += factor * factor;
      EXPECT_GE(factor, 0.1);
    }
    const auto n = static_cast<double>(factors.size());
    EXPECT_NEAR(sum / n, 1, 0.03);
    EXPECT_NEAR(std::sqrt(squares / n - sum / n * (sum / n)), 0.2, 0.02);
  }
}

TEST(Families, SlowHostsHaveTheRequestedShare) {
  StarFamily family;
  family.hosts = 20;
  family.bandwidth = {{1000}};
  family.spread.slow = {{0.3, 2}, {0.1, 10}};
  std::string orders;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    family.spread.seed = seed;
    const Platform platform = generate_star(family);
    std::map<double, std::size_t> rates;
    for (const NodeId host : platform.hosts()) {
      const double up = rate(platform, platform.node(host).name, "s0");
      EXPECT_EQ(rate(platform, "s0", platform.node(host).name), up);
      ++rates[up];
      orders += up == 1000 ? '.' : '#';
    }
    EXPECT_EQ(rates, (std::map<double, std::size_t>{{100, 2}, {500, 6}, {1000, 12}}));
  }
  EXPECT_NE(orders.substr(0, 20), orders.substr(20, 20)) << "the hosts are drawn";
}

TEST(Families, ALinkIsAsSlowAsItsSlowerHost) {
  TorusFamily family;
  family.dimensions = {12};
  family.bandwidth = {1000};
  family.spread.slow = {{0.5, 4}};
  const Platform platform = generate_torus(family);
  const auto slow = [&](std::uint32_t host) {  // both its links are slow
    const auto [first, last] = platform.arcs_out_of(NodeId{host});
    return platform.arcs()[first].bandwidth.value == 250 &&
           platform.arcs()[last - 1].bandwidth.value == 250;
  };
  std::size_t count = 0;
  for (std::uint32_t host = 0; host < 12; ++host) count += slow(host) ? 1 : 0;
  EXPECT_GE(count, 6U);
  for (const Arc& arc : platform.arcs()) {
    const bool either =
        slow(static_cast<std::uint32_t>(arc.from)) || slow(static_cast<std::uint32_t>(arc.to));
    EXPECT_EQ(arc.bandwidth.value, either ? 250 : 1000);
  }
}

TEST(Families, SlowHostsDoNotAffectThinLinks) {
  TwoClustersFamily family;
  family.form = Form::kGateways;
  family.spread.slow = {{1, 2}};
  const Platform platform = generate_two_clusters(family);
  EXPECT_EQ(rate(platform, "h0", "h1"), 62.5e6);
  EXPECT_EQ(rate(platform, "h0", "h8"), 12.5e6);
}

TEST(Families, SpreadRefusals) {
  for (const AnyFamily& family : all_families()) {
    SCOPED_TRACE(family.name);
    const auto made = [&](const Spread& spread) {
      return refusal([&] { return family.make(spread); });
    };
    EXPECT_EQ(made({.heterogeneity = -0.1, .slow = {}}),
              "the heterogeneity must be 0 to 1000, not -0.1");
    EXPECT_EQ(made({.heterogeneity = NAN, .slow = {}}),
              "the heterogeneity must be 0 to 1000, not nan");
    EXPECT_EQ(made({.slow = {{0.5, 0.5}}}),
              "slow hosts must be 1 to 1000000 times slower, not 0.5");
    EXPECT_EQ(made({.slow = {{0.6, 2}, {0.5, 4}}}),
              "the shares of slow hosts must sum to at most 1, not 1.1");
  }
  EXPECT_EQ(refusal([] { return parse_slow_hosts("0.25"); }),
            "'0.25': expected SHARE/FACTOR, such as 0.25/4 for a quarter of the hosts, 4 times "
            "slower");
  EXPECT_EQ(refusal([] { return parse_slow_hosts("1.5/4"); }),
            "a share of slow hosts must be over 0 and at most 1, not 1.5");
  EXPECT_THAT(refusal([] { return parse_slow_hosts("0.5/inf"); }),
              HasSubstr("times slower, not inf"));
  EXPECT_EQ(parse_slow_hosts("0.25/4").factor, 4);
}

}  // namespace
}  // namespace espalier::platforms::every_family_test
