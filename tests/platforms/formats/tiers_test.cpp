#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "platforms/formats/text/link_classes.hpp"
#include "support/files.hpp"
#include "tests/platforms/expect_same.hpp"

namespace espalier::platforms::tiers_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/tiers/";
const std::string kClasses = kData + "enslyon_measured_links.csv";

const std::string kNoUnits =
    "the file has no units: took bandwidths as Mbit/s, delays as us; left out states";

// Two MAN nodes, one linked to the WAN node 0, the other to a LAN of one node:
//
//     0 === 1 --- 2 === 3        === between levels
const std::string kHead =
    "# Parameters\n# NODES\n0\t40\t40\t0\n1\t8\t8\t1\n2\t16\t8\t1\n3\t17\t9\t2\n# EDGES\n";
const std::string kEdges =
    "# WAN 0\n0\t1\t51\t10\t0\t1\t3\n# MAN 0\n1\t2\t180\t100\t1\t1\t1\n2\t1\t180\t100\t1\t1\t1\n"
    "1\t0\t51\t10\t1\t0\t3\n2\t3\t1001\t100\t1\t2\t3\n# LAN 0\n3\t2\t1001\t100\t2\t1\t3\n"
    "2\t3\t1001\t100\t1\t2\t3\n";
const std::string kEnd = "# End of Model\n";

ReadResult read(const std::string& text) {
  return parse_platform(text, "t.tiers");
}

std::string refused(const std::string& text) {
  return refusal_as("tiers", text, "t.tiers");
}

TEST(Tiers, ReadsNodesLinksAndNetworks) {
  const ReadResult result = read(kHead + kEdges + kEnd);
  const Platform& platform = result.platform;
  EXPECT_EQ(result.format, "tiers");
  EXPECT_EQ(platform.name(), "t");
  EXPECT_EQ(platform.hosts().size(), 4U);
  EXPECT_EQ(platform.arcs().size(), 6U);
  EXPECT_EQ(arc(platform, "0", "1").bandwidth.value, 10e6 / 8);
  EXPECT_DOUBLE_EQ(arc(platform, "0", "1").latency.value, 51e-6);
  EXPECT_EQ(arc(platform, "2", "1").bandwidth.value, 100e6 / 8);
  EXPECT_DOUBLE_EQ(arc(platform, "3", "2").latency.value, 1001e-6);
  std::vector<std::string> groups;
  for (const Node& node : platform.nodes()) groups.push_back(node.group);
  EXPECT_THAT(groups, ElementsAre("wan-0", "man-0", "man-0", "man-0/lan-0"));
  EXPECT_THAT(result.notes, ElementsAre(kNoUnits, "left out 1 lines that repeat a link"));
}

// Counted by hand in the section of each network. WAN: 2 links. MANs: 2 each. MAN to WAN: 1
// each. LANs: 6 stars of 2 links. LAN to MAN: 6. In all 26 links for 27 nodes: a tree; 52 arcs.
TEST(Tiers, TheSmallRealFile) {
  const ReadResult result = read_platform(kData + "small.tiers");
  const Platform& platform = result.platform;
  EXPECT_EQ(platform.hosts().size(), 27U);
  EXPECT_EQ(platform.arcs().size(), 52U);
  EXPECT_THAT(result.notes, ElementsAre(kNoUnits, "left out 6 lines that repeat a link"));
  EXPECT_DOUBLE_EQ(arc(platform, "0", "2").latency.value, 1485e-6);
  EXPECT_EQ(arc(platform, "24", "26").bandwidth.value, 125e6);
  EXPECT_EQ(platform.node(*platform.find_node("8")).group, "man-1");
  EXPECT_EQ(platform.node(*platform.find_node("3")).position, (Position{792, 1552}));
  EXPECT_EQ(platform.node(*platform.find_node("17")).group, "man-0/lan-2");
  EXPECT_EQ(platform.node(*platform.find_node("26")).group, "man-1/lan-5");
}

