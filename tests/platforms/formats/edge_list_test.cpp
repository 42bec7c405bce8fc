#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/formats/formats.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::edge_list_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

std::string read(std::string_view text) {
  ReadOptions options;
  options.format = "edges";
  return refusal([&] { return parse_platform(text, "e.csv", options); });
}

TEST(Edges, ReadsTablesOfRegions) {
  const ReadResult result = parse_platform(
      "region,region,rate_Gbps,latency_ms\naws:us-east-1,aws:us-east-1,50,0\n"
      "aws:us-east-1,gcp:us-west1,4,30\ngcp:us-west1,aws:us-east-1,8,31\n",
      "regions.csv");
  EXPECT_EQ(result.format, "edges");
  EXPECT_EQ(result.platform.arcs().size(), 2U);
  EXPECT_EQ(result.platform.arcs()[1].bandwidth.value, 1e9);
  EXPECT_EQ(result.platform.nodes()[0].name, "aws:us-east-1");
  EXPECT_THAT(result.notes, ElementsAre("left out 1 row from a region to itself"));
  EXPECT_EQ(read("region,rate\n"), "e.csv: line 1: there is no column 'to'");
}

TEST(Edges, ReadsColumnsByNameInAnyOrder) {
  const ReadResult result = parse_platform(
      "# name: two hosts\r\n"
      "\r\n"
      "bandwidth_Gbps , to,from,latency_ms,overhead_us\r\n"
      "# a comment\r\n"
      "10,b,a,0.5,2\r\n"
      " 8 , a , b ,,\r\n",
      "dir/net.csv");
  const Platform& platform = result.platform;
  EXPECT_EQ(result.format, "edges");
  EXPECT_EQ(platform.name(), "two hosts");
  ASSERT_EQ(platform.nodes().size(), 2U);
  EXPECT_EQ(platform.nodes()[0].name, "a") << "from is named before to";
  ASSERT_EQ(platform.arcs().size(), 2U);
  EXPECT_DOUBLE_EQ(platform.arcs()[0].bandwidth.value, 1.25e9);
  EXPECT_DOUBLE_EQ(platform.arcs()[0].latency.value, 5e-4);
  EXPECT_DOUBLE_EQ(platform.arcs()[0].overhead.value, 2e-6);
  EXPECT_DOUBLE_EQ(platform.arcs()[1].bandwidth.value, 1e9);
  EXPECT_EQ(platform.arcs()[1].latency.value, 0);
}

TEST(Edges, UnitsInTheHeader) {
  const auto bandwidth = [](std::string_view heading) {
    return parse_platform("from,to," + std::string(heading) + "\na,b,8\n", "x")
        .platform.arcs()[0]
        .bandwidth.value;
  };
  EXPECT_EQ(bandwidth("bandwidth_bps"), 1) << "b is a bit";
  EXPECT_EQ(bandwidth("bandwidth_Bps"), 8) << "B is a byte";
  EXPECT_EQ(bandwidth("bandwidth_Gbit/s"), 1e9);
  EXPECT_EQ(bandwidth("bandwidth_MBps"), 8e6);
  EXPECT_EQ(bandwidth("bandwidth_MiB/s"), 8 * 1048576.0);
}

TEST(Edges, UnitsInTheCells) {
  const Platform platform = parse_platform(
                                "from,to,bandwidth,latency\n"
                                "a,b,10 Gbit/s,20 us\n"
                                "b,a,1 GB/s,\n",
                                "x")
                                .platform;
  EXPECT_EQ(platform.arcs()[0].bandwidth.value, 1.25e9);
  EXPECT_DOUBLE_EQ(platform.arcs()[0].latency.value, 20e-6);
  EXPECT_EQ(platform.arcs()[1].bandwidth.value, 1e9);
}

TEST(Edges, QuotedFieldsAndBothWays) {
  const Platform platform = parse_platform(
                                "\"from\",to,bandwidth_Bps,both_ways\n"
                                "\"a, \"\"the first\"\"\",\" b\",5,true\n"
                                "\" b\",c,6,no\n"
                                "c,\"#d\",7,\n",
                                "x")
                                .platform;
  ASSERT_EQ(platform.nodes().size(), 4U);
  EXPECT_EQ(platform.nodes()[0].name, "a, \"the first\"");
  EXPECT_EQ(platform.nodes()[1].name, " b");
  EXPECT_EQ(platform.nodes()[3].name, "#d");
  EXPECT_EQ(platform.arcs().size(), 4U);
}

TEST(Edges, ParallelLinksAreMerged) {
  const ReadResult result = parse_platform("from,to,bandwidth_Bps\na,b,1\na,b,2\n", "e.csv");
  EXPECT_EQ(result.platform.arcs()[0].bandwidth.value, 3);
  EXPECT_THAT(result.notes, ElementsAre("merged 2 parallel links a -> b"));
}

