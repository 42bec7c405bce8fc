// The facts of a page: places, links within what a page has room for, and what limits.
#include "render/page/page.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>

#include "platforms/core/contention.hpp"
#include "render/pictures.hpp"
#include "support/errors.hpp"

namespace espalier::render::page_test {
namespace {

using ::testing::IsEmpty;

// Every two of n0, n1, ... linked at 1 GB/s both ways, but n0 and n1 at 1 MB/s.
platforms::Platform complete(std::size_t hosts) {
  platforms::PlatformBuilder builder("complete");
  for (std::size_t i = 0; i < hosts; ++i) builder.add_node({.name = fmt::format("n{}", i)});
  for (std::uint32_t a = 0; a < hosts; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      builder.add_both_ways({.from = platforms::NodeId{a},
                             .to = platforms::NodeId{b},
                             .bandwidth = {a + b == 1 ? 1e6 : 1e9}});
    }
  }
  return std::move(builder).build();
}

TEST(NodePlaces, AreInTheOrderOfTheText) {
  const auto places = node_places(
      R"(digraph { layout=neato; b [pos="3,1!"]; a [pos="1,2!"]; "odd \"name\"" [pos="0,0!"]; b -> a })");
  ASSERT_EQ(places.size(), 3U);
  EXPECT_NEAR(places[0].x - places[2].x, 3 * 72, 1);
  EXPECT_NEAR(places[1].y - places[2].y, 2 * 72, 1);
  EXPECT_THROW(node_places("digraph {"), InputError);
}

TEST(NetworkFacts, HaveAllLinksOfASmallNetwork) {
  const Json facts = network_facts(complete(3));
  EXPECT_EQ(facts.at("links").size(), 6U);
  EXPECT_EQ(facts.at("links_in_all"), 6);
  EXPECT_EQ(facts.at("drawn"), 6);
  EXPECT_EQ(facts.at("nodes").at(2).at("name"), "n2");
  EXPECT_LE(facts.at("kinds").size(), 6U);
  for (const Json& link : facts.at("links")) {
    EXPECT_LT(link.at(2).get<std::size_t>(), facts.at("kinds").size());
  }
}

TEST(NetworkFacts, LeaveWeakLinksOfALargeNetworkOutUnlessTheyAreWanted) {
  const platforms::Platform large = complete(120);
  const platforms::ArcId weak = *large.find_arc(platforms::NodeId{0}, platforms::NodeId{1});
  for (const bool wanted : {false, true}) {
    const std::vector<platforms::ArcId> arcs(wanted ? 1 : 0, weak);
    const Json facts = network_facts(large, arcs);
    EXPECT_EQ(facts.at("links_in_all"), 120 * 119);
    EXPECT_LE(facts.at("links").size(), kMostPageLinks);
    EXPECT_LT(facts.at("drawn"), facts.at("links").size());
    std::set<std::pair<int, int>> pairs;
    for (const Json& link : facts.at("links")) pairs.emplace(link.at(0), link.at(1));
    EXPECT_EQ(pairs.size(), facts.at("links").size());
    EXPECT_EQ(pairs.count({0, 1}), wanted ? 1U : 0U);
  }
}

TEST(ResourceFacts, NameNodesAndTheEndsOfLinks) {
  const platforms::Platform network = complete(3);
  using Kind = platforms::Resource::Kind;
  const std::vector<planner::ResourceLoad> loads{
      {{Kind::kOutPort, 1}, 0.5}, {{Kind::kInPort, 2}, 0}, {{Kind::kLink, 1}, 0}};
  const std::vector<double> prices{0, 0, 1};
  const Json facts = resource_facts(loads, prices, network);
  EXPECT_EQ(facts, Json::parse("[[0, 1, 0.5, 0.0], [3, [0, 2], 0.0, 1.0]]"));
}

TEST(TreeFacts, HaveTheFastestTreesWithinWhatIsLeft) {
  const platforms::Platform network = complete(3);
  planner::Plan plan;
  plan.source = "n0";
  plan.nodes = {"n0", "n1", "n2"};
  plan.throughput = {3};
  plan.broadcast_trees = {{.rate = {1}, .edges = {{0, 1}, {0, 2}}, .via = {}},
                          {.rate = {2}, .edges = {{0, 2}, {2, 1}}, .via = {}}};
  PageContents contents{.hops = kMostPageHops - 2};
  const Json trees = tree_facts(plan, network, contents);
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees.at(0).at("index"), 1);
  EXPECT_EQ(trees.at(0).at("paths"), Json::parse("[[0, 2], [2, 1]]"));
  EXPECT_EQ(contents.links.size(), 2U);
  EXPECT_THAT(tree_facts(plan, network, contents), IsEmpty());
}

}  // namespace
}  // namespace espalier::render::page_test
