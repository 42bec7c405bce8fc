// --operation: reductions and allreduces from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/plan/plan.hpp"
#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::operations_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class OperationOption : public CliTest {
 protected:
  void SetUp() override { write("p.json", kTriangle); }
  [[nodiscard]] Json plan(const std::string& operation) const {
    run_json(
        {"plan", "p.json", "--source", "a", "--operation", operation, "-o", "plan.json", "--json"});
    return parse_json(read("plan.json"), "plan.json");
  }
  // Of `plan`, which then writes nothing.
  [[nodiscard]] std::string refused(const std::vector<std::string>& more) const {
    const std::string refusal =
        refusal_of(run(joined({"plan", "p.json", "--source", "a", "-o", "no.json"}, more)));
    EXPECT_FALSE(exists("no.json"));
    return refusal;
  }
};

// a -> c carries 4 Gbit/s, all other links 8, so that both a reduction to a and, along the chain
// a -> b -> c, a broadcast from a reach 8 Gbit/s.
TEST_F(OperationOption, PlansAReduceThatVerifyAccepts) {
  const Json made = plan("reduce");
  EXPECT_EQ(made.at("operation"), "reduce");
  EXPECT_FALSE(made.contains("broadcast_trees"));
  EXPECT_NEAR(made.at("throughput_Bps").get<double>(), 1e9, 1e3);
  const Json report = run_json({"verify", "plan.json", "--platform", "p.json", "--json"});
  EXPECT_EQ(report.at("operation"), "reduce");
  EXPECT_EQ(report.at("valid"), true);
  EXPECT_NEAR(report.at("bound_Bps").get<double>(), 1e9, 1e4);
}

