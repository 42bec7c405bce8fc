#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/files.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/platforms/figures.hpp"

namespace espalier::platforms::skyplane_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/";
constexpr std::string_view kHead =
    "src_region,src_tier,dst_region,dst_tier,tag,throughput_received,success\n";

std::string rows(std::string_view text) {
  return std::string(kHead) + std::string(text);
}

ReadResult parse(std::string_view text, const ReadOptions& options = {}) {
  return parse_platform(rows(text), "grids/jan.csv", options);
}

std::string refused(std::string_view text, const ReadOptions& options = {}) {
  return refusal([&] { return parse(text, options); });
}

TEST(Skyplane, ReadsThe71Regions) {
  ReadOptions options;
  options.latencies = kData + "skyplane/latency.csv";
  options.name = "cloud 71 regions";
  const ReadResult result = read_platform(kData + "skyplane/throughput_2022-11.csv", options);
  EXPECT_EQ(result.format, "skyplane");
  EXPECT_EQ(result.platform.nodes().size(), 71U);
  EXPECT_EQ(result.platform.arcs().size(), 4970U);
  EXPECT_THAT(result.notes, ElementsAre("no latency for 1188 of 4970 links: taken as 0"));
  // aws:eu-north-1 -> azure:eastus: avg_rtt 105.976 ms.
  EXPECT_DOUBLE_EQ(arc(result.platform, "aws:eu-north-1", "azure:eastus").latency.value,
                   105.976 / 2000);
}

TEST(Skyplane, TheSampleIsMadeFromTheGrids) {
  ReadOptions options;
  options.latencies = kData + "skyplane/latency.csv";
  options.name = "cloud 71 regions";
  const ReadResult grid = read_platform(kData + "skyplane/throughput_2022-11.csv", options);
  const std::vector<PrefixCap> send{parse_prefix_cap("aws=5Gbit/s"),
                                    parse_prefix_cap("gcp=7Gbit/s"),
                                    parse_prefix_cap("azure=16Gbit/s")};
  const std::vector<PrefixCap> receive{parse_prefix_cap("aws=10Gbit/s"),
                                       parse_prefix_cap("gcp=16Gbit/s"),
                                       parse_prefix_cap("azure=16Gbit/s")};
  testing::expect_same(with_caps(grid.platform, send, receive),
                       read_platform(kData + "cloud-71-regions.json").platform);
}

TEST(Skyplane, ThroughputIsInBitsPerSecondAndNamedEitherWay) {
  const ReadResult result = parse("a,PREMIUM,b,PREMIUM,x,8000,True\n");
  EXPECT_EQ(result.platform.name(), "jan");
  EXPECT_EQ(result.platform.arcs()[0].bandwidth.value, 1000);
  EXPECT_TRUE(result.notes.empty());
  const Platform misspelt =
      parse_platform("dst_region,src_region,throughput_recieved\nb,a,8000\n", "g").platform;
  EXPECT_EQ(misspelt.arcs()[0].bandwidth.value, 1000);
  EXPECT_EQ(misspelt.nodes()[0].name, "a");
}

TEST(Skyplane, CountsWhatItLeavesOut) {
  const ReadResult result = parse(
      "a,PREMIUM,b,PREMIUM,x,8000,True\n"
      "a,PREMIUM,b,PREMIUM,x,16000,True\n"  // repeated: the mean is used
      "a,PREMIUM,c,STANDARD,x,8000,True\n"
      "c,STANDARD,a,STANDARD,x,8000,True\n"
      "a,PREMIUM,a,PREMIUM,x,8000,True\n"
      "b,PREMIUM,a,PREMIUM,x,,False\n"
      "b,PREMIUM,d,PREMIUM,x,0,True\n");
  EXPECT_EQ(result.platform.nodes().size(), 2U);
  ASSERT_EQ(result.platform.arcs().size(), 1U);
  EXPECT_EQ(result.platform.arcs()[0].bandwidth.value, 1500);
  EXPECT_THAT(
      result.notes,
      ElementsAre("left out 2 rows not of tier PREMIUM at both ends",
                  "left out 2 failed measurements", "left out 1 region without any measurement",
                  "left out 1 row from a region to itself",
                  "took the mean where a pair was measured more than once (1 repeated row)"));
}

