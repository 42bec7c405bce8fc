#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::graphml_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/topology_zoo/";

// The ids of the keys differ between files; the names identify them.
std::string graph(const std::string& inside, const std::string& edges = "undirected") {
  return R"(<graphml><key id="k7" attr.name="LinkSpeedRaw"/><key id="u" attr.name="LinkSpeedUnits"/>
<key id="v" attr.name="LinkSpeed"/><key id="l" attr.name="label"/><key id="i" attr.name="Internal"/>
<key id="a" attr.name="Latitude"/><key id="o" attr.name="Longitude"/>
<key id="h" attr.name="hyperedge"/><graph edgedefault=")" +
         edges + "\">\n" + inside + "\n</graph></graphml>";
}

ReadResult read(const std::string& text) {
  return parse_platform(text, "g.graphml");
}

std::string refused(const std::string& text) {
  return refusal_as("graphml", text, "g.graphml");
}

const std::string kTwo = R"(<node id="0"/><node id="1"/>)";

std::string edge(const std::string& speed) {
  return R"(<edge source="0" target="1"><data key="k7">)" + speed + "</data></edge>";
}

TEST(Graphml, Geant2009) {
  const ReadResult result = read_platform(kData + "Geant2009.graphml");
  EXPECT_EQ(result.format, "graphml");
  EXPECT_EQ(result.platform.name(), "Geant2009");
  EXPECT_THAT(result.notes, IsEmpty());
  EXPECT_EQ(result.platform.nodes()[0].position, (Position{4.88969, 52.37403})) << "NL";
  // The first edge: nodes 0 and 1, 10 Gbit/s.
  EXPECT_EQ(result.platform.arcs()[0].bandwidth.value, 1.25e9);
}

TEST(Graphml, WhatIsLeftOutIsNoted) {
  EXPECT_THAT(
      read_platform(kData + "Garr201201.graphml").notes,
      ElementsAre("left out 12 links without a speed; give them one with --missing-bandwidth",
                  "no latency for 12 links: an end has no coordinates",
                  "13 nodes belong to other networks (Internal is 0)",
                  HasSubstr("merged 46 parallel links")));
  ReadOptions options;
  options.missing_bandwidth = "1 Gbit/s";
  const ReadResult with = read_platform(kData + "Garr201201.graphml", options);
  EXPECT_THAT(with.notes[0], HasSubstr("no latency for"));
  EXPECT_GT(with.platform.arcs().size(), 130U);
}

TEST(Graphml, LatencyIsTheGreatCircleAtTheSpeedOfLightInFibre) {
  // A quarter of a meridian of 6371.0088 km: pi / 2 * 6371.0088 / 200 ms.
  const ReadResult result = read(graph(
      R"(<node id="0"><data key="a">0</data><data key="o">10</data></node>
<node id="1"><data key="a">90</data><data key="o">-50</data></node>)" +
      edge("8e9")));
  EXPECT_NEAR(arc(result.platform, "0", "1").latency.value, 50.0378e-3, 1e-7);
  EXPECT_EQ(arc(result.platform, "1", "0").bandwidth.value, 1e9);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Graphml, SpeedsWithUnits) {
  const auto bandwidth = [](const std::string& units) {
    return arc(read(graph(kTwo + R"(<edge source="0" target="1"><data key="v">2.5</data>
<data key="u">)" + units + "</data></edge>"))
                   .platform,
               "0", "1")
        .bandwidth.value;
  };
  EXPECT_EQ(bandwidth("K"), 2.5e3 / 8);
  EXPECT_EQ(bandwidth("M"), 2.5e6 / 8);
  EXPECT_EQ(bandwidth("G"), 2.5e9 / 8);
  EXPECT_THAT(refusal([&] { return bandwidth("Q"); }),
              HasSubstr("line 5: LinkSpeedUnits is K, M, G or T, not 'Q'"));
}

TEST(Graphml, NamesDirectionsAndLoops) {
  const ReadResult result = read(graph(
      R"(<data key="l">the net</data><node id="x"><data key="l">A</data></node>
<node id="y"><data key="l">A</data><data key="i">0</data></node>
<node id="z"><data key="h">1</data></node>
<edge source="x" target="y"><data key="k7">8</data></edge>
<edge source="y" target="z" directed="false"><data key="k7">8</data></edge>
<edge source="z" target="z"><data key="k7">8</data></edge>)",
      "directed"));
  EXPECT_EQ(result.platform.name(), "the net");
  EXPECT_THAT(counts(result.platform), ElementsAre(2, 1, 3, 0));
  EXPECT_TRUE(result.platform.find_node("A (y)"));
  EXPECT_TRUE(result.platform.node(*result.platform.find_node("z")).relay);
  EXPECT_THAT(result.notes, ElementsAre("no latency for 2 links: an end has no coordinates",
                                        "left out 1 link from a node to itself",
                                        "1 nodes belong to other networks (Internal is 0)"));
}

