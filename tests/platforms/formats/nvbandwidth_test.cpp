#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::nvbandwidth_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kRead =
    "Running device_to_device_memcpy_read_ce.\n"
    "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "           0         1\n"
    " 0       N/A      3.00\n"
    " 1      4.00       N/A\n\n"
    "SUM device_to_device_memcpy_read_ce 7.00\n\n";
const std::string kWrite =
    "Running device_to_device_memcpy_write_ce.\n"
    "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
    "          0         1\n"
    "0      0.00      1.00\n"
    "1      2.00      0.00\n\n";
const std::string kHost =
    "Running host_to_device_memcpy_ce.\n"
    "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "           0         1\n"
    " 0     55.37     55.36\n\n";
const std::string kToOne =
    "Running all_to_one_write_ce.\n"
    "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
    "           0         1\n"
    " 0     55.37     55.36\n\n";
const std::string kBoth =
    "Running device_to_device_bidirectional_memcpy_write_ce.\n"
    "memcpy CE GPU(row) <-> GPU(column) Write1 bandwidth (GB/s)\n"
    "           0         1\n"
    " 0       N/A      9.00\n"
    " 1      9.00       N/A\n\n"
    "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n"
    "           0         1\n"
    " 0       N/A     18.00\n"
    " 1     18.00       N/A\n\n";
const std::string kLatency =
    "Running device_to_device_latency_sm.\n"
    "Device to Device Latency SM GPU(row) <-> GPU(column) (ns)\n"
    "           0         1\n"
    " 0       N/A    826.42\n"
    " 1    825.83       N/A\n\n";

ReadResult parsed(const std::string& text, const std::string& table = {}) {
  ReadOptions options;
  options.format = "nvbandwidth";
  options.table = table;
  return parse_platform(text, "n.txt", options);
}

std::string refused(const std::string& text, const std::string& table = {}) {
  return refusal([&] { return parsed(text, table); });
}

// The values are from row 6, column 0 and row 0, column 6; awk counts 8 rows with 56 values.
TEST(Nvbandwidth, EightGpusWhereTheColumnSends) {
  const ReadResult result = read_platform(
      ESPALIER_SOURCE_DIR "/platforms/data/measured/nvbandwidth_d2d_write_ce_8gpu.txt");
  EXPECT_EQ(result.format, "nvbandwidth");
  EXPECT_EQ(result.platform.hosts().size(), 8U);
  EXPECT_EQ(result.platform.arcs().size(), 56U);
  EXPECT_EQ(result.platform.nodes()[6].name, "GPU6");
  EXPECT_DOUBLE_EQ(arc(result.platform, 0, 6).bandwidth.value, 274.89e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 6, 0).bandwidth.value, 276.55e9);
  EXPECT_THAT(result.notes,
              ElementsAre("took device_to_device_memcpy_write_ce: memcpy CE GPU(row) <- "
                          "GPU(column) bandwidth (GB/s)"));
}

TEST(Nvbandwidth, TheArrowGivesTheSender) {
  EXPECT_EQ(arc(parsed(kRead).platform, 0, 1).bandwidth.value, 3e9);
  EXPECT_EQ(arc(parsed(kWrite).platform, 1, 0).bandwidth.value, 1e9);
}

TEST(Nvbandwidth, WritesByCopyEngineArePreferred) {
  const ReadResult result =
      parsed("nvbandwidth Version: v0.8\r\n" + kHost + kBoth + kToOne + kRead + kWrite + kLatency);
  EXPECT_EQ(arc(result.platform, 1, 0).bandwidth.value, 1e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 1, 0).latency.value, 826.42e-9);
  EXPECT_THAT(result.notes,
              ElementsAre("took device_to_device_memcpy_write_ce: memcpy CE GPU(row) <- "
                          "GPU(column) bandwidth (GB/s)",
                          "latencies from device_to_device_latency_sm",
                          "left out 5 more matrices; --table NAME selects another of "
                          "device_to_device_memcpy_*"));
  EXPECT_EQ(arc(parsed(kWrite + kRead, "read").platform, 0, 1).bandwidth.value, 3e9);
}

TEST(Nvbandwidth, AWaivedTestIsNoted) {
  const ReadResult result =
      parsed(kRead + "Running device_to_device_memcpy_write_ce.\nWAIVED: no peers\n");
  EXPECT_THAT(result.notes,
              ElementsAre("took device_to_device_memcpy_read_ce: memcpy CE GPU(row) -> "
                          "GPU(column) bandwidth (GB/s)",
                          "device_to_device_memcpy_write_ce has no matrix: 'WAIVED: no peers'"));
  EXPECT_EQ(refused(kHost + "Running device_to_device_memcpy_write_ce.\nWAIVED\n"),
            "n.txt: there is no matrix of unidirectional bandwidths between GPUs; "
            "device_to_device_memcpy_write_ce: 'WAIVED'");
}