TEST(Edges, RefusalsOfTheHeader) {
  EXPECT_THAT(read("from,to,bandwith_Gbps\n"),
              StartsWith("e.csv: line 1: unknown column 'bandwith_Gbps'"));
  EXPECT_EQ(read("# c\n\nfrom,bandwidth_Bps\n"), "e.csv: line 3: there is no column 'to'");
  EXPECT_EQ(read("from,to,latency_s\n"), "e.csv: line 1: there is no column 'bandwidth'");
  EXPECT_EQ(read("from,to,bandwidth_Bps,bandwidth\n"),
            "e.csv: line 1: two columns give 'bandwidth'");
  EXPECT_THAT(read("from,to,bandwidth_Gfoo\n"),
              StartsWith("e.csv: line 1: rate '1 Gfoo': unknown unit 'Gfoo' (bit/s"));
  EXPECT_THAT(read("from,to,bandwidth_\n"), HasSubstr("the unit is missing"));
  EXPECT_THAT(read("from,to,bandwidth_Bps,latency_h\n"), HasSubstr("unknown unit 'h'"));
  EXPECT_EQ(read(""), "e.csv: there is no header line");
  EXPECT_EQ(read("# only\n"), "e.csv: there is no header line");
}

TEST(Edges, RefusalsOfARow) {
  const std::string head = "from,to,bandwidth_Gbps,latency_ms,both_ways\na,b,1,1,no\n";
  EXPECT_EQ(read(head + "a,b,1\n"), "e.csv: line 3: 3 fields where the header has 5");
  EXPECT_EQ(read(head + "a,b,1,1,,\n"), "e.csv: line 3: 6 fields where the header has 5");
  EXPECT_EQ(read(head + "a,a,1,1,\n"), "e.csv: line 3: a link from 'a' to itself");
  EXPECT_EQ(read(head + ",b,1,1,\n"), "e.csv: line 3: a node's name must not be empty");
  EXPECT_EQ(read(head + "a,b,0,1,\n"),
            "e.csv: line 3: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_THAT(read(head + "a,b,-1,1,\n"), HasSubstr("must be finite and positive"));
  EXPECT_EQ(read(head + "a,b,1,-1,\n"),
            "e.csv: line 3: a latency must be finite and not negative, not -0.001 s");
  for (const char* const cell : {"", "fast", "nan", "inf", "1e999", "10 Gbps", "1;5", "0x1"}) {
    EXPECT_EQ(read(head + "a,b," + cell + ",1,\n"),
              "e.csv: line 3: expected a number (the column is in Gbps), got '" +
                  std::string(cell) + "'");
  }
  EXPECT_EQ(read(head + "a,b,1,1,perhaps\n"),
            "e.csv: line 3: both_ways is true or false, not 'perhaps'");
  EXPECT_EQ(read(head + "\"a,b,1,1,\n"), "e.csv: line 3: a quote is not closed");
  EXPECT_EQ(read(head + "\"a\"x,b,1,1,\n"),
            "e.csv: line 3: expected a comma after the closing quote");
  EXPECT_EQ(read(head + "\xff,b,1,1,\n"),
            "e.csv: line 3: a node's name must be UTF-8 without control characters: '\\xff'");
  EXPECT_THAT(read("from,to,bandwidth\na,b,10\n"),
              StartsWith("e.csv: line 2: rate '10': the unit is missing"));
}

TEST(Edges, EveryTruncationIsRefusedOrAPlatform) {
  const std::string whole = "from,to,bandwidth_Bps\n\"a\",b,15\nb,\"a\",25\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string reason = read(whole.substr(0, length));
    EXPECT_TRUE(reason == "(not refused)" || reason.starts_with("e.csv: ")) << reason;
  }
}

TEST(Edges, TooManyFieldsAreRefused) {
  EXPECT_EQ(read(std::string(10'000'000, ',')), "e.csv: line 1: more than 100000 fields");
}

TEST(Edges, WhatIsWrittenReadsBackTheSame) {
  PlatformBuilder builder("a name, with a comma");
  const NodeId a = builder.node_named("a,\"x\"");
  const NodeId b = builder.node_named("#b ");
  builder.add_arc({a, b, {0.1 + 0.2}, {1e-6}, {0}});
  builder.add_arc({b, a, {1e14 / 3}, {0}, {5e-324}});
  const Platform platform = std::move(builder).build();
  const std::string text = write_platform(platform, "edges");
  EXPECT_THAT(text, StartsWith("# name: a name, with a comma\n"
                               "from,to,bandwidth_Bps,latency_s,overhead_s\n"));
  expect_same(parse_platform(text, "e.csv").platform, platform);
}

TEST(Edges, LeavesOutColumnsThatAreAllZero) {
  const Platform platform = parse_platform("from,to,bandwidth_Bps\na,b,5\n", "n.csv").platform;
  EXPECT_EQ(write_platform(platform, "edges"), "# name: n\nfrom,to,bandwidth_Bps\na,b,5\n");
}

TEST(Edges, RefusesToWriteWhatItCannotRepresent) {
  PlatformBuilder builder("x");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  builder.node_named("lonely");
  builder.add_arc({a, b, {1}, {}, {}});
  const Platform platform = std::move(builder).build();
  EXPECT_EQ(refusal([&] { return write_platform(platform, "edges"); }),
            "an edge list cannot represent 'lonely', which has no links; write JSON instead");
}

}  // namespace
}  // namespace espalier::platforms::edge_list_test
