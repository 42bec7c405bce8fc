// bound: its output.
#include <gmock/gmock.h>

#include <string>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::bound_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BoundCommand : public CliTest {};

TEST_F(BoundCommand, JsonKeys) {
  write("p.json", kTriangle);
  const Json bound = run_json({"bound", "p.json", "--source", "a", "--json"});
  EXPECT_THAT(keys_of(bound),
              ElementsAre("operation", "platform", "source", "model", "optimum_Bps", "bound_Bps",
                          "bound_final", "gap", "trees", "cuts", "bottlenecks", "seconds"));
  EXPECT_NEAR(bound.at("bound_Bps").get<double>(), 1e9, 1e4);
  EXPECT_LE(bound.at("gap").get<double>(), 1e-6);
  ASSERT_FALSE(bound.at("bottlenecks").empty());
  EXPECT_THAT(keys_of(bound.at("bottlenecks")[0]), ElementsAre("resource", "price"));
}

TEST_F(BoundCommand, NamesTheBottleneck) {
  // a == 8 Gbit/s == b -- 1 Gbit/s -- c: the link into c is the bottleneck
  write("p.csv", "from,to,bandwidth_Gbps\na,b,8\nb,a,8\nb,c,1\nc,b,1\n");
  const Json bound = run_json({"bound", "p.csv", "--source", "a", "--json"});
  ASSERT_FALSE(bound.at("bottlenecks").empty());
  const std::string resource = bound.at("bottlenecks")[0].at("resource").get<std::string>();
  EXPECT_TRUE(resource == "out-port of b" || resource == "in-port of c") << resource;
  const Finished table = run({"bound", "p.csv", "--source", "a"});
  EXPECT_THAT(table.out, StartsWith("optimum       1.0000 Gbit/s\n"));
  EXPECT_THAT(table.out, HasSubstr(resource));
}

TEST_F(BoundCommand, NamesTheCut) {
  const std::string platform = sample("two-clusters-thin-link.json");
  const std::string cut = "the link into lyon carries 100.0000 Mbit/s for 6 hosts";
  EXPECT_THAT(run({"bound", platform, "--source", "nancy-2"}).out,
              HasSubstr("\ncut           " + cut + "\n"));
  EXPECT_THAT(run({"explain", platform, "--source", "nancy-2", "--top", "1"}).out,
              HasSubstr("\nThe bound is a cut: " + cut + ".\n"));
  for (const char* const command : {"bound", "explain"}) {
    const Json report =
        run_json({command, platform, "--source", "nancy-2", "--top", "1", "--json"});
    ASSERT_EQ(report.at("cuts").size(), 1U);
    const Json& first = report.at("cuts")[0];
    EXPECT_THAT(keys_of(first), ElementsAre("cut", "capacity_Bps", "hosts", "links"));
    EXPECT_EQ(first.at("cut"), "the link into lyon");
    EXPECT_NEAR(first.at("capacity_Bps").get<double>(), 12.5e6, 1);
  }
}

TEST_F(BoundCommand, TopLimitsTheBottlenecks) {
  const Json bound = run_json({"bound", sample("cloud-71-regions.json"), "--source",
                               "gcp:us-west1-a", "--top", "3", "--json"});
  EXPECT_LE(bound.at("bottlenecks").size(), 3U);
}

TEST_F(BoundCommand, CsvHasARowPerBottleneck) {
  write("p.json", kTriangle);
  const Finished csv = run({"bound", "p.json", "--source", "a", "--csv"});
  EXPECT_EQ(csv.status, 0);
  EXPECT_THAT(
      csv.out,
      StartsWith(
          "platform,source,model,optimum_Bps,bound_Bps,gap,resource,price,operation,bound_final\n"
          "triangle,a,one-port,"));
}

}  // namespace
}  // namespace espalier::cli::bound_test
