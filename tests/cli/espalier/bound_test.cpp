// bound: its output.
#include <gmock/gmock.h>

#include <string>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::bound_test {

namespace {

using namespace ::testing;

class BoundCommand : public CliTest {};

TEST_F(BoundCommand, JsonKeys) {
  write("p.json", kTriangle);
  const Json bound = run_json({"bound", "p.json", "--source", "a", "--json"});
  EXPECT_THAT(keys_of(bound),
              ElementsAre("operation", "platform", "source", "model", "optimum_Bps", "bound_Bps",
                          "bound_final", "gap", "trees", "bottlenecks", "seconds"));
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
