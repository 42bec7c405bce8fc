// Pictures of platforms and plans: their DOT text, and drawing by Graphviz.
#include "render/pictures.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <graphviz/cgraph.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <string>

#include "platforms/formats/formats.hpp"
#include "support/errors.hpp"
#include "tests/support/xml.hpp"

namespace espalier::render::pictures_test {
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

TEST(PlatformPicture, ExplainsOnlyRatesThatLinksHaveWhereTheyAreFew) {
  const std::string dot = platform_picture(
      platform_of(R"({"name": "a"}, {"name": "b"}, {"name": "c"})",
                  R"({"from": "a", "to": "b", "bandwidth": "1 Gbit/s", "both_ways": true},
                     {"from": "b", "to": "c", "bandwidth": "16 Gbit/s", "both_ways": true})"));
  EXPECT_THAT(dot, HasSubstr("16 Gbit/s"));
  EXPECT_THAT(dot, Not(HasSubstr("4 Gbit/s")));
}

TEST(PlatformPicture, DrawsEqualDirectionsAsOneLine) {
  const std::string dot = platform_picture(
      platform_of(R"({"name": "a"}, {"name": "b"})",
                  R"({"from": "a", "to": "b", "bandwidth": "8 Gbit/s", "both_ways": true})"));
  EXPECT_EQ(count_of(dot, " -> "), 1U);
  EXPECT_THAT(dot, HasSubstr("dir=\"none\""));
  EXPECT_THAT(dot, Not(HasSubstr("each half")));
}

TEST(PlatformPicture, GivesEachHalfTheColourOfItsNodesBandwidth) {
  const std::string dot =
      platform_picture(platform_of(R"({"name": "a"}, {"name": "b"})",
                                   R"({"from": "a", "to": "b", "bandwidth": "8 Gbit/s"},
                     {"from": "b", "to": "a", "bandwidth": "1 Gbit/s"})"));
  EXPECT_THAT(dot, HasSubstr("color=\"#440154;0.5:#7ad151\""));
  EXPECT_THAT(dot, HasSubstr("each half"));
}

TEST(PlatformPicture, ShowsRelaysArrowsAndSharedLinks) {
  const std::string dot = platform_picture(platform_of(
      R"({"name": "a"}, {"name": "s", "relay": true})",
      R"({"from": "a", "to": "s", "bandwidth": "8 Gbit/s"})",
      R"(, "shared": [{"name": "trunk", "bandwidth": "1 Gbit/s", "links": [["a", "s"]]}])"));
  EXPECT_THAT(dot, HasSubstr("1 relays (octagons)"));
  EXPECT_THAT(dot, HasSubstr("shape=\"octagon\""));
  EXPECT_THAT(dot, HasSubstr("style=\"dashed\""));
  EXPECT_THAT(dot, HasSubstr("trunk 1 Gbit/s"));
  EXPECT_THAT(dot, HasSubstr("arrows: one-way links"));
}

TEST(PlatformPicture, DrawsOnlyTheStrongestOfManyLinksAndSaysSo) {
  const std::string dot = platform_picture(sample("cloud-71-regions.json"));
  EXPECT_THAT(dot, HasSubstr(" of 2485 pairs, every node's "));
  EXPECT_LE(count_of(dot, "penwidth"), 201U);  // one is the default of nodes
  EXPECT_EQ(platform_picture(sample("cloud-71-regions.json")), dot);
}

// The positions of the nodes in Graphviz's drawing, in points.
std::map<std::string, platforms::Position> drawn_at(const std::string& dot) {
  const std::string svg = draw(dot, "svg");
  const std::regex node(
      "class=\"node\">\\s*<title>([^<]*)</title>[\\s\\S]*?<text[^>]* x=\"([-0-9.]+)\" "
      "y=\"([-0-9.]+)\"");
  std::map<std::string, platforms::Position> places;
  for (std::sregex_iterator found(svg.begin(), svg.end(), node); found != std::sregex_iterator();
       ++found) {
    places[(*found)[1]] = {std::stod((*found)[2]), std::stod((*found)[3])};
  }
  return places;
}

const std::string kMap = R"({"name": "west", "x": -1e300, "y": 0}, {"name": "east", "x": 1e300,
    "y": 0}, {"name": "north", "x": 0, "y": 5e299}, {"name": "here", "x": 0, "y": 5e299},
    {"name": "nowhere"})";
const std::string kMapLinks = R"({"from": "west", "to": "east", "bandwidth": "8 Gbit/s"},
    {"from": "north", "to": "east", "bandwidth": "8 Gbit/s"},
    {"from": "nowhere", "to": "east", "bandwidth": "1 Gbit/s"})";

TEST(PlatformPicture, PlacesNodesByTheirCoordinates) {
  const std::string dot = platform_picture(platform_of(kMap, kMapLinks));
  EXPECT_EQ(count_of(dot, "pos="), 4U);
  auto at = drawn_at(dot);
  ASSERT_EQ(at.size(), 5U);
  EXPECT_LT(at["west"].x + 200, at["north"].x);
  EXPECT_LT(at["north"].x + 200, at["east"].x);
  EXPECT_LT(at["north"].y, at["east"].y - 50) << "SVG counts downwards";
  EXPECT_GT(std::hypot(at["north"].x - at["here"].x, at["north"].y - at["here"].y), 10)
      << "equal coordinates, but drawn apart";
}

