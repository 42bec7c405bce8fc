#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::nccl_xml_test {
namespace {

using namespace espalier::testing;
using ::testing::ElementsAre;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/gpu_fabric/";

std::string refused(const std::string& text) {
  return refusal_as("nccltopo", text, "t.xml");
}
std::string graph_refused(const std::string& text) {
  return refusal_as("ncclgraph", text, "g.xml");
}

double bandwidth(const Platform& platform, std::string_view from, std::string_view to) {
  return arc(platform, from, to).bandwidth.value;
}

//   CPU0 ---- CPU1
//    |          |
//   PCI 16    GPU2
//   /  \                 4 NVLinks
//  GPU0 GPU1  <- - - - - between these
TEST(NcclTopology, HasGpusBridgesAndCpus) {
  const ReadResult result = read_platform(kData + "two_sockets_nccl_topo.xml");
  EXPECT_EQ(result.format, "nccltopo");
  const Platform& platform = result.platform;
  EXPECT_THAT(counts(platform), ElementsAre(3, 3, 2 * 5 + 2, 0));
  EXPECT_EQ(bandwidth(platform, "GPU0", "GPU1"), 4 * 25e9);
  EXPECT_EQ(bandwidth(platform, "GPU1", "GPU0"), 4 * 25e9);
  EXPECT_EQ(bandwidth(platform, "GPU0", "PCI 0000:16:00.0"), 24e9);
  EXPECT_EQ(bandwidth(platform, "CPU0", "PCI 0000:16:00.0"), 24e9);
  EXPECT_EQ(bandwidth(platform, "CPU1", "GPU2"), 12e9);
  EXPECT_EQ(bandwidth(platform, "CPU0", "CPU1"), 10e9);
  EXPECT_EQ(platform.node(*platform.find_node("GPU2")).group, "CPU1");
  EXPECT_THAT(result.notes,
              ElementsAre("took NV 25 GB/s a link, SYS 10 GB/s; give the rates of your links with "
                          "--class-rate CLASS=RATE",
                          "took PCIe 3.0 with 16 lanes for 1 PCIe link without a known speed "
                          "and width",
                          "left out 1 network adapter"));
}

TEST(NcclTopology, RatesAreThoseOfTheOptions) {
  ReadOptions options;
  options.class_rates = {parse_class_rate("NV=50GB/s"), parse_class_rate("SYS=none")};
  const Platform platform = read_platform(kData + "two_sockets_nccl_topo.xml", options).platform;
  EXPECT_EQ(bandwidth(platform, "GPU0", "GPU1"), 4 * 50e9);
  EXPECT_FALSE(platform.find_arc(*platform.find_node("CPU0"), *platform.find_node("CPU1")));
}

// All switches are one, as for NCCL, and a GPU's links to them are counted together.
TEST(NcclTopology, LinksToSwitchesShareARelay) {
  const Platform platform = parse_platform(R"(<system version="1"><cpu numaid="0">
        <pci busid="a" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90">
          <nvlink target="s1" count="5" tclass="0x068000"/>
          <nvlink target="s2" count="4" tclass="0x068000"/></gpu></pci>
        <pci busid="b" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="100">
          <c2c bw="1000" count="2"/><nvlink target="s1" count="2" tclass="0x068000"/></gpu></pci>
        </cpu></system>)",
                                           "t.xml")
                                .platform;
  EXPECT_EQ(bandwidth(platform, "GPU0", "NVSwitch"), 9 * 25e9);
  EXPECT_EQ(bandwidth(platform, "NVSwitch", "GPU1"), 2 * 50e9);
  EXPECT_EQ(bandwidth(platform, "CPU0", "GPU1"), 48e9 + 2e9);
}

TEST(NcclTopology, Refusals) {
  EXPECT_EQ(refused("<graph/>"), "t.xml: there is no <system>");
  EXPECT_EQ(refused("<system><cpu numaid=\"0\"/></system>"), "t.xml: there is no <gpu>");
  EXPECT_EQ(refused("<system>\n<cpu/></system>"), "t.xml: line 2: <cpu> has no attribute 'numaid'");
  EXPECT_EQ(refused("<system>\n<cpu numaid=\"x\"/></system>"),
            "t.xml: line 2: numaid='x' is not a whole number");
  EXPECT_EQ(refused("<system><cpu numaid=\"0\">\n<gpu/></cpu></system>"),
            "t.xml: line 2: a <gpu> must be in a <pci>");
  EXPECT_EQ(refused("<system><cpu numaid=\"0\"><pci busid=\"a\">\n<gpu dev=\"0\">\n<nvlink "
                    "target=\"a\" count=\"1\"/></gpu></pci></cpu></system>"),
            "t.xml: line 3: an <nvlink> of a GPU to itself");
}

// Two rings of 20 GB/s each; both have 1 -> 2.
TEST(NcclGraph, IsTheSumOfTheRings) {
  const ReadResult result = read_platform(kData + "four_gpus_nccl_graph.xml");
  EXPECT_EQ(result.format, "ncclgraph");
  EXPECT_THAT(counts(result.platform), ElementsAre(4, 0, 7, 0));
  EXPECT_EQ(bandwidth(result.platform, "GPU1", "GPU2"), 40e9);
  EXPECT_EQ(bandwidth(result.platform, "GPU3", "GPU0"), 20e9);
  EXPECT_THAT(result.notes, ElementsAre("left out 1 graph after the first"));
}

TEST(NcclGraph, ARingWithAdaptersIsOpen) {
  const Platform platform =
      parse_platform(R"(<graphs><graph speedintra="3"><channel><net dev="0"/><gpu dev="4"/>
        <gpu dev="5"/><net dev="0"/></channel></graph></graphs>)",
                     "g.xml")
          .platform;
  EXPECT_THAT(counts(platform), ElementsAre(2, 0, 1, 0));
}

TEST(NcclGraph, Refusals) {
  EXPECT_EQ(graph_refused("<graphs/>"), "g.xml: there is no <graph> in <graphs>");
  EXPECT_EQ(graph_refused("<graphs>\n<graph/></graphs>"),
            "g.xml: line 2: <graph> has no attribute 'speedintra'");
  EXPECT_EQ(graph_refused("<graphs><graph speedintra=\"2\"/></graphs>"),
            "g.xml: no channel has two GPUs");
}

}  // namespace
}  // namespace espalier::platforms::nccl_xml_test
