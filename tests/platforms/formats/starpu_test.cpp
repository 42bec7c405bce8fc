#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/files.hpp"
#include "tests/platforms/figures.hpp"

namespace espalier::platforms::starpu_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kMeasured = ESPALIER_SOURCE_DIR "/platforms/data/measured/";
const std::string kHead = "# to 0\t\tto 1\t\tto 2\t\t\n";

std::string refused(const std::string& text) {
  return refusal_as("starpu", text, "bus");
}

// Counted with awk: 32 rows, with 7 x 7 cells that are not nan and, except on the diagonal, not 0.
// The values are from row 0, column 3 and from row 3, column 0.
TEST(Starpu, AttilaHasSevenMemoryNodes) {
  ReadOptions options;
  options.latencies = kMeasured + "attila.latency";
  const ReadResult result = read_platform(kMeasured + "attila.bandwidth", options);
  EXPECT_EQ(result.format, "starpu");
  EXPECT_EQ(result.platform.hosts().size(), 7U);
  EXPECT_EQ(result.platform.arcs().size(), 42U);
  EXPECT_THAT(result.notes, ElementsAre("left out 25 memory nodes that do not exist"));
  EXPECT_DOUBLE_EQ(arc(result.platform, "0", "3").bandwidth.value, 5191.265149e6);
  EXPECT_DOUBLE_EQ(arc(result.platform, "3", "0").bandwidth.value, 4533.335723e6);
  EXPECT_DOUBLE_EQ(arc(result.platform, "0", "3").latency.value, 10.237367e-6);
  EXPECT_DOUBLE_EQ(arc(result.platform, "3", "0").latency.value, 11.149320e-6);
}

TEST(Starpu, NamesTheFileOfLatencies) {
  const ReadResult result = read_platform(kMeasured + "attila.bandwidth");
  EXPECT_THAT(result.notes,
              Contains("no latencies; read them with --latencies " + kMeasured + "attila.latency"));
  EXPECT_EQ(arc(result.platform, "0", "3").latency.value, 0);
}

TEST(Starpu, PairsWithoutFiguresAreCounted) {
  const ReadResult result =
      parse_platform(kHead + "0 10 20\n5 0 nan\n\n# more\n0.0 nan 0\n", "bus");
  EXPECT_EQ(result.platform.arcs().size(), 3U);
  EXPECT_THAT(result.notes, ElementsAre("3 pairs have no figure: no link"));
}

TEST(Starpu, Refusals) {
  EXPECT_EQ(refused(""), "bus: the file is empty");
  EXPECT_EQ(refused("# GPU0 CPU1\n"), "bus: line 1: the first line must be '# to 0 to 1 ...'");
  EXPECT_EQ(refused(kHead + "0 1 2\n"), "bus: 1 rows for 3 memory nodes: the file is cut short");
  EXPECT_EQ(refused(kHead + "0 1\n"), "bus: line 2: 2 figures where there are 3 columns");
  EXPECT_EQ(refused(kHead + "0 1 2 3\n"), "bus: line 2: 4 figures where there are 3 columns");
  EXPECT_EQ(refused(kHead + "0 fast 2\n"), "bus: line 2: expected a number, got 'fast'");
  EXPECT_EQ(refused(kHead + "0 -1 2\n"),
            "bus: line 2: a bandwidth must be finite and positive, not -1000000 B/s");
  EXPECT_EQ(refused(kHead + "0 1 2\n1 0 1\n1 1 0\n1 1 1\n"),
            "bus: line 5: more rows than the 3 columns");
  EXPECT_EQ(refusal([] { return read_platform(kMeasured + "attila.latency"); }),
            kMeasured +
                "attila.latency: this file contains latencies; give the file of bandwidths, and "
                "this one as --latencies");
}

TEST(Starpu, RefusesLatenciesOfAnotherMachine) {
  ReadOptions options;
  options.latencies = kMeasured + "attila.latency";
  EXPECT_EQ(
      refusal([&] { return parse_platform(kHead + "0 1 2\n1 0 1\n1 1 0\n", "bus", options); }),
      kMeasured + "attila.latency: 32 memory nodes where bus has 3");
  options.latencies = ::testing::TempDir() + "/espalier.latency";
  write_text(options.latencies, kHead + "0 1 nan\n1 0 -2\n1 1 0\n");
  EXPECT_EQ(
      refusal([&] { return parse_platform(kHead + "0 1 2\n1 0 1\n1 1 0\n", "bus", options); }),
      options.latencies + ": line 3: a latency must be finite and not negative, not -2e-06 s");
  write_text(options.latencies, kHead + "0 1 nan\n1 0 2\n1 1 0\n");
  EXPECT_THAT(parse_platform(kHead + "0 1 2\n1 0 1\n1 1 0\n", "bus", options).notes,
              ElementsAre("no latency for 1 link: taken as 0"));
  std::filesystem::remove(options.latencies);
}

}  // namespace
}  // namespace espalier::platforms::starpu_test
