// Reading and writing the JSON format; for its errors see json_refusals_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "platforms/formats/formats.hpp"
#include "tests/platforms/expect_same.hpp"

namespace espalier::platforms::json_format_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

constexpr std::string_view kTwoRacks = R"({
 "format": "espalier-platform", "version": 1, "name": "two racks",
 "nodes": [ {"name": "a"},
            {"name": "b", "send_Bps": 1.25e9, "receive": "10 Gbit/s", "group": "lyon/rack1"},
            {"name": "c"}, {"name": "sw", "relay": true} ],
 "links": [ {"from": "a", "to": "sw", "bandwidth_Bps": 1.25e8, "latency_s": 5e-5, "both_ways": true},
            {"from": "sw", "to": "b", "bandwidth": "10 Gbit/s", "latency": "20 us",
             "overhead": "1 us"},
            {"from": "c", "to": "sw", "bandwidth": "1 GB/s", "overhead_s": 0.001,
             "both_ways": false} ],
 "shared": [ {"name": "trunk", "bandwidth": "1 GB/s", "links": [["a", "sw"], ["c", "sw"]]} ] })";

TEST(Json, PricesComeBack) {
  const std::string text = R"({"format": "espalier-platform", "version": 1, "name": "p",
 "currency": "EUR",
 "nodes": [
  {"name": "a", "price_per_hour": 1.5},
  {"name": "b"}
 ],
 "links": [
  {"from": "a", "to": "b", "bandwidth_Bps": 1000, "price_per_GB": 0.09},
  {"from": "b", "to": "a", "bandwidth_Bps": 1000, "price_per_GB": 0.02}
 ]}
)";
  const Platform platform = parse_platform(text, "p.json").platform;
  EXPECT_EQ(platform.currency(), "EUR");
  EXPECT_EQ(platform.nodes()[0].price_per_hour, 1.5);
  EXPECT_EQ(platform.arcs()[0].price_per_GB, 0.09);
  const std::string again = write_platform(platform, "json");
  expect_same(parse_platform(again, "p.json").platform, platform);
  EXPECT_THAT(again, HasSubstr("\"currency\": \"EUR\",\n"));
  EXPECT_THAT(again, Not(HasSubstr("both_ways")));  // the prices differ
}

// From a file of version 1, which must be read for good.
TEST(Json, ReadsEverythingAPlatformHas) {
  const ReadResult result = read_platform(std::string(ESPALIER_SOURCE_DIR) +
                                          "/tests/platforms/goldens/two-racks-v1.json");
  const Platform& platform = result.platform;
  EXPECT_EQ(result.format, "json");
  EXPECT_THAT(result.notes, IsEmpty());
  EXPECT_EQ(platform.name(), "two racks");
  ASSERT_EQ(platform.nodes().size(), 4U);
  EXPECT_EQ(platform.nodes()[1].send->value, 1.25e9);
  EXPECT_EQ(platform.nodes()[1].receive->value, 1.25e9);
  EXPECT_EQ(platform.nodes()[1].group, "lyon/rack1");
  EXPECT_TRUE(platform.nodes()[3].relay);
  ASSERT_EQ(platform.arcs().size(), 4U);  // a -> sw, c -> sw, sw -> a, sw -> b
  EXPECT_EQ(platform.arcs()[0].bandwidth.value, 1.25e8);
  EXPECT_EQ(platform.arcs()[0].latency.value, 5e-5);
  EXPECT_EQ(platform.arcs()[1].overhead.value, 0.001);
  EXPECT_EQ(platform.arcs()[2].bandwidth.value, 1.25e8);
  EXPECT_DOUBLE_EQ(platform.arcs()[3].latency.value, 20e-6);
  EXPECT_DOUBLE_EQ(platform.arcs()[3].overhead.value, 1e-6);
  ASSERT_EQ(platform.shared_links().size(), 1U);
  EXPECT_THAT(platform.shared_links()[0].arcs, ElementsAre(ArcId{0}, ArcId{1}));
}

TEST(Json, WritesOneLinkALineAndPairsEqualDirections) {
  const Platform platform = parse_platform(kTwoRacks, "racks.json").platform;
  EXPECT_EQ(write_platform(platform, "json"),
            R"({"format": "espalier-platform", "version": 1, "name": "two racks",
 "nodes": [
  {"name": "a"},
  {"name": "b", "send_Bps": 1250000000, "receive_Bps": 1250000000, "group": "lyon/rack1"},
  {"name": "c"},
  {"name": "sw", "relay": true}
 ],
 "links": [
  {"from": "a", "to": "sw", "bandwidth_Bps": 125000000, "latency_s": 5e-05, "both_ways": true},
  {"from": "c", "to": "sw", "bandwidth_Bps": 1000000000, "overhead_s": 0.001},
  {"from": "sw", "to": "b", "bandwidth_Bps": 1250000000, "latency_s": 2e-05, "overhead_s": 1e-06}
 ],
 "shared": [
  {"name": "trunk", "bandwidth_Bps": 1000000000, "links": [["a", "sw"], ["c", "sw"]]}
 ]}
)");
}

TEST(Json, DigitsSurvive) {
  PlatformBuilder builder("π \"quoted\" \\ /");
  const NodeId a = builder.node_named("a,b#\"");
  const NodeId b = builder.node_named("Zürich 😀");
  builder.add_arc({a, b, {1e85 + 1e85 / 3}, {5e-324}, {1.0 / 3}});
  builder.add_arc({b, a, {1.0000000000000002e99}, {1e22}, {0}});
  const Platform platform = std::move(builder).build();
  expect_same(parse_platform(write_platform(platform, "json"), "written").platform, platform);
}

TEST(Json, AnEmptyPlatformIsValid) {
  const Platform platform = PlatformBuilder("nothing").build();
  expect_same(parse_platform(write_platform(platform, "json"), "written").platform, platform);
}

TEST(Json, ANameThatIsMissingComesFromTheOptionsOrTheFile) {
  constexpr std::string_view kNameless =
      R"({"format": "espalier-platform", "version": 1, "nodes": [], "links": []})";
  EXPECT_EQ(parse_platform(kNameless, "some/where/net.v2.json").platform.name(), "net.v2");
  EXPECT_EQ(parse_platform(kNameless, "<stdin>").platform.name(), "stdin");
  ReadOptions options;
  options.name = "mine";
  EXPECT_EQ(parse_platform(kNameless, "net.json", options).platform.name(), "mine");
  EXPECT_EQ(parse_platform(kTwoRacks, "net.json", options).platform.name(), "two racks");
}

TEST(Json, ParallelLinksAreMergedAndNoted) {
  const ReadResult result = parse_platform(
      R"({"format": "espalier-platform", "version": 1, "name": "p",
          "nodes": [{"name": "a"}, {"name": "b"}],
          "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1, "both_ways": true},
                    {"from": "b", "to": "a", "bandwidth_Bps": 2, "both_ways": true}]})",
      "p.json");
  ASSERT_EQ(result.platform.arcs().size(), 2U);
  EXPECT_EQ(result.platform.arcs()[0].bandwidth.value, 3);
  EXPECT_EQ(result.platform.arcs()[1].bandwidth.value, 3);
  EXPECT_THAT(result.notes, ElementsAre("merged 4 parallel links a -> b, b -> a"));
}

}  // namespace
}  // namespace espalier::platforms::json_format_test