// As written by NetworkX and similar programs from attributes with the platform file's names.
TEST(Graphml, ThePlatformFilesNames) {
  const ReadResult result = read(R"(<graphml>
<key id="d0" for="node" attr.name="relay"/><key id="d1" for="node" attr.name="send"/>
<key id="d2" for="node" attr.name="group"/><key id="d3" for="graph" attr.name="name"/>
<key id="d4" for="edge" attr.name="bandwidth_Gbps"><default>8</default></key>
<key id="d5" for="edge" attr.name="latency"/><key id="d6" for="edge" attr.name="overhead_us"/>
<graph edgedefault="undirected"><data key="d3">net</data>
<node id="a"><data key="d1">1 GB/s</data><data key="d2">x/y</data></node>
<node id="b"><data key="d0">True</data></node><node id="c"/>
<edge source="a" target="b"><data key="d5">5 ms</data><data key="d6">2</data></edge>
<edge source="b" target="c"><data key="d4">16</data><data key="d5">0 s</data></edge>
</graph></graphml>)");
  EXPECT_THAT(result.notes, IsEmpty());
  EXPECT_EQ(result.platform.name(), "net");
  EXPECT_THAT(counts(result.platform), ElementsAre(2, 1, 4, 0));
  EXPECT_EQ(result.platform.nodes()[0].send, BytesPerSecond{1e9});
  EXPECT_EQ(result.platform.nodes()[0].group, "x/y");
  EXPECT_TRUE(result.platform.nodes()[1].relay);
  EXPECT_EQ(arc(result.platform, "a", "b").bandwidth.value, 1e9) << "the key's default";
  EXPECT_EQ(arc(result.platform, "b", "c").bandwidth.value, 2e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, "b", "a").latency.value, 5e-3);
  EXPECT_DOUBLE_EQ(arc(result.platform, "b", "a").overhead.value, 2e-6);
}

TEST(Graphml, PositionsAreFromXAndYOtherwiseFromCoordinates) {
  const Platform net = read(R"(<graphml><key id="x" for="node" attr.name="x"/>
<key id="y" for="node" attr.name="y"/><key id="a" attr.name="Latitude"/>
<key id="o" attr.name="Longitude"/><graph edgedefault="directed">
<node id="a"><data key="x">-1e3</data><data key="y">2</data><data key="a">48</data>
<data key="o">11</data></node>
<node id="b"><data key="a">48</data><data key="o">11</data></node>
<node id="c"><data key="x">1</data></node></graph></graphml>)")
                           .platform;
  EXPECT_EQ(net.nodes()[0].position, (Position{-1000, 2}));
  EXPECT_EQ(net.nodes()[1].position, (Position{11, 48}));
  EXPECT_FALSE(net.nodes()[2].position);
  EXPECT_EQ(refused(R"(<graphml><key id="x" for="node" attr.name="x"/>
<graph edgedefault="directed"><node id="a"><data key="x">nan</data></node></graph></graphml>)"),
            "g.graphml: line 2: x is a number, not 'nan'");
}

TEST(Graphml, NamesAreIdsIfXmlAllowsThem) {
  const auto written = [](const std::string& name) {
    PlatformBuilder builder("x");
    builder.node_named("aws:us-east-1");
    builder.node_named(name);
    return write_platform(std::move(builder).build(), "graphml");
  };
  EXPECT_THAT(written("b"), HasSubstr("<node id=\"aws:us-east-1\">"));
  EXPECT_THAT(written("two words"), HasSubstr("<node id=\"n0\"><data key=\"label\">aws:us"));
}

TEST(Graphml, Refusals) {
  EXPECT_EQ(refused("<graphml><key id='b' attr.name='bandwidth_lots'/></graphml>").substr(0, 38),
            "g.graphml: line 1: rate '1 lots': unkn");
  EXPECT_THAT(
      refused(
          graph("<node id='0'/>")
              .replace(0, 9, "<graphml><key id='n' attr.name='relay'><default>so</default></key>")),
      HasSubstr("relay is true or false, not 'so'"));

  EXPECT_EQ(refused("<a/>"), "g.graphml: there is no element <graphml>");
  EXPECT_EQ(refused("<graphml/>"), "g.graphml: there is no element <graph>");
  EXPECT_EQ(refused("<graphml><graph/></graphml>"),
            "g.graphml: line 1: <graph> has no attribute 'edgedefault'");
  EXPECT_EQ(refused(graph("", "both")),
            "g.graphml: line 4: edgedefault is directed or undirected, not 'both'");
  EXPECT_EQ(refused(graph("")), "g.graphml: the graph has no nodes");
  EXPECT_EQ(refused(graph("<node/>")), "g.graphml: line 5: <node> has no attribute 'id'");
  EXPECT_EQ(refused(graph("<node id='0'><data key='z'/></node>")),
            "g.graphml: line 5: there is no key 'z'");
  EXPECT_EQ(refused(graph("<node id='0'><graph/></node>")),
            "g.graphml: line 5: a graph inside a node is not supported");
  EXPECT_EQ(refused(graph("<node id='0'/><node id='0'/>")),
            "g.graphml: line 5: two nodes have the id '0'");
  EXPECT_EQ(refused(graph("<node id='0'><data key='a'>north</data></node>")),
            "g.graphml: line 5: Latitude is a number, not 'north'");
  EXPECT_EQ(refused(graph("<node id='0'><data key='a'>91</data><data key='o'>0</data></node>")),
            "g.graphml: line 5: no such place: latitude 91, longitude 0");
  EXPECT_EQ(refused(graph(kTwo + "<edge source='0' target='2'/>")),
            "g.graphml: line 5: there is no node of id '2'");
  EXPECT_EQ(refused(graph(kTwo + edge("0"))),
            "g.graphml: line 5: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(refused(graph(kTwo + "<hyperedge/>")),
            "g.graphml: line 5: element <hyperedge> is not supported");
  EXPECT_EQ(refused(graph("</graph><graph edgedefault='directed'>")),
            "g.graphml: there is more than one graph");
}

}  // namespace
}  // namespace espalier::platforms::graphml_test
