// Every sample platform can be read and agrees with its README.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::data_test {
namespace {

const std::filesystem::path kData = ESPALIER_SOURCE_DIR "/platforms/data";

Platform sample(const std::string& name) {
  return read_platform((kData / name).string()).platform;
}

TEST(Data, The71RegionsHaveTheirCaps) {
  const Platform platform = sample("cloud-71-regions.json");
  EXPECT_EQ(platform.name(), "cloud 71 regions");
  const Node& aws = platform.node(platform.find_node("aws:us-east-1").value());
  EXPECT_EQ(aws.send, BytesPerSecond{5e9 / 8});
  EXPECT_EQ(aws.receive, BytesPerSecond{10e9 / 8});
  const Node& gcp = platform.node(platform.find_node("gcp:us-west1-a").value());
  EXPECT_EQ(gcp.send, BytesPerSecond{7e9 / 8});
  EXPECT_EQ(gcp.receive, BytesPerSecond{16e9 / 8});
  const Node& azure = platform.node(platform.find_node("azure:westeurope").value());
  EXPECT_EQ(azure.send, BytesPerSecond{16e9 / 8});
  EXPECT_EQ(azure.receive, BytesPerSecond{16e9 / 8});
}

TEST(Data, TheSketchHasWholeCosts) {
  const Platform sketch = sample("seed-sketch.json");
  for (const Arc& arc : sketch.arcs()) {
    const double cost = 12e6 / arc.bandwidth.value;  // seconds per segment of 12 MB
    EXPECT_EQ(cost, static_cast<int>(cost));
  }
}

// Counted in the files with grep, awk and Python's csv, json and xml modules, without Espalier.
// JSON and CSV: distinct names, rows with distinct ends; "both_ways" is two arcs, as is an edge of
// GraphML (LinkSpeedRaw, parallel edges once) or Slurm. GraphML: hyperedge=1 is a relay. SimGrid:
// <host> or radical, <router>, one hub per cluster; a <route> with two ends is two arcs, a
// <bypassRoute> one; links of more than one arc are shared. InfiniBand: lines Ca/CA and Switch/SW,
// each pair with a cable is two arcs. Matrices: cells off the diagonal.
struct Sample {
  std::string file;
  std::size_t hosts;
  std::size_t relays;
  std::size_t arcs;
  std::size_t shared;
  std::string level_bandwidth = {};
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all{
      {"cloud-71-regions.json", 71, 0, 4970, 0},
      {"equal-hosts-16.json", 16, 0, 240, 0},
      {"heterogeneous-star.json", 9, 0, 32, 0},
      {"relays-shared-link.json", 6, 3, 18, 1},
      {"seed-sketch.json", 8, 0, 26, 0},
      {"two-clusters-thin-link.json", 12, 0, 62, 0},
      {"skyplane/throughput_2022-11.csv", 71, 0, 4970, 0},
      {"simgrid/bypassRoute.xml", 4, 5, 19, 9},
      {"simgrid/cluster_backbone.xml", 100, 2, 201, 0},
      {"simgrid/cluster_fat_tree.xml", 16, 6, 48, 0},
      {"simgrid/dogbone.xml", 4, 0, 8, 5},
      {"simgrid/griffon.xml", 92, 6, 193, 1},
      {"simgrid/meta_cluster.xml", 60, 4, 124, 1},
      {"simgrid/small_platform.xml", 7, 0, 42, 23},
      {"simgrid/small_platform_with_routers.xml", 5, 0, 20, 10},
      {"simgrid/three_multicore_hosts.xml", 3, 0, 6, 1},
      {"topology_zoo/Belnet2006.graphml", 23, 0, 82, 0},
      {"topology_zoo/Garr201201.graphml", 61, 0, 130, 0},
      {"topology_zoo/Geant2009.graphml", 34, 0, 104, 0},
      {"topology_zoo/Rnp.graphml", 31, 0, 68, 0},
      {"topology_zoo/Sanet.graphml", 42, 1, 90, 0},
      {"infiniband/manpage-sample.ibnetdiscover", 4, 2, 10, 0},
      {"infiniband/plafrim2-subnet0000.ibnetdiscover", 96, 7, 212, 0},
      {"infiniband/plafrim2-subnet0001.txt", 23, 1, 46, 0},
      {"infiniband/three_hosts.ibstat", 3, 1, 6, 0},
      {"measured/attila.bandwidth", 7, 0, 42, 0},
      {"measured/iperf3", 3, 0, 5, 0},
      {"measured/iperf3/h1-h2.json", 2, 0, 1, 0},
      {"measured/iperf3/h1-h3-reverse.json", 2, 0, 1, 0},
      {"measured/iperf3/h2-h1-server.json", 2, 0, 1, 0},
      {"measured/iperf3/h2-h3-bidir.json", 2, 0, 2, 0},
      {"measured/mpigraph-6-ranks.txt", 6, 0, 30, 0},
      {"measured/nvbandwidth_d2d_write_ce_8gpu.txt", 8, 0, 56, 0},
      {"gpu_fabric/dgx1_v100.csv", 8, 0, 32, 0},
      {"gpu_fabric/dgx_a100_1node_forestcoll.csv", 8, 1, 16, 0},
      {"gpu_fabric/dgx_a100_2node_forestcoll.csv", 16, 20, 96, 0},
      {"gpu_fabric/mi250_1node_forestcoll.csv", 16, 0, 56, 0},
      {"gpu_fabric/four_gpus_nccl_graph.xml", 4, 0, 7, 0},
      {"gpu_fabric/two_sockets_nccl_topo.xml", 3, 3, 12, 0},
      {"gpu_fabric/ndv2_taccl_measured.csv", 8, 0, 32, 0},
      {"slurm/blocks-and-rings.conf", 8, 3, 20, 0, "1GB/s,1GB/s"},
      {"slurm/topology.conf", 17, 7, 46, 0, "1GB/s,2GB/s,4GB/s"},
      {"slurm/topology.yaml", 12, 4, 30, 0, "1GB/s,1GB/s"},
      {"tiers/medium.tiers", 45, 0, 88, 0},
      {"tiers/small.tiers", 27, 0, 52, 0}};
  return all;
}

TEST(Data, EverySampleHasTheNodesAndArcsOfItsFile) {
  for (const Sample& expected : samples()) {
    SCOPED_TRACE(expected.file);
    ReadOptions options;
    options.level_bandwidth = expected.level_bandwidth;
    const ReadResult result = read_platform((kData / expected.file).string(), options);
    EXPECT_THAT(
        testing::counts(result.platform),
        ::testing::ElementsAre(expected.hosts, expected.relays, expected.arcs, expected.shared));
    if (expected.file.ends_with(".json") && result.format == "json") {
      EXPECT_TRUE(result.notes.empty());
    }
  }
}

struct Refused {
  std::string file;
  std::string reason;
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> all{
      {"simgrid/cloud.xml", "zone 'AS0' is Vivaldi: it has coordinates instead of links"},
      {"simgrid/metaxml.xml", "element <set> is not supported"},
      {"simgrid/vivaldi.xml", "zone 'AS0' is Vivaldi: it has coordinates instead of links"},
      {"simgrid/wifi.xml", "zone 'WIFI zone' is Wi-Fi, which is not supported"},
      {"measured/attila.latency", "this file contains latencies; give the file of bandwidths"},
      {"measured/iperf3/h2-h3-error.json", "unable to connect to server: Connection refused"},
      {"measured/iperf3-loopback.json", "the host measured itself; measure between two hosts"}};
  return all;
}

TEST(Data, OtherSamplesAreRefusedWithTheirReason) {
  for (const Refused& expected : refused()) {
    SCOPED_TRACE(expected.file);
    EXPECT_THAT(testing::refusal([&] { return read_platform((kData / expected.file).string()); }),
                ::testing::HasSubstr(expected.reason));
  }
}

TEST(Data, EveryFileIsTested) {
  // Files that are not platforms: licences, documentation, and tables for --latencies,
  // --prices and --classes.
  const std::vector<std::string> others{
      "LICENSE-LGPL-2.1",       "README.md",
      "gpu_fabric/LICENSE.MIT", "infiniband/LICENSE.hwloc",
      "skyplane/LICENSE",       "skyplane/cost.csv",
      "skyplane/latency.csv",   "tiers/enslyon_measured_links.csv",
      "topology_zoo/LICENSE"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kData)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = std::filesystem::relative(entry.path(), kData).string();
    const bool known = std::ranges::find(samples(), file, &Sample::file) != samples().end() ||
                       std::ranges::find(refused(), file, &Refused::file) != refused().end() ||
                       std::ranges::find(others, file) != others.end();
    EXPECT_TRUE(known) << file;
  }
}

}  // namespace
}  // namespace espalier::platforms::data_test
