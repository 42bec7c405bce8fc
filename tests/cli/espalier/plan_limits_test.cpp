// plan: limits of time, trees, depth and latency.
#include <gmock/gmock.h>

#include <string>

#include "planner/plan/plan.hpp"
#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::plan_limits_test {

namespace {

using ::testing::HasSubstr;

class PlanLimits : public CliTest {};

TEST_F(PlanLimits, ATimeLimitLeavesAPlanAndItsGap) {
  // 300 hosts with 89,700 links of different bandwidths: too many for a proof within a millisecond.
  ASSERT_EQ(
      run({"generate", "random", "--nodes", "300", "--density", "1", "--seed", "5", "-o", "p.json"})
          .status,
      0);
  const Json platform = parse_json(read("p.json"), "p.json");
  const std::string source = platform.at("nodes")[0].at("name");
  const Finished finished =
      run({"plan", "p.json", "--source", source, "--time-limit", "1ms", "-o", "plan.json"});
  EXPECT_EQ(finished.status, 4);
  // On a slow machine a line of progress may stand before it.
  EXPECT_THAT(
      finished.err,
      HasSubstr(
          "espalier: warning: optimal: the time limit was reached before the gap was closed: "));
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.json", "--no-proof"}).status, 0);
  EXPECT_EQ(run({"bound", "p.json", "--source", source, "--time-limit", "1ms", "--json"}).status,
            4);
}

// A limit that no machine can keep, on few enough hosts that the first round is never cut.
TEST_F(PlanLimits, ALimitThatCutsAPlanShortSaysSo) {
  ASSERT_EQ(run({"generate", "random", "--nodes", "60", "--density", "0.2", "-o", "p.json"}).status,
            0);
  const std::vector<std::vector<std::string>> cases{
      {},
      {"--max-trees", "4"},
      {"--max-depth", "4"},
      {"--max-latency", "1s"},
      {"--operation", "allreduce"},
      {"--operation", "allreduce", "--max-depth", "4"},
      {"--algorithm", "lp-grow"},
      {"--algorithm", "lp-prune"},
      {"--algorithm", "best-tree"},
      {"--algorithm", "exact-tree"},
  };
  for (const std::vector<std::string>& more : cases) {
    std::vector<std::string> arguments{"plan", "p.json",      "--source", "n0", "--time-limit",
                                       "1ns",  "--max-trees", "40",       "-o", "plan.json"};
    if (!more.empty() && more.front() == "--max-trees") {
      arguments.erase(arguments.begin() + 6, arguments.begin() + 8);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 4) << ::testing::PrintToString(more);
    EXPECT_THAT(finished.err,
                HasSubstr(": the time limit was reached before the gap was closed: "));
    EXPECT_THAT(finished.out, HasSubstr("bound (not final)"));
  }
  const Finished bound = run({"bound", "p.json", "--source", "n0", "--time-limit", "1ns"});
  EXPECT_EQ(bound.status, 4);
  EXPECT_THAT(bound.out, HasSubstr("\nbound (not final)  "));
  const Finished compare =
      run({"compare", "p.json", "--algorithm", "lp-grow,grow", "--time-limit", "1ns"});
  EXPECT_EQ(compare.status, 4);
  EXPECT_THAT(compare.out, HasSubstr(", bound (not final) "));
  for (const char* command : {"bound", "compare"}) {
    const Finished csv = run({command, "p.json", "--source", "n0", "--time-limit", "1ns", "--csv"});
    EXPECT_EQ(csv.status, 4);
    EXPECT_THAT(csv.out,
                ::testing::AllOf(HasSubstr(",false\n"), ::testing::Not(HasSubstr(",true\n"))));
  }
}

TEST_F(PlanLimits, AHeuristicWithoutATreeInTimeSaysSo) {
  ASSERT_EQ(run({"generate", "star", "--hosts", "400", "-o", "p.json"}).status, 0);
  const Finished finished = run({"plan", "p.json", "--source", "h0", "--algorithm", "grow",
                                 "--time-limit", "1ns", "-o", "plan.json"});
  EXPECT_EQ(finished.status, 4);
  EXPECT_EQ(finished.err,
            "espalier: grow: the time limit was reached before there was any result; raise the "
            "limit\n");
}

// Shallower plans are slower, never deeper than the limit, and valid.
TEST_F(PlanLimits, MaxDepthTradesThroughputForDepth) {
  const std::string platform = sample("cloud-71-regions.json");
  const Json summary = run_json({"plan", platform, "--source", "aws:us-east-1", "--max-depth",
                                 "6,1,3", "-o", "plan.json", "--json"});
  const Json& rows = summary["rows"];
  ASSERT_EQ(rows.size(), 3U);
  double before = 0;
  for (const Json& row : rows) {
    EXPECT_LE(row["depth"], row["max_depth"]);
    EXPECT_GE(row["throughput_Bps"].get<double>(), before);
    before = row["throughput_Bps"].get<double>();
  }
  EXPECT_EQ(rows[0]["depth"], 1);
  EXPECT_EQ(run({"verify", "plan.json", "--platform", platform}).status, 0);
  // The trees as they are priced have hosts with 61 children.
  const Json flat = run_json({"plan", platform, "--source", "azure:westeurope", "--max-depth", "8",
                              "-o", "plan.json", "--json"});
  EXPECT_LE(flat["rows"][0]["depth"], 8);
  EXPECT_LE(flat["rows"][0]["out_degree"], 20);
}

// a -> b: 100 MB/s, 1 ms; b -> c: 100 MB/s, 80 ms; a -> c: 10 MB/s, 20 ms. The optimum is 100 MB/s,
// and 10 MB/s with latencies of at most 20 ms.
TEST_F(PlanLimits, MaxLatencyTradesThroughputForTime) {
  write("p.csv", "from,to,bandwidth_MBps,latency_ms\na,b,100,1\nb,c,100,80\na,c,10,20\n");
  const std::vector<std::string> plan{
      "plan", "p.csv", "--source", "a", "--model", "bounded-multi-port", "-o", "plan.json"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = plan;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Json summary = run_json(with({"--max-latency", "100ms,20ms", "--json"}));
  const Json& rows = summary["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["max_latency_s"], 0.02);
  EXPECT_NEAR(rows[0]["throughput_Bps"], 10e6, 1);
  EXPECT_NEAR(rows[1]["throughput_Bps"], 100e6, 1);
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.csv"}).status, 0);

  EXPECT_THAT(refusal_of(run(with({"--max-latency", "19ms"})), 3),
              HasSubstr("no tree from 'a' reaches every host within 19.0 ms"));
  EXPECT_EQ(run(with({"--max-latency", "1s", "--max-depth", "2"})).err,
            "espalier: --max-latency: cannot be combined with --max-depth; give one of them\n");
  EXPECT_EQ(run(with({"--max-latency", "-1s"})).err,
            "espalier: --max-latency: must not be negative\n");
  EXPECT_EQ(run(with({"--max-latency", "1s,", "--quiet"})).status, 2);

  // A short message takes the path of low latency, a long one that of high bandwidth.
  const auto latency_for = [&](const std::string& message) {
    run(with({"--message", message}));
    const planner::Plan made = planner::parse_plan(read("plan.json"), "plan.json");
    return planner::latency_of(made.broadcast_trees.front(), planner::source_index(made)).value;
  };
  EXPECT_DOUBLE_EQ(latency_for("10kB"), 0.02);
  EXPECT_DOUBLE_EQ(latency_for("100MB"), 0.081);
}

// The choice takes half a minute, of which the first second has no result that could be shown.
TEST_F(PlanLimits, CtrlCKeepsWhatWasFound) {
  const std::string platform = sample("cloud-71-regions.json");
  const Finished ended = run_interrupted(
      {"plan", platform, "--source", "azure:westeurope", "--message", "64MiB", "-o", "plan.json"});
  EXPECT_EQ(ended.status, 4) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("interrupted: ending with what was found so far"));
  EXPECT_THAT(ended.err, HasSubstr("interrupted before all plans and segment sizes were tried"));
  EXPECT_EQ(run({"verify", "plan.json", "--platform", platform}).status, 0);
}

TEST_F(PlanLimits, RefusesAnImpossibleDepth) {
  write("p.json", kTriangle);
  EXPECT_EQ(refusal_of(run(
                {"plan", "p.json", "--source", "a", "--max-depth", "3", "--algorithm", "chain"})),
            "espalier: --max-depth: 'chain' cannot limit the depth; use 'optimal'\n");
  EXPECT_THAT(
      refusal_of(run({"plan", sample("seed-sketch.json"), "--source", "P0", "--max-depth", "1"}),
                 3),
      HasSubstr("no tree from 'P0' reaches every host within 1 edges"));
}

}  // namespace
}  // namespace espalier::cli::plan_limits_test
