// Pictures of platforms and plans: what is in their DOT text, and that Graphviz draws them.
#include "pictures/pictures.hpp"

#include <gmock/gmock.h>
#include <graphviz/cgraph.h>

#include <filesystem>
#include <string>

#include "platforms/formats.hpp"
#include "support/errors.hpp"
#include "tests/support/xml.hpp"

namespace espalier::pictures {
namespace {

using espalier::testing::count_of;
using espalier::testing::xml_fault;
using platforms::parse_platform;
using platforms::Platform;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::filesystem::path kData = ESPALIER_SOURCE_DIR "/platforms/data";

Platform platform_of(const std::string& nodes, const std::string& links,
                     const std::string& rest = {}) {
  return parse_platform(R"({"format": "espalier-platform", "version": 1, "name": "p", "nodes": [)" +
                            nodes + R"(], "links": [)" + links + "]" + rest + "}",
                        "p.json")
      .platform;
}

Platform sample(const std::string& name) {
  return platforms::read_platform((kData / name).string()).platform;
}

// A plan of one chain a -> b at 8 Gbit/s.
planner::Plan chain() {
  planner::Plan plan;
  plan.platform = "p";
  plan.source = "a";
  plan.model = "one-port";
  plan.algorithm = "chain";
  plan.nodes = {"a", "b"};
  plan.throughput = {1e9};
  plan.broadcast_trees = {{.rate = {1e9}, .edges = {{0, 1}}, .via = {}}};
  return plan;
}

TEST(PlatformPicture, DrawsEqualWaysAsOneLine) {
  const std::string dot = platform_picture(
      platform_of(R"({"name": "a"}, {"name": "b"})",
                  R"({"from": "a", "to": "b", "bandwidth": "8 Gbit/s", "both_ways": true})"));
  EXPECT_EQ(count_of(dot, " -> "), 1U);
  EXPECT_THAT(dot, HasSubstr("dir=\"none\""));
  EXPECT_THAT(dot, Not(HasSubstr("each half")));
}

TEST(PlatformPicture, GivesEachHalfTheColourOfWhatItsNodeSends) {
  const std::string dot =
      platform_picture(platform_of(R"({"name": "a"}, {"name": "b"})",
                                   R"({"from": "a", "to": "b", "bandwidth": "8 Gbit/s"},
                     {"from": "b", "to": "a", "bandwidth": "1 Gbit/s"})"));
  EXPECT_THAT(dot, HasSubstr("color=\"#440154;0.5:#7ad151\""));
  EXPECT_THAT(dot, HasSubstr("each half"));
}

TEST(PlatformPicture, ShowsRelaysArrowsAndSharedWires) {
  const std::string dot = platform_picture(platform_of(
      R"({"name": "a"}, {"name": "s", "relay": true})",
      R"({"from": "a", "to": "s", "bandwidth": "8 Gbit/s"})",
      R"(, "shared": [{"name": "trunk", "bandwidth": "1 Gbit/s", "links": [["a", "s"]]}])"));
  EXPECT_THAT(dot, HasSubstr("1 relays (octagons)"));
  EXPECT_THAT(dot, HasSubstr("shape=\"octagon\""));
  EXPECT_THAT(dot, HasSubstr("style=\"dashed\""));
  EXPECT_THAT(dot, HasSubstr("trunk 1 Gbit/s"));
  EXPECT_THAT(dot, HasSubstr("arrows: links of one way only"));
}

TEST(PlatformPicture, OfManyLinksDrawsTheStrongestAndSaysSo) {
  const std::string dot = platform_picture(sample("cloud-71-regions.json"));
  EXPECT_THAT(dot, HasSubstr(" of 2485 pairs, every node's "));
  EXPECT_LE(count_of(dot, "penwidth"), 201U);  // and that of nodes
  EXPECT_EQ(platform_picture(sample("cloud-71-regions.json")), dot);
}

TEST(PlatformPicture, RefusesMoreNodesThanAnyoneCouldRead) {
  std::string nodes = R"({"name": "n"})";
  for (std::size_t i = 0; i < kMostNodes; ++i)
    nodes += R"(, {"name": ")" + std::to_string(i) + "\"}";
  try {
    static_cast<void>(platform_picture(platform_of(nodes, "")));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a picture holds at most 2000 nodes, and there are 2001");
  }
}

TEST(PlanPicture, MarksTheSourceAndTheBusiest) {
  const Platform platform = platform_of(R"({"name": "a"}, {"name": "b"})",
                                        R"({"from": "a", "to": "b", "bandwidth": "8 Gbit/s"})");
  const planner::Plan plan = chain();
  const planner::Instance instance(platform, platforms::NodeId{0}, platforms::Model::kOnePort);
  const auto loads = planner::loads_of(plan, instance);
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_DOUBLE_EQ(loads[0].load, 1);
  const std::string dot = plan_picture(plan, platform, loads);
  EXPECT_EQ(count_of(dot, "peripheries"), 1U);
  EXPECT_THAT(dot, HasSubstr("the busiest (100 %): out-port of a, in-port of b"));
  EXPECT_THAT(dot, HasSubstr("1 tree, 8 Gbit/s"));
}

const std::string kNasty = R"({"name": "a\\"}, {"name": "<b & \"c\">"}, {"name": "d&lt;\\N"},
                               {"name": "Zürich ✓"})";
const std::string kNastyLinks =
    R"({"from": "a\\", "to": "<b & \"c\">", "bandwidth": "8 Gbit/s"},
       {"from": "d&lt;\\N", "to": "Zürich ✓", "bandwidth": "1 Gbit/s"})";

TEST(PlatformPicture, IsADotGraphOfThePlatformsNodes) {
  const std::string dot = platform_picture(platform_of(kNasty, kNastyLinks));
  Agraph_t* graph = agmemread(dot.c_str());
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(agnnodes(graph), 4);
  EXPECT_EQ(agnedges(graph), 2);
  agclose(graph);
}

TEST(Draw, WritesWellFormedSvgWhateverTheNames) {
  const std::string dot = platform_picture(platform_of(kNasty, kNastyLinks));
  const std::string svg = draw(dot, "svg");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">Zürich ✓</text>"));
  EXPECT_EQ(count_of(svg, "class=\"node\""), 4U);
  EXPECT_EQ(draw(dot, "svg"), svg);
}

TEST(Draw, WritesPng) {
  EXPECT_THAT(draw(platform_picture(sample("seed-sketch.json")), "png"), StartsWith("\x89PNG\r\n"));
}

TEST(Draw, RefusesWhatIsNoGraph) {
  EXPECT_THROW(static_cast<void>(draw("digraph {", "svg")), InputError);
  EXPECT_THROW(static_cast<void>(draw("digraph {}", "nonsense")), InputError);
  EXPECT_THROW(static_cast<void>(draw("digraph {layout=nonsense}", "svg")), InputError);
}

// The samples that are platforms; the tables and licences beside them, and what the readers refuse
// for good reasons, are tested elsewhere.
TEST(Draw, DrawsEverySample) {
  std::size_t samples = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kData)) {
    if (!entry.is_regular_file()) continue;
    Platform platform;
    try {
      platform = platforms::read_platform(entry.path().string()).platform;
    } catch (const InputError&) {
      continue;
    }
    SCOPED_TRACE(entry.path().string());
    ++samples;
    EXPECT_EQ(xml_fault(draw(platform_picture(platform), "svg")), "");
  }
  EXPECT_GE(samples, 25U);
}

}  // namespace
}  // namespace espalier::pictures
