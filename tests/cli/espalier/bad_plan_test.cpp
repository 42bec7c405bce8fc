// verify: valid plans, and how faults are reported. Every kind of fault:
// tests/planner/check/verify_test.cpp.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::bad_plan_test {

namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class VerifyCommand : public CliTest {
 protected:
  Finished verify(const std::string& plan) const {
    write("plan.json", plan);
    write("platform.json", kTriangle);
    return run({"verify", "plan.json", "--platform", "platform.json"});
  }
  // The faults of a well-formed but invalid plan: one line per fault, status 5.
  std::string faults(const std::string& plan) const {
    const Finished finished = verify(plan);
    EXPECT_EQ(finished.status, 5) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("espalier: plan.json: "));
    return finished.err;
  }
};

TEST_F(VerifyCommand, AValidPlan) {
  const Finished finished = verify(kChainPlan);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(
      finished.out,
      StartsWith("faults        0\nthroughput    8.0000 Gbit/s\nproven bound  8.0000 Gbit/s\n"));
}

TEST_F(VerifyCommand, JsonKeys) {
  write("plan.json", kChainPlan);
  write("p.json", kTriangle);
  const Json report = run_json({"verify", "plan.json", "--platform", "p.json", "--json"});
  EXPECT_THAT(keys_of(report),
              ElementsAre("operation", "platform", "source", "model", "algorithm", "valid",
                          "faults", "throughput_Bps", "bound_Bps", "bound_final",
                          "busiest_resource", "busiest_load", "trees", "depth", "out_degree"));
  EXPECT_EQ(report.at("valid"), true);
  EXPECT_EQ(report.at("depth"), 2);
  EXPECT_NEAR(report.at("bound_Bps").get<double>(), 1e9, 1e4);
  const Json quick =
      run_json({"verify", "plan.json", "--platform", "p.json", "--json", "--no-proof"});
  EXPECT_TRUE(quick.at("bound_Bps").is_null());
}

TEST_F(VerifyCommand, ATimeLimitLeavesTheBoundUnfinished) {
  ASSERT_EQ(run({"generate", "random", "--nodes", "60", "--density", "0.2", "-o", "p.json"}).status,
            0);
  ASSERT_EQ(
      run({"plan", "p.json", "--source", "n0", "--algorithm", "grow", "-o", "plan.json"}).status,
      0);
  const Finished finished =
      run({"verify", "plan.json", "--platform", "p.json", "--time-limit", "1ns"});
  EXPECT_EQ(finished.status, 4);
  EXPECT_THAT(finished.out, HasSubstr("\nbound (not final)  "));
  EXPECT_THAT(finished.err, HasSubstr("verify: the time limit was reached before the gap was "));
}

TEST_F(VerifyCommand, PlansOfEveryAlgorithmAreValid) {
  write("p.json", kTriangle);
  const Json list = run_json({"list", "algorithms", "--json"});
  for (const Json& entry : list.at("algorithms")) {
    const std::string name = entry.at("name");
    if (name == "fabric") continue;  // not for hosts linked to hosts
    for (const std::string operation : entry.at("operations")) {
      std::vector<std::string> planning{"plan",        "p.json",  "--algorithm", name,
                                        "--operation", operation, "-o",          "plan.json"};
      if (operation != "allgather" && operation != "reduce-scatter" && operation != "alltoall") {
        planning.insert(planning.end(), {"--source", "b"});
      }
      const Finished made = run(planning);
      ASSERT_EQ(made.status, 0) << operation << " by " << name << ": " << made.err;
      const Finished finished = run({"verify", "plan.json", "--platform", "p.json"});
      EXPECT_EQ(finished.status, 0) << operation << " by " << name << ": " << finished.err;
    }
  }
}

TEST_F(VerifyCommand, APlanOverAnInnerAlgorithm) {
  const std::string platform = sample("two-clusters-thin-link.json");
  for (const char* name : {"hierarchical:binomial", "hierarchical-node:grow", "reorder:chain"}) {
    ASSERT_EQ(run({"plan", platform, "--source", "nancy-2", "--algorithm", name, "-o", "plan.json"})
                  .status,
              0);
    EXPECT_EQ(parse_json(read("plan.json"), "plan.json").at("algorithm"), name);
    const Finished finished = run({"verify", "plan.json", "--platform", platform});
    EXPECT_EQ(finished.status, 0) << name << ": " << finished.err;
  }
  EXPECT_THAT(faults(replaced(kChainPlan, R"("optimal")", R"("hierarchical:chian")")),
              AllOf(HasSubstr("/algorithm: "), HasSubstr("did you mean 'chain'?")));
}

TEST_F(VerifyCommand, FromStdin) {
  write("p.json", kTriangle);
  EXPECT_EQ(run({"verify", "-", "--platform", "p.json"}, kChainPlan).status, 0);
  const Finished wrong =
      run({"verify", "-", "--platform", "p.json"}, replaced(kChainPlan, "[1, 2]", "[0, 2]"));
  EXPECT_EQ(wrong.status, 5);
  EXPECT_THAT(wrong.err, StartsWith("espalier: <stdin>: "));
  EXPECT_EQ(run({"verify", "-", "--platform", "-"}).status, 2);
}

TEST_F(VerifyCommand, APlanForAnotherPlatform) {
  EXPECT_THAT(faults(replaced(kChainPlan, "triangle", "quadrangle")),
              AllOf(HasSubstr("/platform: "), HasSubstr("'quadrangle'"), HasSubstr("'triangle'")));
  EXPECT_THAT(
      faults(replaced(kChainPlan, R"("nodes": ["a", "b", "c"])", R"("nodes": ["a", "b", "d"])")),
      HasSubstr("'d'"));
  EXPECT_THAT(faults(replaced(kChainPlan, R"("nodes": ["a", "b", "c"])",
                              R"("nodes": ["a", "b", "c", "d"])")),
              HasSubstr("/nodes: the plan has 4 nodes, the platform 3 hosts"));
  // A broadcast may be to some of the hosts only, which is said.
  const Finished some =
      verify(replaced(replaced(kChainPlan, R"("nodes": ["a", "b", "c"])", R"("nodes": ["a", "b"])"),
                      ", [1, 2]", ""));
  EXPECT_EQ(some.status, 0) << some.err;
  EXPECT_THAT(some.out, ContainsRegex("\nhosts +2 of 3\n"));
}

TEST_F(VerifyCommand, AnAbsurdOverloadIsShort) {
  const std::string plan = replaced(
      replaced(replaced(kChainPlan, R"("throughput_Bps": 1e9)", R"("throughput_Bps": 1e308)"),
               R"("rate_Bps": 1e9)", R"("rate_Bps": 1e308)"),
      R"("optimum_Bps": 1e9)", R"("optimum_Bps": null)");
  EXPECT_EQ(
      faults(plan),
      "espalier: plan.json: /broadcast_trees: the rates load out-port of a to 1.000000e+299 of "
      "its capacity; throughput at most 8.0000 Gbit/s\n");
  EXPECT_THAT(verify(plan).out, HasSubstr("out-port of a: 1.00e+301 %\n"));
}

TEST_F(VerifyCommand, AFileThatIsNotAPlanIsBadInput) {
  for (const std::string& text : {std::string(), kTriangle, kChainPlan.substr(0, 200),
                                  replaced(kChainPlan, "[1, 2]]", "[1, 7]]")}) {
    EXPECT_THAT(refusal_of(verify(text)), StartsWith("espalier: plan.json: ")) << text;
  }
}

}  // namespace

}  // namespace espalier::cli::bad_plan_test
