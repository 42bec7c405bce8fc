#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "platforms/formats/formats.hpp"
#include "support/files.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::osu_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kBandwidth =
    "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n"
    "1                       2.99\n1048576              3550.39\n4194304              3541.10\n";
const std::string kLatency =
    "# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
    "1                      19.11\n2                      19.22\n";

ReadResult read(const std::string& text, const std::string& file = "runs/a__b.bw",
                const std::string& size = "") {
  ReadOptions options;
  options.osu_size = size;
  return parse_platform(text, file, options);
}

double bandwidth(const ReadResult& result) {
  return result.platform.arcs()[0].bandwidth.value;
}

std::string refused(const std::string& text, const std::string& file = "a__b.bw") {
  return refusal([&] { return read(text, file); });
}

TEST(Osu, TheFileNameGivesThePair) {
  const ReadResult result = read(kBandwidth);
  EXPECT_EQ(result.format, "osu");
  ASSERT_EQ(result.platform.arcs().size(), 1U);
  EXPECT_EQ(result.platform.node(result.platform.arcs()[0].from).name, "a");
  EXPECT_EQ(result.platform.node(result.platform.arcs()[0].to).name, "b");
  const Platform dotted = read(kBandwidth, "n1.x.org__n2.x.org__run3.bw").platform;
  EXPECT_TRUE(dotted.find_node("n1.x.org"));
  EXPECT_TRUE(dotted.find_node("n2.x.org")) << "without the label of the run";
}

TEST(Osu, UsesTheFastestSizeOrTheRequestedOne) {
  EXPECT_DOUBLE_EQ(bandwidth(read(kBandwidth)), 3550.39e6);
  EXPECT_DOUBLE_EQ(bandwidth(read(kBandwidth, "a__b.bw", "4MiB")), 3541.10e6);
  EXPECT_EQ(refusal([] { return read(kBandwidth, "a__b.bw", "2MiB"); }),
            "a__b.bw: no figure for messages of 2 MiB");
  EXPECT_EQ(refusal([] { return read(kBandwidth, "a__b.bw", "2MiX"); }).substr(0, 25),
            "--osu-size: size '2MiX': ");
}

// Both tests of a pair in one file, with output of mpirun in between.
TEST(Osu, TheLatencyIsThatOfTheSmallestMessage) {
  const ReadResult result =
      read("Warning: untrusted host\n" + kBandwidth + "\nslurmstepd: error: no such file\n" +
           kLatency + "0                      18.50\n");
  EXPECT_DOUBLE_EQ(result.platform.arcs()[0].latency.value, 18.5e-6);
  EXPECT_DOUBLE_EQ(bandwidth(result), 3550.39e6);
}

TEST(Osu, AFolderOfPairsIsOnePlatform) {
  const std::string folder = ::testing::TempDir() + "espalier-osu";
  std::filesystem::create_directory(folder);
  write_text(folder + "/a__b.bw", kBandwidth);
  write_text(folder + "/b__a.bw", kBandwidth);
  write_text(folder + "/a__b.latency", kLatency);
  write_text(folder + "/b__c.latency", kLatency);
  write_text(folder + "/a__c.bw", "# OSU MPI-CUDA Bandwidth Test v5.8\n");
  const ReadResult result = read_platform(folder + "/");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(result.platform.name(), "espalier-osu");
  EXPECT_EQ(result.platform.arcs().size(), 2U);
  for (const Arc& arc : result.platform.arcs()) EXPECT_DOUBLE_EQ(arc.latency.value, 19.11e-6);
  EXPECT_THAT(result.notes, ElementsAre("left out 1 failed measurement, first " + folder +
                                            "/a__c.bw: a table without figures",
                                        "left out the latencies of 1 pair without a bandwidth"));
}

TEST(Osu, Refusals) {
  EXPECT_EQ(refused(kBandwidth, "ab.bw"),
            "ab.bw: the file name must give the pair, as in FROM__TO.bw, but it has no '__'");
  EXPECT_EQ(refused(kBandwidth, "<stdin>"),
            "<stdin>: the file name must give the pair, as in FROM__TO.bw, but it has no '__'");
  EXPECT_EQ(refused(kBandwidth, "a__.bw"),
            "a__.bw: the file name must be FROM__TO.bw: a host name must not be empty");
  EXPECT_EQ(refused(kBandwidth, "a__a.bw"),
            "a__a.bw: the host measured itself; measure between two hosts");
  EXPECT_EQ(refused("# OSU MPI Bi-Directional Bandwidth Test v5.8\n1 2.0\n"),
            "a__b.bw: line 1: 'MPI Bi-Directional Bandwidth' is neither osu_bw nor osu_latency");
  EXPECT_EQ(refused("# OSU MPI_Put Bandwidth Test v5.8\n1 2.0\n"),
            "a__b.bw: line 1: 'MPI_Put Bandwidth' is neither osu_bw nor osu_latency");
  EXPECT_EQ(refused("# OSU MPI Bandwidth Test v5.8\n1 fast\n"),
            "a__b.bw: line 2: expected a size and a figure, got '1 fast'");
  EXPECT_EQ(refused("# OSU MPI Bandwidth Test v5.8\n1 -2\n"),
            "a__b.bw: line 2: the figure '-2' is below 0");
  EXPECT_EQ(refused("# OSU MPI Bandwidth Test v5.8\n1 2.0 Fail\n"),
            "a__b.bw: the measurement failed: the validation failed");
  EXPECT_EQ(refused("# OSU MPI Bandwidth Test v5.8\n1 0.00\n"),
            "a__b.bw: the measurement failed: nothing was received");
  EXPECT_EQ(refused(kLatency), "a__b.bw: there are latencies but no bandwidths");
  ReadOptions named;
  named.format = "osu";
  EXPECT_EQ(refusal([&] { return parse_platform("1 2\n", "a__b.bw", named); }),
            "a__b.bw: there is no line '# OSU MPI ... Test'");
}

}  // namespace
}  // namespace espalier::platforms::osu_test
