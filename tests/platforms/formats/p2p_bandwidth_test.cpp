#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::p2p_bandwidth_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

// Output in the syntax of CUDA 12's sample; each made-up value identifies its cell.
const std::string kHead =
    "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n"
    "Device: 0, NVIDIA A100-SXM4-40GB, pciBusID: e, pciDeviceID: 0, pciDomainID:0\n"
    "Device=0 CAN Access Peer Device=1\n"
    "\n"
    "P2P Connectivity Matrix\n"
    "     D\\D     0     1\n"
    "     0\t     1     1\n"
    "     1\t     1     1\n";
const std::string kDisabled =
    "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n"
    "   D\\D     0      1 \n"
    "     0 911.08  20.10 \n"
    "     1  20.39 920.20 \n";
const std::string kWrites =
    "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
    "   D\\D     0      1 \n"
    "     0 912.68   9.90 \n"
    "     1   9.80 922.37 \n";
const std::string kReads =
    "Unidirectional P2P=Enabled Bandwidth (P2P Reads) Matrix (GB/s)\n"
    "   D\\D     0      1 \n"
    "     0 912.68   7.90 \n"
    "     1   7.80 922.37 \n";
const std::string kBoth =
    "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n"
    "   D\\D     0      1 \n"
    "     0 918.31  21.12 \n"
    "     1  21.13 918.00 \n"
    "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n"
    "   D\\D     0      1 \n"
    "     0 918.31  41.12 \n"
    "     1  41.13 918.00 \n";
const std::string kLatencies =
    "P2P=Disabled Latency Matrix (us)\n"
    "   GPU     0      1 \n"
    "     0   2.03  18.06 \n"
    "     1  18.49   2.04 \n"
    "\n"
    "   CPU     0      1 \n"
    "     0   2.25   7.34 \n"
    "     1   7.21   2.19 \n"
    "P2P=Enabled Latency (P2P Writes) Matrix (us)\n"
    "   GPU     0      1 \n"
    "     0   2.00   3.34 \n"
    "     1   3.27   2.03 \n"
    "\n"
    "   CPU     0      1 \n"
    "     0   2.29   1.93 \n"
    "     1   1.86   2.19 \n";
const std::string kReadLatencies =
    "P2P=Enabled Latency (P2P Reads) Matrix (us)\n"
    "   GPU     0      1 \n"
    "     0   2.00   5.34 \n"
    "     1   5.27   2.03 \n";

ReadResult parsed(const std::string& text, const std::string& table = {}) {
  ReadOptions options;
  options.table = table;
  return parse_platform(text, "p.txt", options);
}

std::string refused(const std::string& text, const std::string& table = {}) {
  ReadOptions options;
  options.format = "p2pbandwidth";
  options.table = table;
  return refusal([&] { return parse_platform(text, "p.txt", options); });
}

TEST(P2pBandwidth, TakesOneDirectionWithPeerAccess) {
  const ReadResult result =
      parsed(kHead + kDisabled + kWrites + kReads + kBoth + kLatencies + kReadLatencies);
  EXPECT_EQ(result.format, "p2pbandwidth");
  EXPECT_EQ(result.platform.hosts().size(), 2U);
  EXPECT_EQ(result.platform.nodes()[1].name, "GPU1");
  EXPECT_EQ(result.platform.arcs().size(), 2U) << "the diagonal is a GPU's own memory";
  EXPECT_DOUBLE_EQ(arc(result.platform, 0, 1).bandwidth.value, 9.90e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 1, 0).bandwidth.value, 9.80e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 0, 1).latency.value, 3.34e-6);
  EXPECT_DOUBLE_EQ(arc(result.platform, 1, 0).latency.value, 3.27e-6);
  EXPECT_THAT(result.notes,
              ElementsAre("took 'Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)'",
                          "latencies from 'P2P=Enabled Latency (P2P Writes) Matrix (us)'"));
}

// A read is launched by the GPU of the row and moves data from that of the column.
TEST(P2pBandwidth, InReadsTheColumnSends) {
  const ReadResult result = parsed(kWrites + kReads + kLatencies + kReadLatencies, "Reads");
  EXPECT_DOUBLE_EQ(arc(result.platform, 1, 0).bandwidth.value, 7.90e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 1, 0).latency.value, 5.34e-6);
}

TEST(P2pBandwidth, OtherMatricesByName) {
  const ReadResult result = parsed(kDisabled + kWrites + kLatencies, "P2P=Disabled");
  EXPECT_DOUBLE_EQ(arc(result.platform, 0, 1).bandwidth.value, 20.10e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 0, 1).latency.value, 18.06e-6);
  EXPECT_EQ(arc(parsed(kDisabled).platform, 0, 1).latency.value, 0)
      << "the matrix without latencies";
}

// CUDA 8 and older: titles without the kind of copies, and D\D also above the latencies.
TEST(P2pBandwidth, OlderTitles) {
  const ReadResult result = parsed(
      "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n"
      "     0 450.00  18.00\n     1  17.00 450.00\n"
      "P2P=Enabled Latency Matrix (us)\n   D\\D     0      1\n     0   3.00   7.00\n"
      "     1   8.00   3.00\n");
  EXPECT_EQ(arc(result.platform, 0, 1).bandwidth.value, 18e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 0, 1).latency.value, 7e-6);
}

TEST(P2pBandwidth, PairsWithoutPeerAccessAreNoted) {
  const ReadResult result = parsed(
      "Device=0 CANNOT Access Peer Device=1\nDevice=1 CANNOT Access Peer Device=0\n" + kWrites);
  EXPECT_THAT(result.notes,
              ElementsAre("took 'Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)'",
                          "2 pairs cannot access each other: their figures are for copies through "
                          "the host"));
}

TEST(P2pBandwidth, Refusals) {
  EXPECT_EQ(refused(kHead + kBoth), "p.txt: there is no matrix of unidirectional bandwidths");
  EXPECT_EQ(refused(kWrites + kReads, "Bidirectional"),
            "p.txt: there is no matrix 'Bidirectional'; one of: "
            "'Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)', "
            "'Unidirectional P2P=Enabled Bandwidth (P2P Reads) Matrix (GB/s)'");
  EXPECT_EQ(refused(kWrites.substr(0, kWrites.find("     1   9.80"))),
            "p.txt: 'Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)': 1 rows for "
            "2 GPUs: the matrix is cut short");
  const std::string head = kWrites.substr(0, kWrites.find("     0 912"));
  EXPECT_EQ(refused(head + "  0 1 -3\n"),
            "p.txt: line 3: a bandwidth must be finite and positive, not -3000000000 B/s");
  EXPECT_EQ(refused(head + "  0 1\n"), "p.txt: line 3: 1 figures where there are 2 columns");
  EXPECT_EQ(refused(head + "  0 1 inf\n"), "p.txt: line 3: expected a number, got 'inf'");
}

}  // namespace
}  // namespace espalier::platforms::p2p_bandwidth_test