// WAN: 4 links. MANs: 4 each. MAN to WAN: 1 each. LANs: 6 stars of 4. LAN to MAN: 6. In all 44.
TEST(Tiers, TheMediumRealFile) {
  const ReadResult result = read_platform(kData + "medium.tiers");
  EXPECT_EQ(result.platform.hosts().size(), 45U);
  EXPECT_EQ(result.platform.arcs().size(), 88U);
  EXPECT_THAT(result.notes, ElementsAre(kNoUnits, "left out 6 lines that repeat a link"));
}

TEST(Tiers, DrawsMeasuredLinksByClass) {
  ReadOptions options;
  options.classes = kClasses;
  const ReadResult result = read_platform(kData + "medium.tiers", options);
  EXPECT_THAT(result.notes, Contains("drew each link's bandwidth and latency from " + kClasses +
                                     " by its class; left out the delays and states"));
  const LinkClasses classes = read_link_classes(kClasses);
  const Platform raw = read_platform(kData + "medium.tiers").platform;
  std::set<double> drawn;
  for (std::size_t i = 0; i < raw.arcs().size(); ++i) {
    const Arc& link = result.platform.arcs()[i];
    const auto number = static_cast<std::uint64_t>(raw.arcs()[i].bandwidth.value * 8 / 1e6);
    EXPECT_TRUE(std::ranges::any_of(classes.at(number), [&](const MeasuredLink& measured) {
      return measured.bandwidth == link.bandwidth && measured.latency == link.latency;
    })) << i;
    const Arc& back = result.platform.arc(*result.platform.find_arc(link.to, link.from));
    EXPECT_EQ(back.bandwidth, link.bandwidth) << "one draw for both directions";
    EXPECT_EQ(back.latency, link.latency);
    drawn.insert(link.bandwidth.value);
  }
  EXPECT_GT(drawn.size(), 10U);
  const Platform again = read_platform(kData + "medium.tiers", options).platform;
  testing::expect_same(again, result.platform);
  options.classes_seed = 2;
  EXPECT_NE(write_platform(read_platform(kData + "medium.tiers", options).platform, "json"),
            write_platform(again, "json"));
}

TEST(Tiers, AnUndirectedListHasBothDirections) {
  const std::string once = kHead + "0\t1\t51\t10\t0\t1\t3\n1\t2\t180\t100\t1\t1\t1\n" + kEnd;
  const ReadResult one_way = read(once);
  EXPECT_EQ(one_way.platform.arcs().size(), 2U);
  EXPECT_THAT(one_way.notes, ElementsAre(kNoUnits, "2 links have no reverse direction"));
  const ReadResult both = read("# 1\t Edge list is directed (0) or undirected (1)\n" + once);
  EXPECT_EQ(both.platform.arcs().size(), 4U);
  EXPECT_THAT(both.notes, ElementsAre(kNoUnits));
}

TEST(Tiers, NotesThatTheEndIsMissing) {
  EXPECT_THAT(read(kHead + kEdges).notes,
              Contains("there is no line '# End of Model': the file may be cut short"));
}

TEST(Tiers, RefusalsOfTheWhole) {
  EXPECT_EQ(refused("# NODES\n0 1 1 0\n"), "t.tiers: there is no line '# EDGES'");
  EXPECT_EQ(refused("0 1 1 0\n"), "t.tiers: line 1: expected '# NODES' before the first figures");
  EXPECT_EQ(refused("# Total Number of Nodes (derived) : 5\n" + kHead + kEnd),
            "t.tiers: the header gives 5 nodes, the list has 4");
}

TEST(Tiers, RefusalsOfANode) {
  const auto node = [](const std::string& line) { return refused("# NODES\n" + line + "\n"); };
  EXPECT_EQ(node("0 1 1"), "t.tiers: line 2: a node is 'id x y type', not 3 fields");
  EXPECT_EQ(node("a 1 1 0"), "t.tiers: line 2: a node's id is a whole number, not 'a'");
  EXPECT_EQ(node("0 one 1 0"), "t.tiers: line 2: a coordinate is a number, not 'one'");
  EXPECT_EQ(node("0 1 1 3"),
            "t.tiers: line 2: a node's type is 0 (WAN), 1 (MAN) or 2 (LAN), not '3'");
  EXPECT_EQ(node("0 1 1 0\n0 2 2 0"), "t.tiers: line 3: two nodes are named '0'");
}