TEST(Skyplane, AnotherTierOrAny) {
  constexpr std::string_view kRows =
      "a,PREMIUM,b,PREMIUM,x,8000,True\n"
      "b,STANDARD,c,STANDARD,x,8000,True\n";
  ReadOptions options;
  options.tier = "STANDARD";
  EXPECT_EQ(parse(kRows, options).platform.nodes()[0].name, "b");
  options.tier = "";
  EXPECT_EQ(parse(kRows, options).platform.arcs().size(), 2U);
  options.tier = "GOLD";
  EXPECT_EQ(refused(kRows, options),
            "grids/jan.csv: no row of tier 'GOLD' at both ends; 2 of others");
}

class SkyplaneLatencies : public ::testing::Test {
 protected:
  SkyplaneLatencies() { options_.latencies = file_; }
  ~SkyplaneLatencies() override { std::filesystem::remove(file_); }
  const std::string file_ = ::testing::TempDir() + "/espalier-skyplane-latencies.csv";
  ReadOptions options_;
};

TEST_F(SkyplaneLatencies, AreHalfTheRoundTripOfEitherDirection) {
  write_text(file_,
             "src_region,dst_region,avg_rtt\n"
             "a,b,10\n"
             "a,b,8\n"  // repeated: the smaller value is used
             "elsewhere,b,1\n");
  const ReadResult result = parse(
      "a,PREMIUM,b,PREMIUM,x,8000,True\n"
      "b,PREMIUM,a,PREMIUM,x,8000,True\n"
      "a,PREMIUM,c,PREMIUM,x,8000,True\n",
      options_);
  ASSERT_EQ(result.platform.arcs().size(), 3U);
  EXPECT_DOUBLE_EQ(result.platform.arcs()[0].latency.value, 4e-3);  // a -> b
  EXPECT_EQ(result.platform.arcs()[1].latency.value, 0);            // a -> c
  EXPECT_DOUBLE_EQ(result.platform.arcs()[2].latency.value, 4e-3);  // b -> a
  EXPECT_THAT(result.notes, ElementsAre("no latency for 1 of 3 links: taken as 0"));
}

TEST_F(SkyplaneLatencies, RefusalsNameTheirFile) {
  write_text(file_, "src_region,dst_region,rtt\n");
  EXPECT_EQ(refused("a,PREMIUM,b,PREMIUM,x,8000,True\n", options_),
            file_ + ": line 1: there is no column 'avg_rtt'");
  options_.latencies = "no/such/file";
  EXPECT_EQ(refused("a,PREMIUM,b,PREMIUM,x,8000,True\n", options_),
            "no/such/file: cannot open: No such file or directory");
}

TEST(Skyplane, Refusals) {
  const auto line = [](std::string_view reason) {
    return "grids/jan.csv: line 2: " + std::string(reason);
  };
  EXPECT_EQ(refused("a,PREMIUM,b\n"), line("3 fields where the header has 7"));
  EXPECT_EQ(refused("a,PREMIUM,b,PREMIUM,x,fast,True\n"), line("expected a number, got 'fast'"));
  EXPECT_EQ(refused("a,PREMIUM,b,PREMIUM,x,-1,True\n"),
            line("a measurement must not be negative: -1"));
  EXPECT_EQ(refused("a,PREMIUM,b,PREMIUM,x,1,maybe\n"),
            line("success is True or False, not 'maybe'"));
  EXPECT_EQ(refused(",PREMIUM,b,PREMIUM,x,1,True\n"), line("a node's name must not be empty"));
  EXPECT_EQ(refused("a,PREMIUM,b,PREMIUM,x,1,False\n"), "grids/jan.csv: every measurement failed");
  EXPECT_EQ(refused(""), "grids/jan.csv: the grid has no rows");
  EXPECT_THAT(refusal([] { return parse_platform("src_region,dst_region,rate\n", "g.csv"); }),
              StartsWith("g.csv: line 1: there is no column 'throughput_received'"));
}

}  // namespace
}  // namespace espalier::platforms::skyplane_test
