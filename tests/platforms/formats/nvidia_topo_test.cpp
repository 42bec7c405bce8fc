#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::nvidia_topo_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

// DGX-1 with V100: GPU0 has 1 + 1 + 2 + 2 NVLinks, and reaches the other GPUs over the socket link.
const std::string kDgx1 =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tmlx5_0\tmlx5_1\tCPU Affinity\n"
    "GPU0\t X \tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\tPIX\tSYS\t0-19,40-59\n"
    "GPU1\tNV1\t X \tNV2\tNV1\tSYS\tNV2\tSYS\tSYS\tPIX\tSYS\t0-19,40-59\n"
    "GPU2\tNV1\tNV2\t X \tNV2\tSYS\tSYS\tNV1\tSYS\tPHB\tSYS\t0-19,40-59\n"
    "GPU3\tNV2\tNV1\tNV2\t X \tSYS\tSYS\tSYS\tNV1\tPHB\tSYS\t0-19,40-59\n"
    "GPU4\tNV2\tSYS\tSYS\tSYS\t X \tNV1\tNV1\tNV2\tSYS\tPIX\t20-39,60-79\n"
    "GPU5\tSYS\tNV2\tSYS\tSYS\tNV1\t X \tNV2\tNV1\tSYS\tPIX\t20-39,60-79\n"
    "GPU6\tSYS\tSYS\tNV1\tSYS\tNV1\tNV2\t X \tNV2\tSYS\tPHB\t20-39,60-79\n"
    "GPU7\tSYS\tSYS\tSYS\tNV1\tNV2\tNV1\tNV2\t X \tSYS\tPHB\t20-39,60-79\n"
    "mlx5_0\tPIX\tPIX\tPHB\tPHB\tSYS\tSYS\tSYS\tSYS\t X \tSYS\t\n"
    "mlx5_1\tSYS\tSYS\tSYS\tSYS\tPIX\tPIX\tPHB\tPHB\tSYS\t X \t\n"
    "\nLegend:\n\n  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes\n";

// With terminal escape sequences, in the form of newer drivers.
const std::string kSwitched =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV12\tNV12\tPXB\t48-63,176-191\t3\t\tN/A\n"
    "GPU1\tNV12\t X \tNV12\tPXB\t48-63,176-191\t3\t\tN/A\n"
    "GPU2\tNV12\tNV12\t X \tSYS\t16-31,144-159\t1\t\tN/A\n"
    "NIC0\tPXB\tPXB\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\nNIC Legend:\n\n  NIC0: mlx5_0\n";

ReadResult parsed(const std::string& text, const std::vector<std::string>& rates = {}) {
  ReadOptions options;
  options.format = "nvidiatopo";
  for (const std::string& rate : rates) options.class_rates.push_back(parse_class_rate(rate));
  return parse_platform(text, "t.txt", options);
}

std::string refused(const std::string& text, const std::vector<std::string>& rates = {}) {
  return refusal([&] { return parsed(text, rates); });
}

double bandwidth(const Platform& platform, std::string_view from, std::string_view to) {
  return arc(platform, from, to).bandwidth.value;
}

// 8 GPUs: 32 links of NVLink, and 56 - 32 over the sockets, of which each GPU has 3 out and 3 in.
TEST(NvidiaTopo, Dgx1HasNvlinksAndSharesItsSlots) {
  const ReadResult result = parse_platform(kDgx1, "t.txt");
  EXPECT_EQ(result.format, "nvidiatopo");
  const Platform& platform = result.platform;
  EXPECT_EQ(platform.hosts().size(), 8U);
  EXPECT_EQ(platform.nodes().size(), 8U) << "without adapters";
  EXPECT_EQ(platform.arcs().size(), 56U);
  EXPECT_EQ(bandwidth(platform, "GPU0", "GPU1"), 25e9);
  EXPECT_EQ(bandwidth(platform, "GPU0", "GPU3"), 50e9);
  EXPECT_EQ(bandwidth(platform, "GPU0", "GPU5"), 10e9);
  ASSERT_EQ(platform.shared_links().size(), 16U);
  EXPECT_EQ(platform.shared_links()[0].name, "GPU0 PCIe out");
  EXPECT_EQ(platform.shared_links()[0].bandwidth.value, 10e9);
  EXPECT_EQ(platform.shared_links()[0].arcs.size(), 3U);
  EXPECT_THAT(result.notes,
              ElementsAre("took NV 25 GB/s a link, SYS 10 GB/s; give the rates of your links with "
                          "--class-rate CLASS=RATE",
                          "left out 2 network adapters"));
}

