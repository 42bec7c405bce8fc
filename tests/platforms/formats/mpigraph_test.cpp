#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::mpigraph_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kHead = "START mpiGraph v1.5\nSend avg\t3.0\n\nSend\ta:0\tb:1\t\n";

std::string refused(const std::string& text) {
  return refusal([&] { return parse_platform(text, "m.txt"); });
}

// Values from the file: row vm:0, column vm:5; row vm:5, column vm:0; MiB/s.
TEST(Mpigraph, RowsSendToColumns) {
  const ReadResult result =
      read_platform(ESPALIER_SOURCE_DIR "/platforms/data/measured/mpigraph-6-ranks.txt");
  EXPECT_EQ(result.format, "mpigraph");
  const Platform& platform = result.platform;
  EXPECT_EQ(platform.hosts().size(), 6U);
  EXPECT_EQ(platform.arcs().size(), 30U);
  EXPECT_EQ(platform.nodes()[5].name, "vm:5");
  EXPECT_DOUBLE_EQ(arc(platform, 0, 5).bandwidth.value, 7383.910 * 1048576);
  EXPECT_DOUBLE_EQ(arc(platform, 5, 0).bandwidth.value, 2786.658 * 1048576);
}

TEST(Mpigraph, APairThatMeasuredNothingHasNoLink) {
  const ReadResult result = parse_platform(kHead + "a:0 to\t0\t0.000\nb:1 to\t2\t0\n", "m.txt");
  EXPECT_EQ(result.platform.arcs().size(), 1U);
  EXPECT_THAT(result.notes, Contains("1 pairs measured 0: no link"));
}

TEST(Mpigraph, ColumnsHaveALimit) {
  EXPECT_EQ(refused("START mpiGraph v1.5\nSend\t" + std::string(20'000'000, '\t') + "\n"),
            "m.txt: line 2: more than 10000 ranks");
}

TEST(Mpigraph, Refusals) {
  EXPECT_EQ(refused("START mpiGraph v1.5\n"), "m.txt: there is no line 'Send' with the ranks");
  EXPECT_EQ(refused(kHead + "a:0 to\t0\t1\n"),
            "m.txt: 1 rows of 'Send' for 2 ranks: the file is cut short");
  EXPECT_EQ(refused(kHead + "a:0 to\t0\n"), "m.txt: line 5: 1 values for 2 ranks");
  EXPECT_EQ(refused(kHead + "b:1 to\t0\t1\n"),
            "m.txt: line 5: expected the row of 'a:0 to', got 'b:1 to'");
  EXPECT_EQ(refused(kHead + "a:0 to\t0\tfast\n"), "m.txt: line 5: expected a number, got 'fast'");
  EXPECT_EQ(refused(kHead + "a:0 to\t0\t-1\n"),
            "m.txt: line 5: a bandwidth must be finite and positive, not -1048576 B/s");
  EXPECT_EQ(refused("START mpiGraph\nSend\ta\ta\n"), "m.txt: line 2: two nodes are named 'a'");
}

}  // namespace
}  // namespace espalier::platforms::mpigraph_test
