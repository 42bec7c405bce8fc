// Statistics of a platform; the expected values are computed by hand.
#include "platforms/core/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "platforms/formats/formats.hpp"

namespace espalier::platforms::summary_test {
namespace {

//      8              1      hosts a, b, c; relay s; Gbit/s
//   a ===== b      c ---> a
//   a ----> c 4    b ---> c 0.08    c ---> s 8
const std::string kSmall = R"({"format": "espalier-platform", "version": 1, "name": "small",
  "nodes": [{"name": "a", "send_Bps": 1e9, "group": "x"}, {"name": "b", "send_Bps": 5e8, "group": "x"},
            {"name": "c", "group": "x/y"}, {"name": "s", "relay": true}],
  "links": [{"from": "a", "to": "b", "bandwidth": "8 Gbit/s", "latency": "2 ms", "both_ways": true},
            {"from": "a", "to": "c", "bandwidth": "4 Gbit/s", "latency": "6 ms"},
            {"from": "c", "to": "a", "bandwidth": "1 Gbit/s"},
            {"from": "b", "to": "c", "bandwidth": "80 Mbit/s", "overhead": "1 us"},
            {"from": "c", "to": "s", "bandwidth": "8 Gbit/s"}]})";

Summary summary_of_text(const std::string& text) {
  return summary_of(parse_platform(text, "small.json").platform);
}

TEST(Summary, CountsNodesAndLinks) {
  const Summary summary = summary_of_text(kSmall);
  EXPECT_EQ(summary.hosts, 3U);
  EXPECT_EQ(summary.relays, 1U);
  EXPECT_EQ(summary.arcs, 6U);
  EXPECT_EQ(summary.both_ways, 2U);
  EXPECT_EQ(summary.one_way, 2U);
  EXPECT_DOUBLE_EQ(summary.density, 6.0 / 12);
}

TEST(Summary, SpreadsBandwidthsAndLatencies) {
  const Summary summary = summary_of_text(kSmall);
  // Sorted: 1e7, 1.25e8, 5e8, 1e9, 1e9, 1e9; quartiles at places 1.25, 2.5 and 3.75.
  EXPECT_DOUBLE_EQ(summary.bandwidth_Bps.least, 1e7);
  EXPECT_DOUBLE_EQ(summary.bandwidth_Bps.lower, 2.1875e8);
  EXPECT_DOUBLE_EQ(summary.bandwidth_Bps.median, 7.5e8);
  EXPECT_DOUBLE_EQ(summary.bandwidth_Bps.upper, 1e9);
  EXPECT_DOUBLE_EQ(summary.bandwidth_Bps.greatest, 1e9);
  EXPECT_DOUBLE_EQ(summary.latency_s.median, 1e-3);  // of 0, 0, 0, 2, 2, 6 ms
  EXPECT_DOUBLE_EQ(summary.latency_s.greatest, 6e-3);
  EXPECT_DOUBLE_EQ(summary.overhead_s.greatest, 1e-6);
}

TEST(Summary, CountsDecadesWithTheEmptyOnesBetween) {
  const Summary summary = summary_of_text(kSmall);
  ASSERT_EQ(summary.decades.size(), 3U);
  EXPECT_EQ(summary.decades[0].power, 7);
  EXPECT_EQ(summary.decades[0].arcs, 1U);
  EXPECT_EQ(summary.decades[1].arcs, 0U);
  EXPECT_EQ(summary.decades[2].power, 9);
  EXPECT_EQ(summary.decades[2].arcs, 5U);
}

TEST(Summary, ComparesTheDirectionsOfPairs) {
  const Platform platform = parse_platform(kSmall, "small.json").platform;
  const Asymmetry asymmetry = summary_of(platform).asymmetry;
  EXPECT_EQ(asymmetry.pairs, 2U);
  EXPECT_DOUBLE_EQ(asymmetry.median, 2.5);  // of 1 and 4
  EXPECT_DOUBLE_EQ(asymmetry.greatest, 4);
  EXPECT_EQ(platform.node(platform.arc(asymmetry.fastest).from).name, "a");
  EXPECT_EQ(platform.node(platform.arc(asymmetry.fastest).to).name, "c");
}

TEST(Summary, CountsComponentsGroupsAndCaps) {
  const Summary summary = summary_of_text(kSmall);
  EXPECT_EQ(summary.components, 2U);  // no arc leads out of s
  EXPECT_EQ(summary.largest_component, 3U);
  ASSERT_EQ(summary.groups.size(), 2U);
  EXPECT_EQ(summary.groups[0].group, "x");
  EXPECT_EQ(summary.groups[0].nodes, 2U);
  EXPECT_EQ(summary.groups[1].group, "x/y");
  EXPECT_EQ(summary.send_caps.nodes, 2U);
  EXPECT_EQ(summary.send_caps.least, BytesPerSecond{5e8});
  EXPECT_EQ(summary.send_caps.greatest, BytesPerSecond{1e9});
  EXPECT_EQ(summary.receive_caps.nodes, 0U);
}

TEST(Summary, OfOneHostHasNoLinks) {
  const Summary summary = summary_of_text(
      R"({"format": "espalier-platform", "version": 1, "nodes": [{"name": "a"}], "links": []})");
  EXPECT_EQ(summary.density, 0);
  EXPECT_EQ(summary.components, 1U);
  EXPECT_TRUE(summary.decades.empty());
  EXPECT_TRUE(std::isnan(summary.bandwidth_Bps.median));
}

TEST(Summary, HandlesExtremeBandwidths) {
  for (const int power : {-100, 86}) {
    const Summary summary = summary_of_text(fmt::format(
        R"({{"format": "espalier-platform", "version": 1, "nodes": [{{"name": "a"}}, {{"name": "b"}}],
            "links": [{{"from": "a", "to": "b", "bandwidth_Bps": 1e{}}},
                      {{"from": "b", "to": "a", "bandwidth_Bps": 1e{}}}]}})",
        power + 14, power));
    EXPECT_EQ(summary.decades.front().power, power);
    EXPECT_EQ(summary.decades.back().power, power + 14);
  }
}

}  // namespace
}  // namespace espalier::platforms::summary_test
