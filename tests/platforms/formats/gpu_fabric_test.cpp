#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::gpu_fabric_test {
namespace {

using namespace espalier::testing;

const std::string kHead = "src,dst,GBps,alpha_us,kind\n";

std::string refused(const std::string& text) {
  return refusal_as("gpufabric", text, "f.csv");
}

// Sums obtained with grep, sort -u and awk; the samples' counts are in core/data_test.cpp.
TEST(GpuFabric, SamplesHaveTheSumOfTheirBandwidths) {
  const std::vector<std::pair<std::string, double>> sums_GBps{{"dgx1_v100", 1200},
                                                              {"dgx_a100_1node_forestcoll", 4800},
                                                              {"dgx_a100_2node_forestcoll", 11200},
                                                              {"mi250_1node_forestcoll", 5600},
                                                              {"ndv2_taccl_measured", 1043.48}};
  for (const auto& [file, sum_GBps] : sums_GBps) {
    const ReadResult result =
        read_platform(ESPALIER_SOURCE_DIR "/platforms/data/gpu_fabric/" + file + ".csv");
    EXPECT_EQ(result.format, "gpufabric");
    EXPECT_TRUE(result.notes.empty());
    double sum = 0;
    for (const Arc& link : result.platform.arcs()) sum += link.bandwidth.value;
    EXPECT_NEAR(sum / 1e9, sum_GBps, 0.01) << file;
  }
}

//  n0_gpu0 -- nvswitch -- GPU1
TEST(GpuFabric, HostsAreTheGpusAndTheRestAreRelays) {
  const Platform platform = parse_platform(
                                "# name: two\ndst,src,alpha_us,Gbps\nnvswitch,n0_gpu0,0.7,8\n"
                                "GPU1,nvswitch,,16\nagpu2,nvswitch,,1\ngpu,nvswitch,,1\n",
                                "f.csv")
                                .platform;
  EXPECT_EQ(platform.name(), "two");
  EXPECT_EQ(platform.hosts().size(), 2U);
  EXPECT_EQ(platform.nodes().size(), 5U);
  EXPECT_EQ(platform.node(*platform.find_node("n0_gpu0")).group, "n0");
  EXPECT_EQ(platform.node(*platform.find_node("GPU1")).group, "");
  EXPECT_FALSE(platform.node(*platform.find_node("GPU1")).relay);
  EXPECT_TRUE(platform.node(*platform.find_node("agpu2")).relay);
  EXPECT_TRUE(platform.node(*platform.find_node("gpu")).relay);
  EXPECT_DOUBLE_EQ(arc(platform, "n0_gpu0", "nvswitch").bandwidth.value, 1e9);
  EXPECT_DOUBLE_EQ(arc(platform, "n0_gpu0", "nvswitch").latency.value, 0.7e-6);
  EXPECT_EQ(arc(platform, "nvswitch", "GPU1").latency.value, 0);
}

TEST(GpuFabric, Refusals) {
  EXPECT_EQ(refused(""), "f.csv: there is no header line");
  EXPECT_EQ(refused("src,GBps\n"), "f.csv: line 1: the columns 'src' and 'dst' are required");
  EXPECT_EQ(refused("src,dst,kind\n"),
            "f.csv: line 1: there is no column of bandwidths, such as 'GBps'");
  EXPECT_EQ(refused("src,dst,GBps,Gbps\n"), "f.csv: line 1: two columns give 'Gbps'");
  EXPECT_EQ(refused("src,dst,GBps,cost\n"), "f.csv: line 1: unknown column 'cost'");
  EXPECT_EQ(refused(kHead + "gpu0,gpu1,1\n"), "f.csv: line 2: 3 fields where the header has 5");
  EXPECT_EQ(refused(kHead + "gpu0,gpu1,fast,,\n"),
            "f.csv: line 2: expected a number (the column is in GBps), got 'fast'");
  EXPECT_EQ(refused(kHead + "gpu0,gpu1,0,,\n"),
            "f.csv: line 2: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(refused(kHead + "gpu0,gpu1,1,,\ngpu1,gpu0,1,-1,\n"),
            "f.csv: line 3: a latency must be finite and not negative, not -1e-06 s");
  EXPECT_EQ(refused(kHead + "gpu0,gpu1,1e300,,\n"),
            "f.csv: line 2: rate '1e300 GBps': the number is out of range");
  EXPECT_EQ(refused(kHead + "sw,ib,1,,\n"),
            "f.csv: there are no hosts; name them 'gpu' and a number");
}

}  // namespace
}  // namespace espalier::platforms::gpu_fabric_test