TEST(Nvbandwidth, PairsWithoutAFigureHaveNoLink) {
  const ReadResult result =
      parsed("memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n 0 1\n0 N/A 5\n1 N/A N/A\n");
  EXPECT_EQ(result.platform.arcs().size(), 1U);
  EXPECT_THAT(result.notes, ElementsAre("took 'memcpy CE GPU(row) -> GPU(column) bandwidth "
                                        "(GB/s)': memcpy CE GPU(row) -> GPU(column) bandwidth "
                                        "(GB/s)",
                                        "1 pairs have no figure: no link"));
}

const std::string kJson = R"json({"nvbandwidth": {"CUDA Runtime Version": 12080, "testcases": [
  {"name": "device_to_device_memcpy_read_ce", "status": "Passed", "sum": 7,
   "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
                  "bandwidth_matrix" : [ [ "N/A", "3" ], [ 4, "N/A" ] ]
},
  {"name": "device_to_device_bidirectional_memcpy_read_ce", "status": "Passed",
   "bandwidth_description": "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
   "bandwidth_matrix": [["N/A", "3"], ["4", "N/A"], ["N/A", "3"], ["4", "N/A"]]},
  {"name": "device_to_device_memcpy_write_ce", "status": "Waived"},
  {"name": "device_to_device_latency_sm", "status": "Passed",
   "bandwidth_description": "Device to Device Latency SM GPU(row) <-> GPU(column) (ns)",
   "bandwidth_matrix": [["N/A", "800"], ["900", "N/A"]]}]
}
})json";

TEST(Nvbandwidth, JsonGivesTheSamePlatform) {
  const ReadResult result = parse_platform(kJson, "n.json");
  EXPECT_EQ(result.format, "nvbandwidth");
  EXPECT_EQ(arc(result.platform, 0, 1).bandwidth.value, 3e9);
  EXPECT_EQ(arc(result.platform, 1, 0).bandwidth.value, 4e9);
  EXPECT_DOUBLE_EQ(arc(result.platform, 1, 0).latency.value, 900e-9);
  EXPECT_THAT(result.notes,
              ElementsAre("took device_to_device_memcpy_read_ce: memcpy CE GPU(row) -> "
                          "GPU(column) bandwidth (GB/s)",
                          "latencies from device_to_device_latency_sm",
                          "device_to_device_memcpy_write_ce has no matrix: 'Waived'",
                          "left out 1 more matrix; --table NAME selects another of "
                          "device_to_device_memcpy_*"));
}

TEST(Nvbandwidth, Refusals) {
  EXPECT_EQ(refused(kBoth + kToOne),
            "n.txt: there is no matrix of unidirectional bandwidths between GPUs");
  EXPECT_EQ(refused(kRead + kWrite, "sm"),
            "n.txt: there is no device-to-device test 'sm'; one of: "
            "'device_to_device_memcpy_read_ce', 'device_to_device_memcpy_write_ce'");
  EXPECT_EQ(refused(kRead + kWrite, "ce"),
            "n.txt: more than one device-to-device test 'ce'; one of: "
            "'device_to_device_memcpy_read_ce', 'device_to_device_memcpy_write_ce'");
  EXPECT_EQ(refused(kWrite.substr(0, kWrite.find("1      2.00"))),
            "n.txt: device_to_device_memcpy_write_ce: 1 rows for 2 GPUs: the matrix is cut short");
  const std::string head = kWrite.substr(0, kWrite.find("0      0.00"));
  EXPECT_EQ(refused(head + "0 0 -1\n"),
            "n.txt: line 4: a bandwidth must be finite and positive, not -1000000000 B/s");
  EXPECT_EQ(refused(head + "0 0 1e305\n"),
            "n.txt: line 4: a bandwidth must be finite and positive, not inf B/s");
  EXPECT_EQ(refused(head + "0 0 fast\n"), "n.txt: line 4: expected a number, got 'fast'");
  EXPECT_EQ(refused(head + "0 0\n"), "n.txt: line 4: 1 figures where there are 2 columns");
}

TEST(Nvbandwidth, JsonRefusals) {
  EXPECT_EQ(refused(R"({"nvbandwidth": {}})"),
            "n.txt: /nvbandwidth: the key 'testcases' is missing");
  EXPECT_EQ(refused(R"({"nvbandwidth": {"testcases": []}})"),
            "n.txt: there is no matrix of unidirectional bandwidths between GPUs");
  const std::string head =
      R"json({"nvbandwidth": {"testcases": [{"name": "device_to_device_memcpy_read_ce",
      "bandwidth_description": "GPU(row) -> GPU(column) (GB/s)", "bandwidth_matrix": )json";
  EXPECT_EQ(refused(head + R"([["N/A", "x"], ["1", "N/A"]]}]}})"),
            "n.txt: /nvbandwidth/testcases/0/bandwidth_matrix/0: expected a number, got 'x'");
  EXPECT_EQ(refused(head + R"([["N/A", "1"], ["1"]]}]}})"),
            "n.txt: /nvbandwidth/testcases/0/bandwidth_matrix/1: 1 figures where there are 2 "
            "columns");
  EXPECT_EQ(refused(head + R"([["N/A", "1"], true]}]}})"),
            "n.txt: /nvbandwidth/testcases/0/bandwidth_matrix/1: expected an array, got a boolean");
}

}  // namespace
}  // namespace espalier::platforms::nvbandwidth_test