TEST(PlatformPicture, UsesCoordinatesIfHalfTheNodesHaveDistinctOnes) {
  const auto pinned = [](const std::string& nodes) {
    return count_of(platform_picture(platform_of(nodes, "")), "pos=");
  };
  EXPECT_EQ(pinned(R"({"name": "a", "x": 1, "y": 1}, {"name": "b", "x": 2, "y": 1},
                      {"name": "c"}, {"name": "d"})"),
            2U);
  EXPECT_EQ(pinned(R"({"name": "a", "x": 1, "y": 1}, {"name": "b", "x": 2, "y": 1},
                      {"name": "c"}, {"name": "d"}, {"name": "e"})"),
            0U);
  EXPECT_EQ(pinned(R"({"name": "a", "x": 1, "y": 1}, {"name": "b", "x": 1, "y": 1})"), 0U);
  EXPECT_EQ(count_of(platform_picture(sample("cloud-71-regions.json")), "pos="), 0U);
}

TEST(PlatformPicture, RefusesTooManyNodes) {
  std::string nodes = R"({"name": "n"})";
  for (std::size_t i = 0; i < kMostNodes; ++i)
    nodes += R"(, {"name": ")" + std::to_string(i) + "\"}";
  try {
    static_cast<void>(platform_picture(platform_of(nodes, "")));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the platform has 20001 nodes; a picture can show at most 20000");
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

TEST(PlanPicture, PlacesNodesByTheirCoordinates) {
  const Platform platform =
      platform_of(R"({"name": "a", "x": 3, "y": 0}, {"name": "b", "x": 0, "y": 0})",
                  R"({"from": "a", "to": "b", "bandwidth": "8 Gbit/s"})");
  const planner::Instance instance(platform, platforms::NodeId{0}, platforms::Model::kOnePort);
  const std::string dot = plan_picture(chain(), platform, planner::loads_of(chain(), instance));
  EXPECT_EQ(count_of(dot, "pos="), 2U);
  auto at = drawn_at(dot);
  EXPECT_GT(at["a"].x, at["b"].x + 100) << "the source is in the east";
}

// One tree in colour, and three in grey with more links than are drawn.
TEST(PlanPicture, SaysHowManyGreyLinksItDraws) {
  constexpr std::uint32_t kNodes = 300;
  std::string nodes;
  std::string links;
  planner::Plan plan = chain();
  plan.nodes.clear();
  plan.source = "0";
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    nodes += fmt::format(R"({}{{"name": "{}"}})", i == 0 ? "" : ", ", i);
    plan.nodes.push_back(std::to_string(i));
  }
  plan.broadcast_trees.clear();
  for (std::uint32_t step = 1; step <= 4; ++step) {
    planner::PlanTree tree{.rate = {1e6 / step}, .edges = {}, .via = {}};
    for (std::uint32_t i = step; i < kNodes; ++i) {
      links += fmt::format(R"({}{{"from": "{}", "to": "{}", "bandwidth": "8 Gbit/s"}})",
                           links.empty() ? "" : ", ", i - step, i);
      tree.edges.push_back({i - step, i});
    }
    plan.broadcast_trees.push_back(tree);
  }
  const std::string dot = plan_picture(plan, platform_of(nodes, links), {});
  // 298 + 297 + 296 links of the three grey trees, and twice the nodes.
  EXPECT_THAT(dot, HasSubstr("grey: the 600 busiest of 891 links"));
  EXPECT_EQ(count_of(dot, "#b4b4b470"), 600U);
}

// More than can be moved apart: points on circles, of which only the source has a name.
TEST(PlanPicture, DrawsThousandsOfHostsAsPoints) {
  std::string nodes = R"({"name": "n0"})";
  std::string links;
  planner::Plan plan = chain();
  plan.nodes = {"n0"};
  plan.source = "n0";
  planner::PlanTree& tree = plan.broadcast_trees.front();
  tree.edges.clear();
  for (std::uint32_t i = 1; i <= kMostApart; ++i) {
    nodes += fmt::format(R"(, {{"name": "n{}"}})", i);
    links += fmt::format(R"({}{{"from": "n{}", "to": "n{}", "bandwidth": "8 Gbit/s"}})",
                         i == 1 ? "" : ", ", (i - 1) / 2, i);
    plan.nodes.push_back(fmt::format("n{}", i));
    tree.edges.push_back({(i - 1) / 2, i});
  }
  const std::string dot = plan_picture(plan, platform_of(nodes, links), {});
  EXPECT_EQ(count_of(dot, "overlap=\"true\""), 1U);
  EXPECT_EQ(count_of(dot, "shape=\"circle\""), kMostApart);
  const std::string svg = draw(dot, "svg");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(count_of(svg, "class=\"edge\""), kMostApart);
  EXPECT_EQ(count_of(svg, ">n0</text>"), 1U);
  EXPECT_EQ(count_of(svg, ">n1</text>"), 0U);
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

TEST(Draw, WritesWellFormedSvgForAnyNames) {
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

TEST(Draw, RefusesInvalidGraphs) {
  EXPECT_THROW(static_cast<void>(draw("digraph {", "svg")), InputError);
  EXPECT_THROW(static_cast<void>(draw("digraph {}", "nonsense")), InputError);
  EXPECT_THROW(static_cast<void>(draw("digraph {layout=nonsense}", "svg")), InputError);
}

// All samples that are platforms. Other files, such as tables and licences, and files that the
// readers refuse, are tested elsewhere.
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
}  // namespace espalier::render::pictures_test
