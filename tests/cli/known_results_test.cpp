// The 71 cloud regions: optima that others have found too (bounded-multi-port: SPIDER of Cloudcast
// reaches 5.00, 7.00 and 6.13 Gbit/s; one-port: the papers' flow LP on parts of it).
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace espalier::cli {

namespace {

struct Known {
  std::string source;
  std::string model;
  double optimum_Gbps;
};

class KnownResults : public CliTest, public testing::WithParamInterface<Known> {};

TEST_P(KnownResults, OptimumOfThe71Regions) {
  const Known& known = GetParam();
  const std::vector<std::string> instance{sample("cloud-71-regions.json"), "--source", known.source,
                                          "--model", known.model};
  std::vector<std::string> arguments{"plan"};
  arguments.insert(arguments.end(), instance.begin(), instance.end());
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
                         testing::Values(Known{"aws:us-east-1", "bounded-multi-port", 5.0},
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

}  // namespace

}  // namespace espalier::cli
