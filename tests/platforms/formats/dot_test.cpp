#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::dot_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

ReadResult read(const std::string& text) {
  return parse_platform(text, "g.dot");
}

std::string refused(const std::string& text) {
  return refusal_as("dot", text, "g.dot");
}

double bandwidth(const std::string& attributes) {
  return arc(read("digraph { a -> b [" + attributes + "] }").platform, "a", "b").bandwidth.value;
}

TEST(Dot, ADirectedGraph) {
  const ReadResult result = read(R"(// three
digraph "the net" {
  b [send="2 Gbit/s", receive_Bps=5, group="x/y"];
  sw [relay=true];
  edge [bandwidth="8 Gbit/s"];
  a -> {b sw} [latency="5 us", overhead_us=2];
  b -> a [bandwidth="1 GB/s"];
})");
  EXPECT_EQ(result.format, "dot");
  EXPECT_THAT(result.notes, IsEmpty());
  const Platform& net = result.platform;
  EXPECT_EQ(net.name(), "the net");
  ASSERT_EQ(net.nodes().size(), 3U);
  EXPECT_EQ(net.nodes()[0].name, "b") << "in the order of mention";
  EXPECT_EQ(net.nodes()[0].send, BytesPerSecond{0.25e9});
  EXPECT_EQ(net.nodes()[0].receive, BytesPerSecond{5});
  EXPECT_EQ(net.nodes()[0].group, "x/y");
  EXPECT_TRUE(net.nodes()[1].relay);
  ASSERT_EQ(net.arcs().size(), 3U);
  EXPECT_EQ(arc(net, "a", "sw").bandwidth.value, 1e9);
  EXPECT_DOUBLE_EQ(arc(net, "a", "b").latency.value, 5e-6);
  EXPECT_DOUBLE_EQ(arc(net, "a", "b").overhead.value, 2e-6);
}

TEST(Dot, UndirectedLinksHaveBothDirectionsAndParallelOnesMerge) {
  const ReadResult result = read(
      "graph { a -- b [bandwidth_MBps=1]; b -- a [bandwidth_MBps=2]; a -- a [bandwidth_Bps=1] }");
  ASSERT_EQ(result.platform.arcs().size(), 2U);
  EXPECT_EQ(arc(result.platform, "b", "a").bandwidth.value, 3e6);
  EXPECT_EQ(result.platform.name(), "g") << "of the file";
  EXPECT_THAT(result.notes, ElementsAre("left out 1 link from a node to itself",
                                        "merged 4 parallel links a -> b, b -> a"));
}

TEST(Dot, DirGivesTheDirection) {
  const auto arcs = [](const std::string& text) {
    std::vector<std::string> ends;
    const Platform platform = read(text).platform;
    for (const Arc& arc : platform.arcs()) {
      ends.push_back(platform.node(arc.from).name + platform.node(arc.to).name);
    }
    return ends;
  };
  EXPECT_THAT(arcs("digraph { a -> b [bandwidth_Bps=1, dir=both] }"), ElementsAre("ab", "ba"));
  EXPECT_THAT(arcs("digraph { a -> b [bandwidth_Bps=1, dir=none] }"), ElementsAre("ab", "ba"));
  EXPECT_THAT(arcs("digraph { a -> b [bandwidth_Bps=1, dir=back] }"), ElementsAre("ba"));
  EXPECT_THAT(arcs("graph { a -- b [bandwidth_Bps=1, dir=forward] }"), ElementsAre("ab"));
}

TEST(Dot, UnitsInNamesOrValuesAndLabels) {
  EXPECT_EQ(bandwidth("bandwidth=\"10 Gbit/s\""), 1.25e9);
  EXPECT_EQ(bandwidth("bandwidth_Gbps=10"), 1.25e9);
  EXPECT_EQ(bandwidth("\"bandwidth_Gbit/s\"=10"), 1.25e9);
  EXPECT_EQ(bandwidth("label=\"10 Gbps\", len=2, weight=3"), 1.25e9);
  EXPECT_EQ(bandwidth("label=\"10 Gbps\", bandwidth_Bps=7"), 7) << "the attribute takes precedence";
}

TEST(Dot, LinksWithoutASpeedAreLeftOutOrGetOne) {
  const std::string text = "graph { a -- b [label=\"10G\"]; b -- c [bandwidth_Bps=1] }";
  EXPECT_THAT(
      read(text).notes,
      ElementsAre("left out 1 link without a speed; give them one with --missing-bandwidth"));
  EXPECT_EQ(read(text).platform.arcs().size(), 2U);
  ReadOptions options;
  options.missing_bandwidth = "8 bit/s";
  EXPECT_EQ(arc(parse_platform(text, "x", options).platform, "a", "b").bandwidth.value, 1);
}

TEST(Dot, LatencyIsFromCoordinatesUnlessGiven) {
  const ReadResult result = read(R"(graph { edge [bandwidth_Bps=1]
    a [Latitude=0, Longitude=10]; b [latitude=90, longitude=-50];
    a -- b; b -- a [latency_ms=3]; a -- c })");
  EXPECT_NEAR(arc(result.platform, "a", "b").latency.value, 3e-3, 1e-12)
      << "the smaller latency is kept";
  const ReadResult far = read(
      "graph { a [Latitude=0, Longitude=10]; b [Latitude=90, Longitude=-50]; a -- b "
      "[bandwidth_Bps=1] }");
  EXPECT_NEAR(arc(far.platform, "a", "b").latency.value, 50.0378e-3, 1e-7);
}