// Three equal hosts would reach 3/4 of a link's rate, 6 Gbit/s. The slow link reduces that: what a
// sends to c occupies a's out-port and c's in-port for twice the time.
TEST_F(OperationOption, PlansAnAllreduceThatVerifyAccepts) {
  const Json made = plan("allreduce");
  EXPECT_EQ(made.at("operation"), "allreduce");
  EXPECT_THAT(made.at("reduce_trees"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(made.at("broadcast_trees"), ::testing::Not(IsEmpty()));
  const double reached = made.at("throughput_Bps").get<double>();
  EXPECT_GE(reached, 0.5e9);
  EXPECT_LE(reached, 0.75e9 * (1 + 1e-6));
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.json"}).status, 0);
  const Json bound =
      run_json({"bound", "p.json", "--source", "a", "--operation", "allreduce", "--json"});
  EXPECT_EQ(bound.at("operation"), "allreduce");
  EXPECT_NEAR(bound.at("optimum_Bps").get<double>() / reached, 1, 2e-6);
}

TEST_F(OperationOption, VerifyFindsAnOverloadByBothHalves) {
  static_cast<void>(plan("allreduce"));
  std::string text = read("plan.json");
  Json json = parse_json(text, "plan.json");
  for (const char* key : {"reduce_trees", "broadcast_trees"}) {
    for (Json& tree : json[key]) tree["rate_Bps"] = tree["rate_Bps"].get<double>() * 1.3;
  }
  json["throughput_Bps"] = json["throughput_Bps"].get<double>() * 1.3;
  json["optimum_Bps"] = nullptr;
  write("plan.json", json.dump());
  const Finished finished = run({"verify", "plan.json", "--platform", "p.json"});
  EXPECT_EQ(finished.status, 5);
  EXPECT_THAT(finished.err, HasSubstr("/broadcast_trees: the rates load "));
}

TEST_F(OperationOption, ComparesTheAlgorithmsThatServeIt) {
  const Json reduce = run_json({"compare", "p.json", "--operation", "reduce", "--json"});
  const Json both = run_json({"compare", "p.json", "--operation", "allreduce", "--json"});
  const auto names = [](const Json& comparison) {
    std::vector<std::string> result;
    for (const Json& row : comparison.at("rows")) result.push_back(row.at("algorithm"));
    return result;
  };
  EXPECT_THAT(names(reduce), ::testing::Contains("two-tree-complete"));
  EXPECT_THAT(names(reduce), ::testing::Not(::testing::Contains("fnf")));
  EXPECT_THAT(names(both), ::testing::Contains("two-tree-complete+sanders"));
  for (const Json& row : both.at("rows")) {
    EXPECT_LE(row.at("relative").get<double>(), 1) << row;
    EXPECT_TRUE(row.at("makespan_s").is_null());
  }
  EXPECT_THAT(run({"compare", "p.json", "--operation", "reduce", "--algorithm", "chain"}).out,
              StartsWith("triangle reduced to a, one-port: "));
}

TEST_F(OperationOption, ReducesAndAllreducesHaveSchedules) {
  for (const std::string operation : {"reduce", "allreduce"}) {
    const Finished finished =
        run({"plan", "p.json", "--root", "a", "--operation", operation, "--schedule", "--algorithm",
             "chain", "--segment", "1MB", "-o", "plan.json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const planner::Plan plan = planner::parse_plan(read("plan.json"), "plan.json");
    ASSERT_TRUE(plan.schedule);
    EXPECT_EQ(plan.schedule->segments.size(), planner::tree_count(plan));
    EXPECT_NEAR(plan.schedule->throughput.value, plan.throughput.value,
                0.01 * plan.throughput.value);
    const Json report = run_json({"verify", "plan.json", "--platform", "p.json", "--json"});
    EXPECT_EQ(report.at("valid"), true);
    EXPECT_EQ(report.at("scheduled_Bps").get<double>(), plan.schedule->throughput.value);
    const std::vector<std::string> simulate{"simulate",  "plan.json", "--platform", "p.json",
                                            "--message", "1GB",       "--json"};
    const Json simulated = run_json(simulate);
    EXPECT_EQ(simulated.at("scheduled"), true);
    EXPECT_GT(simulated.at("rows")[0].at("of_plan").get<double>(), 0.95);
    EXPECT_EQ(refusal_of(run({"simulate", "plan.json", "--platform", "p.json", "--message", "1GB",
                              "--compute", "1GB/s"})),
              "espalier: --compute: the plan's schedule leaves no time for combining; give "
              "--no-schedule\n");
  }
}

TEST_F(OperationOption, Refusals) {
  EXPECT_THAT(refused({"--operation", "redcue"}),
              HasSubstr("--operation: unknown operation 'redcue'; did you mean 'reduce'?"));
  EXPECT_THAT(refused({"--operation", "reduce", "--algorithm", "ecef"}),
              HasSubstr("algorithm 'ecef' makes no trees for a reduce; these do: optimal, "));
  EXPECT_THAT(refused({"--algorithm", "two-tree-complete+complete"}),
              HasSubstr("makes no trees for a broadcast"));
}

TEST_F(OperationOption, AnUnreachableRootHasNoSolution) {
  write("one-way.csv", "from,to,bandwidth\na,b,8Gbit/s\n");
  EXPECT_THAT(refusal_of(run({"plan", "one-way.csv", "--source", "a", "--operation", "reduce", "-o",
                              "no.json"}),
                         3),
              HasSubstr("'b' cannot reach 'a'"));
  EXPECT_EQ(run({"plan", "one-way.csv", "--source", "b", "--operation", "reduce", "-o", "yes.json"})
                .status,
            0);
}

TEST_F(OperationOption, SimulateRunsReductions) {
  for (const std::string operation : {"reduce", "allreduce"}) {
    static_cast<void>(plan(operation));
    const Json report = run_json({"simulate", "plan.json", "--platform", "p.json", "--message",
                                  "64MiB", "--compute", "4GB/s", "--json"});
    EXPECT_EQ(report.at("operation"), operation);
    EXPECT_EQ(report.at("window"), 4);
    EXPECT_EQ(report.at("receives"), 4);
    EXPECT_EQ(report.at("compute_Bps"), 4e9);
    const Json& row = report.at("rows").at(0);
    EXPECT_GT(row.at("of_plan"), 0.7);
    EXPECT_LE(row.at("of_plan"), 1 + 1e-9);
    EXPECT_THAT(row.at("resources").back().at("resource"), StartsWith("processor of "));
    const Finished traced = run({"simulate", "plan.json", "--platform", "p.json", "--message",
                                 "1MiB", "--compute", "4GB/s", "--trace", "trace.json"});
    EXPECT_EQ(traced.status, 0) << traced.err;
    EXPECT_THAT(read("trace.json"), HasSubstr("\"reduce tree 0 segment 0 of "));
    EXPECT_EQ(read("trace.json").find("broadcast tree") != std::string::npos,
              operation == "allreduce");
  }
}

TEST_F(OperationOption, SimulateRefusesOptionsOfReductionsForABroadcast) {
  static_cast<void>(plan("broadcast"));
  for (const char* option : {"--compute=1GB/s", "--receives=2"}) {
    EXPECT_THAT(refusal_of(run({"simulate", "plan.json", "--platform", "p.json", "--message",
                                "1MiB", option})),
                HasSubstr("is for operations that combine "));
  }
  static_cast<void>(plan("reduce"));
  EXPECT_THAT(run({"simulate", "plan.json", "--platform", "p.json", "--message", "1MiB",
                   "--compute", "0 B/s"})
                  .err,
              HasSubstr("--compute: must be above zero"));
}

// Edges point in the direction of the data.
TEST_F(OperationOption, ShowDrawsReductions) {
  write("line.csv", "from,to,bandwidth\nb,a,8Gbit/s\n");
  ASSERT_EQ(
      run({"plan", "line.csv", "--source", "a", "--operation", "reduce", "-o", "plan.json"}).status,
      0);
  const Finished reduce = run({"show", "plan.json", "--platform", "line.csv", "-o", "plan.dot"});
  EXPECT_EQ(reduce.status, 0) << reduce.err;
  EXPECT_THAT(reduce.out, HasSubstr("operation   reduce\n"));
  EXPECT_THAT(read("plan.dot"), HasSubstr("\"b\" -> \"a\""));
  EXPECT_THAT(read("plan.dot"), HasSubstr("reduced to a by optimal"));
  static_cast<void>(plan("allreduce"));
  const Json shown = run_json({"show", "plan.json", "--platform", "p.json", "--json"});
  EXPECT_EQ(shown.at("operation"), "allreduce");
  EXPECT_FALSE(shown.at("reduce_trees").empty());
  EXPECT_FALSE(shown.at("trees").empty());
}

// `plan` and `simulate` give the same makespan for the same rate of combining.
TEST_F(OperationOption, PlansAreChosenForAMessage) {
  for (const std::string operation : {"reduce", "allreduce"}) {
    const Json summary =
        run_json({"plan", "p.json", "--source", "a", "--operation", operation, "--message", "64MiB",
                  "--compute", "2GB/s", "-o", "plan.json", "--json"});
    EXPECT_EQ(summary.at("operation"), operation);
    const Json& choice = summary.at("choice");
    EXPECT_EQ(choice.at("compute_Bps"), 2e9);
    EXPECT_EQ(choice.at("complete"), true);
    EXPECT_GT(choice.at("candidates")[0].at("reduce_trees"), 0);
    EXPECT_EQ(
        choice.at("candidates")[0].at("trees") > choice.at("candidates")[0].at("reduce_trees"),
        operation == "allreduce");
    const Json report = run_json({"simulate", "plan.json", "--platform", "p.json", "--message",
                                  "64MiB", "--compute", "2GB/s", "--overhead", "10us", "--json"});
    EXPECT_NEAR(
        report.at("rows")[0].at("makespan_s").get<double>() / choice.at("makespan_s").get<double>(),
        1, 1e-9);
    EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.json"}).status, 0);
    const Finished slow = run({"plan", "p.json", "--source", "a", "--operation", operation,
                               "--message", "64MiB", "--compute", "100MB/s", "-o", "slow.json"});
    EXPECT_EQ(slow.status, 0) << slow.err;
    EXPECT_THAT(slow.out, HasSubstr("\n64 MiB in "));
    EXPECT_THAT(slow.out, HasSubstr("\nassumed: hosts combine at 800.0000 Mbit/s (--compute)\n"));
  }
}

TEST_F(OperationOption, ComputeNeedsAReductionAndAMessage) {
  EXPECT_EQ(refused({"--operation", "reduce", "--compute", "1GB/s"}),
            "espalier: --compute: needs --message SIZE\n");
  EXPECT_EQ(refused({"--message", "1MiB", "--compute", "1GB/s"}),
            "espalier: --compute: is for operations that combine data; a broadcast combines "
            "nothing\n");
  EXPECT_EQ(refused({"--operation", "reduce", "--message", "1MiB", "--compute", "0 B/s"}),
            "espalier: --compute: must be above zero\n");
}

// The three commands agree; the plan takes the time that was promised, in simulation.
TEST_F(OperationOption, ABarrierHasATimeInsteadOfAThroughput) {
  const auto of_barrier = [&](const std::string& command, std::vector<std::string> more) {
    more.insert(more.begin(), {command, "p.json", "--operation", "barrier", "--json"});
    return run_json(more);
  };
  const Json made = of_barrier("plan", {"-o", "plan.json"});
  const double time_s = made.at("time_s").get<double>();
  EXPECT_GT(time_s, 0);
  EXPECT_EQ(made.at("bound_s"), of_barrier("bound", {}).at("bound_s"));
  EXPECT_NEAR(made.at("relative").get<double>() * time_s, made.at("bound_s").get<double>(), 1e-12);
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.json"}).status, 0);
  const Json simulated = run_json({"simulate", "plan.json", "--platform", "p.json", "--message",
                                   "1B", "--overhead", "10us", "--json"});
  EXPECT_NEAR(simulated.at("rows")[0].at("makespan_s").get<double>() / time_s, 1, 1e-9);

  EXPECT_THAT(refusal_of(run({"explain", "p.json", "--plan", "plan.json"})),
              HasSubstr("plan.json: /operation: a barrier has a time"));

  const Json compared = of_barrier("compare", {});
  double before_s = 0;
  for (const Json& row : compared.at("rows")) {
    EXPECT_GE(row.at("time_s").get<double>(), before_s);
    before_s = row.at("time_s").get<double>();
    EXPECT_GE(before_s, made.at("bound_s").get<double>());
  }
  const Json via_b = of_barrier("plan", {"--root", "b", "--algorithm", "flat", "-o", "b.json"});
  EXPECT_EQ(via_b.at("source"), "b");
  EXPECT_EQ(via_b.at("algorithm"), "flat");
}

TEST_F(OperationOption, ABarrierRefusesWhatIsOfThroughput) {
  const auto of_barrier_refused = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"p.json", "--operation", "barrier"});
    return refusal_of(run(words));
  };
  const std::string reason = "cannot be combined with a barrier\n";
  EXPECT_EQ(of_barrier_refused({"plan", "--message", "1MiB"}), "espalier: --message: " + reason);
  EXPECT_EQ(of_barrier_refused({"plan", "--max-trees", "2"}), "espalier: --max-trees: " + reason);
  EXPECT_EQ(of_barrier_refused({"compare", "--csv"}), "espalier: --csv: " + reason);
  EXPECT_EQ(of_barrier_refused({"bound", "--csv"}),
            "espalier: --csv: is of throughput, which a barrier does not have\n");
  EXPECT_THAT(of_barrier_refused({"plan", "--algorithm", "optimal"}),
              HasSubstr("'optimal' makes no trees for a barrier"));
}

}  // namespace
}  // namespace espalier::cli::operations_test
