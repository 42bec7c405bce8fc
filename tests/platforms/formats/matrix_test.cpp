#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/formats/formats.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::matrix_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

std::string read(std::string_view text) {
  ReadOptions options;
  options.format = "matrix";
  return refusal([&] { return parse_platform(text, "m.csv", options); });
}

TEST(Matrix, RowsSendToColumns) {
  const ReadResult result = parse_platform(
      "# name: three\n"
      "bandwidth_Gbps,a,b,c\n"
      "a,1,8,\n"
      "b,-,NaN,16\n"
      "c,0.0,4,nan\n",
      "m.csv");
  EXPECT_EQ(result.format, "matrix");
  EXPECT_EQ(result.platform.name(), "three");
  ASSERT_EQ(result.platform.arcs().size(), 3U) << "no link on the diagonal and for missing values";
  const auto arcs = result.platform.arcs();
  EXPECT_EQ(arcs[0].from, NodeId{0});
  EXPECT_EQ(arcs[0].to, NodeId{1});
  EXPECT_EQ(arcs[0].bandwidth.value, 1e9);
  EXPECT_EQ(arcs[1].from, NodeId{1});
  EXPECT_EQ(arcs[1].to, NodeId{2});
  EXPECT_EQ(arcs[1].bandwidth.value, 2e9);
  EXPECT_EQ(arcs[2].from, NodeId{2});
  EXPECT_EQ(arcs[2].to, NodeId{1});
}

TEST(Matrix, UnitsMayBeInTheCells) {
  const Platform platform =
      parse_platform("bandwidth,a,b\na,,1 GB/s\nb,8 Gbit/s,\n", "m.csv").platform;
  EXPECT_EQ(platform.arcs()[0].bandwidth.value, 1e9);
  EXPECT_EQ(platform.arcs()[1].bandwidth.value, 1e9);
}

TEST(Matrix, RefusalsNameTheLine) {
  EXPECT_EQ(read(""), "m.csv: there is no header line");
  EXPECT_EQ(read("Gbps,a,b\n"),
            "m.csv: line 1: the first cell must be 'bandwidth_UNIT' (bandwidth_Gbps), not 'Gbps'");
  EXPECT_THAT(read("bandwidth_Gfoo,a,b\n"),
              StartsWith("m.csv: line 1: rate '1 Gfoo': unknown unit 'Gfoo'"));
  EXPECT_EQ(read("bandwidth_Bps,a,a\n"), "m.csv: line 1: two nodes are named 'a'");
  EXPECT_EQ(read("bandwidth_Bps,a,\n"), "m.csv: line 1: a node's name must not be empty");
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,,1\n"), "m.csv: line 2: the rows end here: 1 of 2");
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,,1\nb,1,\nc,1,1\n"),
            "m.csv: line 4: more rows than the 2 columns");
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,,1\nc,1,\n"),
            "m.csv: line 3: row 'c' where the columns have 'b'");
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,1\nb,1,\n"),
            "m.csv: line 2: 1 cells where there are 2 columns");
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,,-1\nb,1,\n"),
            "m.csv: line 2: column 'b': a bandwidth must be finite and positive, not -1 B/s");
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,,fast\nb,1,\n"),
            "m.csv: line 2: column 'b': expected a number (the column is in Bps), got 'fast'");
}

TEST(Matrix, WhatIsWrittenReadsBackTheSame) {
  PlatformBuilder builder("m");
  const NodeId a = builder.node_named("a,b");
  const NodeId b = builder.node_named("b");
  builder.node_named("lonely");
  builder.add_arc({a, b, {0.1 + 0.2}, {}, {}});
  builder.add_arc({b, a, {1e14 / 3}, {}, {}});
  const Platform platform = std::move(builder).build();
  expect_same(parse_platform(write_platform(platform, "matrix"), "m.csv").platform, platform);
}

TEST(Matrix, RefusesToWriteWhatItCannotRepresent) {
  const auto write = [](Seconds latency, Seconds overhead) {
    PlatformBuilder builder("x");
    const NodeId a = builder.node_named("a");
    const NodeId b = builder.node_named("b");
    builder.add_arc({a, b, {1}, latency, overhead});
    const Platform platform = std::move(builder).build();
    return refusal([&] { return write_platform(platform, "matrix"); });
  };
  EXPECT_EQ(write({1}, {0}), "a matrix cannot represent latencies; write JSON instead");
  EXPECT_EQ(write({0}, {1}), "a matrix cannot represent overheads; write JSON instead");
  EXPECT_EQ(write({0}, {0}), "(not refused)");
}

}  // namespace
}  // namespace espalier::platforms::matrix_test