TEST(Dot, PositionsAreFromXAndYThenCoordinatesThenPos) {
  const Platform net = read(R"(graph {
  a [pos="1.5,-2e3!"];
  b [pos="1,2,3"];
  c [Latitude=48, Longitude=11, pos="1,2"];
  d [x=3, y=4, Latitude=48, Longitude=11];
  e [x=3];
})")
                           .platform;
  ASSERT_EQ(net.nodes().size(), 5U);
  EXPECT_EQ(net.nodes()[0].position, (Position{1.5, -2000}));
  EXPECT_EQ(net.nodes()[1].position, (Position{1, 2}));
  EXPECT_EQ(net.nodes()[2].position, (Position{11, 48}));
  EXPECT_EQ(net.nodes()[3].position, (Position{3, 4}));
  EXPECT_FALSE(net.nodes()[4].position);
  for (const std::string pos : {"1", "1,", ",1", "1,2,", "1,2,3,4", "1,b", "1,inf", "1,2!!", "!"}) {
    EXPECT_EQ(refused("graph { a [pos=\"" + pos + "\"] }"),
              "g.dot: node a: pos is 'x,y', not '" + pos + "'");
  }
  EXPECT_EQ(refused("graph { a [x=east, y=1] }"), "g.dot: node a: x is a number, not 'east'");
}

TEST(Dot, Refusals) {
  EXPECT_EQ(refused("digraph {\n a -> ;\n}"), "g.dot: line 2: syntax error near ';'");
  EXPECT_THAT(refused("digraph { a [b=\"c }"),
              HasSubstr("g.dot: line 1: syntax error scanning a quoted string (missing endquote?"));
  EXPECT_THAT(refused("digraph {\n a [b=<c }"),
              HasSubstr("g.dot: line 2: syntax error scanning a HTML string (missing '>'?"));
  EXPECT_EQ(refused("/* graph"), "g.dot: there is no graph");
  for (const std::string rest : {"x", "}", "/* ", "\"", "<"}) {
    EXPECT_EQ(refused("graph {a} " + rest), "g.dot: there is text after the graph") << rest;
  }
  EXPECT_EQ(refused("graph {}"), "g.dot: the graph has no nodes");
  EXPECT_EQ(refused(""), "g.dot: there is no graph");
  EXPECT_EQ(refused(std::string("graph {\0}", 9)), "g.dot: line 1: syntax error");
  EXPECT_EQ(refused("graph {" + std::string(100'000, '{')),
            "g.dot: line 1: memory exhausted near '{'");
  EXPECT_EQ(refused("digraph { a -> b [bandwidth=10] }"),
            "g.dot: a -> b: rate '10': the unit is missing (bit/s, b/s, bps, B/s or Bps, with k M "
            "G T or Ki Mi Gi Ti before it)");
  EXPECT_THAT(refused("graph { a -- b [bandwidth_gb=10] }"), HasSubstr("g.dot: rate '1 gb'"));
  EXPECT_EQ(refused("graph { a -- b [bandwidth_Bps=1, bandwidth=\"1 B/s\"] }"),
            "g.dot: a -- b: both 'bandwidth' and 'bandwidth_Bps' are given");
  EXPECT_EQ(refused("graph { a -- b [bandwidth_Bps=0] }"),
            "g.dot: a -- b: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(refused("graph { a [relay=perhaps] }"),
            "g.dot: node a: relay is true or false, not 'perhaps'");
  EXPECT_EQ(refused("graph { a [Latitude=x, Longitude=1] }"),
            "g.dot: node a: Latitude is a number, not 'x'");
  EXPECT_THAT(refused("graph { \"%1\" }"), HasSubstr("a node's name must not start with '%'"));
}

TEST(Dot, ReadsRightAfterARefusal) {
  refused("digraph {\n a -> ;\n b -> c [bandwidth_Bps=1] }");
  EXPECT_EQ(read("digraph { a -> b [bandwidth_Bps=1] }").platform.arcs().size(), 1U);
}

TEST(Dot, WhatCannotBeWritten) {
  const auto written = [](const std::string& name) {
    PlatformBuilder builder("x");
    builder.node_named(name);
    return refusal([&] { return write_platform(std::move(builder).build(), "dot"); });
  };
  EXPECT_EQ(written("a\\"), "dot cannot represent 'a\\': a backslash before a quote or the end");
  EXPECT_EQ(written("a\\\"b"),
            "dot cannot represent 'a\\\"b': a backslash before a quote or the end");
  EXPECT_EQ(written("a\\\\"), "(not refused)");
  EXPECT_EQ(written("%1"), "dot cannot represent the name '%1': it starts with %");
}

TEST(Dot, IsDetected) {
  const auto detects = [](const std::string& text) {
    return refusal([&] { return parse_platform(text, "x").format; }) == "(not refused)";
  };
  EXPECT_TRUE(detects("# made by hand\n/* a */ strict  DiGraph\"x\"{a}"));
  EXPECT_TRUE(detects("\xEF\xBB\xBFgraph{a}"));
  EXPECT_FALSE(detects("graphs {a}"));
  EXPECT_FALSE(detects("graph of things"));
}

}  // namespace
}  // namespace espalier::platforms::dot_test
