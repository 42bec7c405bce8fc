// Platforms whose optimum is known from publications or by a simple sum. The 71 cloud regions:
// SPIDER of Cloudcast reaches 5.00, 7.00 and 6.13 Gbit/s (bounded-multi-port); the papers' flow LP
// on parts of it (one-port). GPU fabrics: the sum of the source's links is an upper bound, and
// link-disjoint spanning trees reach it.
#include <gmock/gmock.h>

#include <cctype>
#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::known_results_test {

namespace {

struct Known {
  std::string source;
  std::string model;
  double optimum_Gbps;
};

class KnownResults : public CliTest, public ::testing::WithParamInterface<Known> {};

TEST_P(KnownResults, OptimumOfThe71Regions) {
  const Known& known = GetParam();
  const std::vector<std::string> instance{sample("cloud-71-regions.json"), "--source", known.source,
                                          "--model", known.model};
  std::vector<std::string> arguments = joined({"plan"}, instance);
  arguments.insert(arguments.end(), {"-o", "plan.json", "--json"});
  const Json summary = run_json(arguments);
  const Json& row = summary.at("rows")[0];
  EXPECT_NEAR(row.at("throughput_Bps").get<double>() * 8e-9, known.optimum_Gbps, 5e-5);
  EXPECT_LE(row.at("gap").get<double>(), 1e-6);
  const Finished verified =
      run({"verify", "plan.json", "--platform", sample("cloud-71-regions.json")});
  EXPECT_EQ(verified.status, 0) << verified.err;
}

INSTANTIATE_TEST_SUITE_P(Cloud, KnownResults,
                         ::testing::Values(Known{"aws:us-east-1", "bounded-multi-port", 5.0},
                                           Known{"gcp:us-west1-a", "bounded-multi-port", 7.0},
                                           Known{"azure:westeurope", "bounded-multi-port", 9.2143},
                                           Known{"aws:us-east-1", "one-port", 4.7821},
                                           Known{"gcp:us-west1-a", "one-port", 7.1632},
                                           Known{"azure:westeurope", "one-port", 7.1632}),
                         [](const auto& instance) {
                           std::string name = instance.param.source + '_' + instance.param.model;
                           for (char& letter : name) {
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
                               letter = '_';
                           }
                           return name;
                         });

struct Fabric {
  std::string file;
  std::string source;
  double one_port_GBps;  // the fastest link of the source; below 0: not known
  double bounded_multi_port_GBps;
};

class GpuFabrics : public CliTest, public ::testing::WithParamInterface<Fabric> {};

TEST_P(GpuFabrics, AnOptimumIsCertifiedUnderEveryModel) {
  const Fabric& fabric = GetParam();
  const std::vector<std::pair<std::string, double>> models{
      {"one-port", fabric.one_port_GBps},
      {"one-port-unidirectional", -1},
      {"multi-port", -1},
      {"bounded-multi-port", fabric.bounded_multi_port_GBps}};
  for (const auto& [model, optimum] : models) {
    SCOPED_TRACE(model);
    const Json result = run_json({"bound", sample("gpu_fabric/" + fabric.file + ".csv"), "--source",
                                  fabric.source, "--model", model, "--json"});
    EXPECT_LE(result.at("gap").get<double>(), 1e-6);
    if (optimum > 0) {
      EXPECT_NEAR(result.at("optimum_Bps").get<double>() / 1e9, optimum, 1e-5 * optimum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GpuFabrics,
                         ::testing::Values(Fabric{"dgx1_v100", "gpu0", 50, 150},
                                           Fabric{"dgx_a100_1node_forestcoll", "n0_gpu0", 300, 300},
                                           // The other node receives through eight adapters.
                                           Fabric{"dgx_a100_2node_forestcoll", "n0_gpu0", -1, 200},
                                           Fabric{"mi250_1node_forestcoll", "n0_gpu0", -1, -1},
                                           Fabric{"ndv2_taccl_measured", "gpu0", 43.4783,
                                                  130.4348}),
                         [](const auto& instance) { return instance.param.file; });

// A sample platform and its source: the first host, or the first that reaches all others.
struct Sample {
  std::string file;
  std::string source;
  std::vector<std::string> options = {};
};

class Samples : public CliTest, public ::testing::WithParamInterface<Sample> {};

TEST_P(Samples, AnOptimumIsCertifiedUnderEveryModel) {
  for (const std::string model : {"one-port", "one-port-unidirectional", "multi-port",
                                  "bounded-multi-port", "multi-port-processor"}) {
    SCOPED_TRACE(model);
    const Json result = run_json(joined({"bound", sample(GetParam().file), "--source",
                                         GetParam().source, "--model", model, "--json"},
                                        GetParam().options));
    EXPECT_GT(result.at("optimum_Bps").get<double>(), 0);
    EXPECT_LE(result.at("gap").get<double>(), 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Samples,
    ::testing::Values(
        Sample{"cloud-71-regions.json", "aws:us-east-2"}, Sample{"equal-hosts-16.json", "n0"},
        Sample{"heterogeneous-star.json", "master"}, Sample{"relays-shared-link.json", "a"},
        Sample{"seed-sketch.json", "P0"}, Sample{"two-clusters-thin-link.json", "lyon-1"},
        Sample{"skyplane/throughput_2022-11.csv", "aws:us-east-2"},
        Sample{"simgrid/bypassRoute.xml", "AS_1_host1"},
        Sample{"simgrid/cluster_backbone.xml", "node-0.simgrid.org"},
        Sample{"simgrid/cluster_fat_tree.xml", "node-0.simgrid.org"},
        Sample{"simgrid/dogbone.xml", "S1"},
        Sample{"simgrid/griffon.xml", "griffon-1.nancy.grid5000.fr"},
        Sample{"simgrid/meta_cluster.xml", "host-1.cluster1"},
        Sample{"simgrid/small_platform.xml", "Tremblay"},
        Sample{"simgrid/small_platform_with_routers.xml", "Tremblay"},
        Sample{"simgrid/three_multicore_hosts.xml", "PM0"},
        Sample{"topology_zoo/Belnet2006.graphml", "Geel"},
        // Seven of its nodes have no link of a known speed.
        Sample{"topology_zoo/Garr201201.graphml", "Svizzera", {"--missing-bandwidth", "1Gbit/s"}},
        Sample{"topology_zoo/Geant2009.graphml", "NL"},
        Sample{"topology_zoo/Rnp.graphml", "Revife"},
        Sample{"topology_zoo/Sanet.graphml", "Zilina"},
        Sample{"infiniband/manpage-sample.ibnetdiscover",
               "MT23108 InfiniHost Mellanox Technologies (H-0008f10403960984)"},
        Sample{"infiniband/plafrim2-subnet0000.ibnetdiscover", "miriel017 qib0"},
        Sample{"infiniband/plafrim2-subnet0001.txt", "bright mlx4_0"},
        Sample{"measured/mpigraph-6-ranks.txt", "vm:0"},
        Sample{"measured/nvbandwidth_d2d_write_ce_8gpu.txt", "GPU0"},
        Sample{"measured/attila.bandwidth", "0"}, Sample{"measured/iperf3", "10.99.7.1"},
        Sample{"slurm/blocks-and-rings.conf", "gpu1", {"--level-bandwidth", "1GB/s,1GB/s"}},
        Sample{"slurm/topology.conf", "ant01", {"--level-bandwidth", "1GB/s,2GB/s,4GB/s"}},
        Sample{"slurm/topology.yaml", "node01", {"--level-bandwidth", "1GB/s,1GB/s"}},
        Sample{"tiers/medium.tiers", "0"}, Sample{"tiers/small.tiers", "0"}),
    [](const auto& instance) {
      std::string name = instance.param.file;
      for (char& letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
      }
      return name;
    });

}  // namespace

}  // namespace espalier::cli::known_results_test
