#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::generate_random_test {
namespace {

using namespace espalier::testing;

std::size_t reached_from_first(const Platform& platform) {
  std::vector<bool> reached(platform.nodes().size());
  std::vector<NodeId> open{NodeId{0}};
  reached[0] = true;
  std::size_t count = 1;
  while (!open.empty()) {
    const auto [first, last] = platform.arcs_out_of(open.back());
    open.pop_back();
    for (std::uint32_t e = first; e < last; ++e) {
      const NodeId to = platform.arcs()[e].to;
      if (reached[index_of(to)]) continue;
      reached[index_of(to)] = true;
      ++count;
      open.push_back(to);
    }
  }
  return count;
}

TEST(RandomFamily, IsConnectedSymmetricAndOfItsDensity) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const double density : {0.01, 0.12, 0.5, 0.77, 1.0}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", density " + std::to_string(density));
      RandomFamily family;
      family.nodes = 2 + seed % 29;
      family.density = density;
      family.seed = seed;
      const Platform platform = generate_random(family);
      const std::size_t n = family.nodes;
      const auto wanted =
          static_cast<std::size_t>(std::llround(density * static_cast<double>(n * (n - 1)) / 2));
      EXPECT_EQ(platform.arcs().size(), 2 * std::max(wanted, n - 1));
      EXPECT_EQ(reached_from_first(platform), n);
      for (const Arc& arc : platform.arcs()) {
        const auto back = platform.find_arc(arc.to, arc.from);
        ASSERT_TRUE(back);
        EXPECT_EQ(platform.arc(*back).bandwidth, arc.bandwidth);
        EXPECT_GE(arc.bandwidth.value, family.bandwidth.value / 10);
      }
    }
  }
}

TEST(RandomFamily, BandwidthsAreGaussian) {
  RandomFamily family;
  family.nodes = 200;
  family.density = 1;
  const Platform platform = generate_random(family);
  const auto count = static_cast<double>(platform.arcs().size());
  double sum = 0;
  double squares = 0;
  double within = 0;
  for (const Arc& arc : platform.arcs()) {
    const double off = (arc.bandwidth.value - 100e6) / 20e6;
    sum += off;
    squares += off * off;
    within += std::abs(off) < 1 ? 1 : 0;
  }
  // 19,900 draws: six standard errors of each.
  EXPECT_NEAR(sum / count, 0, 6 / std::sqrt(19900.0));
  EXPECT_NEAR(squares / count, 1, 6 * std::sqrt(2 / 19900.0));
  EXPECT_NEAR(within / count, 0.6827, 6 * std::sqrt(0.2166 / 19900.0));
}

TEST(RandomFamily, IsTruncatedAwayFromZero) {
  RandomFamily family;
  family.nodes = 60;
  family.density = 1;
  family.deviation = {300e6};
  const Platform platform = generate_random(family);
  for (const Arc& arc : platform.arcs()) EXPECT_GE(arc.bandwidth.value, 10e6);
}

TEST(RandomFamily, WithoutDeviationAllLinksAreEqual) {
  RandomFamily family;
  family.nodes = 128;
  family.density = 1;
  family.deviation = {0};
  const Platform platform = generate_random(family);
  EXPECT_EQ(platform.arcs().size(), 128U * 127U);
  for (const Arc& arc : platform.arcs()) ASSERT_EQ(arc.bandwidth.value, 100e6);
}

TEST(RandomFamily, TheSeedDecides) {
  RandomFamily family;
  testing::expect_same(generate_random(family), generate_random(family));
  RandomFamily other = family;
  other.seed = 2;
  EXPECT_NE(write_platform(generate_random(family), "json"),
            write_platform(generate_random(other), "json"));
}

// Values recorded from a run. A change of the sampling changes the experiments of all users.
TEST(RandomFamily, IsTheSameOnEveryMachine) {
  RandomFamily family;
  family.nodes = 4;
  family.density = 0.7;
  EXPECT_EQ(write_platform(generate_random(family), "edges"),
            "# name: random 4 nodes, density 0.7, seed 1\n"
            "from,to,bandwidth_Bps\n"
            "n0,n2,79850179.9\n"
            "n0,n3,105531393.2\n"
            "n1,n2,117511319.2\n"
            "n2,n0,79850179.9\n"
            "n2,n1,117511319.2\n"
            "n2,n3,120019048.6\n"
            "n3,n0,105531393.2\n"
            "n3,n2,120019048.6\n");
}

TEST(RandomFamily, Refusals) {
  const auto generate = [](auto change) {
    RandomFamily family;
    change(family);
    return refusal([&] { return generate_random(family); });
  };
  EXPECT_EQ(generate([](auto& family) { family.nodes = 1; }), "nodes must be 2 to 1000000, not 1");
  EXPECT_EQ(generate([](auto& family) { family.density = 0; }),
            "the density must be over 0 and at most 1, not 0");
  EXPECT_EQ(generate([](auto& family) { family.density = 1.5; }),
            "the density must be over 0 and at most 1, not 1.5");
  EXPECT_EQ(generate([](auto& family) { family.density = std::nan(""); }),
            "the density must be over 0 and at most 1, not nan");
  EXPECT_EQ(generate([](auto& family) { family.bandwidth = {0}; }),
            "the bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(generate([](auto& family) { family.bandwidth = {1e300}; }),
            "the bandwidth is out of range: 1e+300 B/s");
  EXPECT_EQ(generate([](auto& family) { family.deviation = {-1}; }),
            "the deviation must be 0 to 1000 times the bandwidth, not -1 B/s");
}

}  // namespace
}  // namespace espalier::platforms::generate_random_test