// Each row has 12 + 12 links, more than a GPU has: both peers share the same 12.
TEST(NvidiaTopo, LinksThroughASwitchAreShared) {
  const ReadResult result = parse_platform(kSwitched, "t.txt");
  const Platform& platform = result.platform;
  EXPECT_EQ(platform.hosts().size(), 3U);
  EXPECT_EQ(platform.arcs().size(), 6U);
  EXPECT_EQ(bandwidth(platform, "GPU2", "GPU0"), 300e9);
  ASSERT_EQ(platform.shared_links().size(), 6U);
  EXPECT_EQ(platform.shared_links()[0].name, "GPU0 NVLinks out");
  EXPECT_EQ(platform.shared_links()[0].bandwidth.value, 300e9);
  EXPECT_EQ(platform.shared_links()[0].arcs.size(), 2U);
  EXPECT_EQ(platform.shared_links()[3].name, "GPU0 NVLinks in");
  EXPECT_THAT(
      result.notes,
      ElementsAre(
          "took NV 25 GB/s a link; give the rates of your links with --class-rate CLASS=RATE",
          "3 GPUs have more than 18 NVLinks in their row: taken as links to an "
          "NVSwitch, which all peers share",
          "left out 1 network adapters"));
}

// Old drivers and pasted text: SOC, blanks instead of tabs, a prompt before the table.
TEST(NvidiaTopo, OlderAndPastedOutputs) {
  const ReadResult result = parse_platform(
      "$ nvidia-smi topo -m\n        GPU0    GPU1    GPU2    mlx4_0  CPU Affinity\n"
      "GPU0     X      PHB     SOC     SOC     0-5\nGPU1    PHB      X      SOC     SOC     0-5\n"
      "GPU2    SOC     SOC      X      PHB     6-11\nmlx4_0  SOC     SOC     PHB      X \n",
      "t.txt");
  EXPECT_EQ(result.platform.arcs().size(), 6U);
  EXPECT_EQ(bandwidth(result.platform, "GPU0", "GPU1"), 12e9);
  EXPECT_EQ(bandwidth(result.platform, "GPU0", "GPU2"), 10e9);
  // The slot is as fast as the fastest link through it.
  EXPECT_EQ(result.platform.shared_links()[0].bandwidth.value, 12e9);
}

TEST(NvidiaTopo, OneGpuIsAPlatform) {
  const ReadResult result =
      parse_platform("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-23\t0\n", "t.txt");
  EXPECT_EQ(result.platform.hosts().size(), 1U);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(NvidiaTopo, RatesCanBeGiven) {
  const ReadResult result = parsed(kDgx1, {"NV=20GB/s", "NV2=44GB/s", "SYS=none"});
  EXPECT_EQ(result.platform.arcs().size(), 32U);
  EXPECT_EQ(bandwidth(result.platform, "GPU0", "GPU1"), 20e9);
  EXPECT_EQ(bandwidth(result.platform, "GPU0", "GPU3"), 44e9);
  EXPECT_THAT(result.platform.shared_links(), IsEmpty());
  EXPECT_THAT(result.notes, ElementsAre("left out 2 network adapters",
                                        "left out 24 links of classes without a rate"));
  const std::string c2c = "\tGPU0\tGPU1\nGPU0\tX\tC2C\nGPU1\tC2C\tX\n";
  EXPECT_EQ(bandwidth(parsed(c2c, {"C2C=1GB/s", "C2C=300GB/s"}).platform, "GPU0", "GPU1"), 300e9);
}

TEST(NvidiaTopo, ClassRateRefusals) {
  EXPECT_EQ(refusal([] { return parse_class_rate("NV"); }),
            "class rate 'NV': expected CLASS=RATE, such as NV=25GB/s");
  EXPECT_EQ(refusal([] { return parse_class_rate("=25GB/s"); }),
            "class rate '=25GB/s': expected CLASS=RATE, such as NV=25GB/s");
  EXPECT_EQ(refusal([] { return parse_class_rate("NV=0GB/s"); }),
            "class rate 'NV=0GB/s': the rate must be finite and positive, not 0 B/s");
  EXPECT_EQ(refused(kDgx1, {"NVL=20GB/s"}), "t.txt: --class-rate: no link is of class 'NVL'");
}

TEST(NvidiaTopo, Refusals) {
  EXPECT_EQ(refused("Legend:\n"), "t.txt: there is no line with the GPUs as columns");
  const std::string head = "\tGPU0\tGPU1\n";
  EXPECT_EQ(refused(head + "GPU0\tX\tNV1\n"),
            "t.txt: 1 rows of GPUs for 2 columns: the table is cut short");
  EXPECT_EQ(refused(head + "GPU1\tNV1\tX\n"),
            "t.txt: line 2: expected the row of GPU0, got 'GPU1'");
  EXPECT_EQ(refused(head + "GPU0\tX\n"), "t.txt: line 2: 1 cells where there are 2 columns");
  EXPECT_EQ(refused(head + "GPU0\tNV1\tX\n"),
            "t.txt: line 2: the cell of a GPU with itself must be X, not 'NV1'");
  EXPECT_EQ(refused(head + "GPU0\tX\tOK\n"),
            "t.txt: line 2: unknown class 'OK'; give its rate with --class-rate OK=RATE");
  EXPECT_EQ(refused(head + "GPU0\tX\tNV0\n"),
            "t.txt: line 2: a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(refused("\tGPU0\tGPU0\n"), "t.txt: line 1: two nodes are named 'GPU0'");
  std::string wide;
  for (int i = 0; i < 1001; ++i) wide += "\tGPU" + std::to_string(i);
  EXPECT_EQ(refused(wide + '\n'), "t.txt: line 1: more than 1000 devices");
}

}  // namespace
}  // namespace espalier::platforms::nvidia_topo_test