TEST(Tiers, RefusalsOfAnEdge) {
  const auto edge = [](const std::string& line) { return refused(kHead + line + "\n"); };
  EXPECT_EQ(edge("0 1 51 10 0 1"),
            "t.tiers: line 8: an edge is 'from to delay bandwidth type type state', not 6 fields");
  EXPECT_EQ(edge("0 9 51 10 0 1 3"), "t.tiers: line 8: there is no node '9'");
  EXPECT_EQ(edge("0 1 51 10 0 2 3"),
            "t.tiers: line 8: node 1 is of type 2 here and 1 in the list of nodes");
  EXPECT_EQ(edge("0 0 51 10 0 0 1"), "t.tiers: line 8: a link from 0 to itself");
  EXPECT_EQ(edge("0 1 x 10 0 1 3"), "t.tiers: line 8: a delay is a number, not 'x'");
  EXPECT_EQ(edge("0 1 -1 10 0 1 3"),
            "t.tiers: line 8: a delay must be finite and not negative, not -1 s");
  EXPECT_EQ(edge("0 1 51 0 0 1 3"),
            "t.tiers: line 8: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(edge("0 1 51 10 0 1 5"), "t.tiers: line 8: an edge's state is 1 to 4, not '5'");
  EXPECT_EQ(edge("0 1 51 10 0 1 3\n0 1 51 11 0 1 3"),
            "t.tiers: line 9: the link 0 -> 1 has other figures on line 8");
}

TEST(LinkClasses, ReadsTheMeasuredLinks) {
  const LinkClasses classes = read_link_classes(kClasses);
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes.at(10).size(), 5U);
  EXPECT_EQ(classes.at(100).size(), 12U);
  EXPECT_EQ(classes.at(1000).size(), 90U);
  EXPECT_DOUBLE_EQ(classes.at(10)[0].bandwidth.value, 274285e3 / 8);
  EXPECT_DOUBLE_EQ(classes.at(10)[0].latency.value, 0.514433e-3);
}

TEST(LinkClasses, Refusals) {
  const auto reason = [](std::string_view text) {
    return refusal([&] { return parse_link_classes(text, "c.csv"); });
  };
  EXPECT_EQ(reason(""), "c.csv: there is no header line");
  EXPECT_EQ(reason("class,latency_ms\n"), "c.csv: line 1: there is no column 'bandwidth'");
  EXPECT_EQ(reason("class,bandwidth_Mbps,latency_ms\n"),
            "c.csv: there are no links below the header");
  EXPECT_THAT(reason("class,bandwidth_foo_per_s,latency_ms\n"), HasSubstr("unknown unit"));
  const std::string head = "class,bandwidth_Mbps,latency_ms\n";
  EXPECT_EQ(reason(head + "10,1\n"), "c.csv: line 2: 2 fields where the header has 3");
  EXPECT_EQ(reason(head + "wan,1,1\n"), "c.csv: line 2: a class is a whole number, not 'wan'");
  EXPECT_EQ(reason(head + "10,0,1\n"),
            "c.csv: line 2: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(reason(head + "10,1,-1\n"),
            "c.csv: line 2: a latency must be finite and not negative, not -0.001 s");
}

TEST(LinkClasses, AClassThatTheTableLacksIsRefused) {
  const std::string file = ::testing::TempDir() + "/espalier classes.csv";
  write_text(file, "class,bandwidth_Mbps,latency_ms\n10,1,1\n");
  ReadOptions options;
  options.classes = file;
  EXPECT_EQ(refusal([&] { return parse_platform(kHead + kEdges, "t.tiers", options); }),
            "t.tiers: line 11: " + file + " has no links of class 100");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace espalier::platforms::tiers_test
