// plan: its output, where it goes, and that it is reproducible.
#include "planner/plan/plan.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::plan_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class PlanCommand : public CliTest {};

TEST_F(PlanCommand, FabricIsForHostsAtSwitches) {
  run({"generate", "star", "--hosts", "9", "-o", "star.json"});
  for (const std::string operation : {"broadcast", "reduce", "allreduce"}) {
    const Finished made = run({"plan", "star.json", "--source", "h0", "--algorithm", "fabric",
                               "--operation", operation, "-o", "plan.json"});
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(run({"verify", "plan.json", "--platform", "star.json"}).status, 0) << operation;
  }
  write("p.json", kTriangle);
  EXPECT_EQ(
      refusal_of(
          run({"plan", "p.json", "--source", "a", "--algorithm", "fabric", "-o", "none.json"}), 3),
      "espalier: triangle: algorithm 'fabric': host 'a' is not linked to a switch; use "
      "'optimal'\n");
}

TEST_F(PlanCommand, WritesThePlanToStdoutAndTheSummaryToStderr) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const planner::Plan plan = planner::parse_plan(finished.out, "<stdout>");
  EXPECT_NO_THROW(planner::check_structure(plan));
  EXPECT_EQ(plan.platform, "triangle");
  EXPECT_EQ(plan.source, "a");
  EXPECT_EQ(plan.model, "one-port");
  EXPECT_EQ(plan.algorithm, "optimal");
  EXPECT_THAT(plan.nodes, ElementsAre("a", "b", "c"));
  EXPECT_EQ(plan.segment, planner::kDefaultSegment);
  EXPECT_NEAR(plan.throughput.value, 1e9,
              1e3);  // a's port sends every byte at least once, at best at 8 Gbit/s
  EXPECT_THAT(finished.err, HasSubstr("8.0000 Gbit/s"));
}

TEST_F(PlanCommand, WritesThePlanToAFileAndTheSummaryToStdout) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a", "-o", "plan.json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("trees"));
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(files(), ElementsAre("p.json", "plan.json"));
  EXPECT_EQ(planner::parse_plan(read("plan.json"), "plan.json").algorithm, "optimal");
}

TEST_F(PlanCommand, FileAndStdoutContainTheSamePlan) {
  write("p.json", kTriangle);
  const Finished to_stdout = run({"plan", "p.json", "--source", "a"});
  ASSERT_EQ(run({"plan", "p.json", "--source", "a", "-o", "plan.json"}).status, 0);
  EXPECT_EQ(to_stdout.out, read("plan.json"));
}

TEST_F(PlanCommand, ReadsThePlatformFromStdin) {
  const Finished finished = run({"plan", "-", "--source", "a", "--algorithm", "chain"}, kTriangle);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(planner::parse_plan(finished.out, "<stdout>").algorithm, "chain");
}

TEST_F(PlanCommand, ChainsSetTheNumberOfChains) {
  write("p.json", kTriangle);
  const auto edges = [&](const std::string& chains) {
    const Finished finished =
        run({"plan", "p.json", "--source", "a", "--algorithm", "k-chain", "--chains", chains});
    return planner::parse_plan(finished.out, "<stdout>").broadcast_trees.at(0).edges;
  };
  EXPECT_THAT(edges("1"), ElementsAre(planner::PlanEdge{0, 1}, planner::PlanEdge{1, 2}));
  EXPECT_THAT(edges("2"), ElementsAre(planner::PlanEdge{0, 1}, planner::PlanEdge{0, 2}));
  EXPECT_EQ(edges("9"), edges("2"));
  EXPECT_THAT(refusal_of(run({"plan", "p.json", "--source", "a", "--chains", "0"})),
              HasSubstr("--chains: k-chain needs at least one chain"));
}

TEST_F(PlanCommand, QuietPrintsNoMessages) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a", "--quiet"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, IsEmpty());
}

TEST_F(PlanCommand, VerboseReportsWhatWasRead) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a", "-o", "x.json", "--verbose"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err,
              HasSubstr("p.json: json platform 'triangle': 3 hosts, 0 relays, 6 links"));
}

TEST_F(PlanCommand, JsonSummary) {
  write("p.json", kTriangle);
  const Json summary = run_json({"plan", "p.json", "--source", "a", "-o", "plan.json", "--json"});
  EXPECT_THAT(keys_of(summary),
              ElementsAre("operation", "platform", "source", "model", "algorithm", "rows"));
  ASSERT_EQ(summary.at("rows").size(), 1U);
  EXPECT_THAT(keys_of(summary.at("rows")[0]),
              ElementsAre("max_trees", "trees", "throughput_Bps", "bound_Bps", "bound_final",
                          "ends", "gap", "depth", "out_degree", "makespan_s", "seconds"));
  EXPECT_EQ(summary.at("rows")[0].at("bound_final"), true);
  EXPECT_THAT(keys_of(summary.at("rows")[0].at("ends")),
              ElementsAre("packing", "proof", "few", "shallow", "search"));
  EXPECT_TRUE(summary.at("rows")[0].at("max_trees").is_null());
}

TEST_F(PlanCommand, MakespanOfAPlanOfOneTree) {
  write("p.json", kTriangle);
  const auto makespan = [this](const std::string& platform, const std::string& source,
                               const std::vector<std::string>& more) {
    return run_json(joined({"plan", platform, "--source", source, "-o", "x.json", "--json"}, more))
        .at("rows")[0]
        .at("makespan_s");
  };
  // a -> b -> c, 1 GB/s each
  EXPECT_NEAR(makespan("p.json", "a", {"--algorithm", "ecef", "--message", "1GB"}).get<double>(), 2,
              1e-9);
  EXPECT_NEAR(makespan("p.json", "a", {"--algorithm", "flat"}).get<double>(), 3 * 1048576e-9,
              1e-12);
  EXPECT_TRUE(makespan(sample("seed-sketch.json"), "P0", {}).is_null());
  EXPECT_FALSE(makespan(sample("seed-sketch.json"), "P0", {"--max-trees", "1"}).is_null());
}

TEST_F(PlanCommand, ChoosesTreesAndSegmentsForAMessage) {
  const Json summary = run_json({"plan", sample("seed-sketch.json"), "--source", "P0", "--message",
                                 "10MiB", "-o", "plan.json", "--json"});
  const Json& choice = summary.at("choice");
  EXPECT_THAT(keys_of(choice),
              ElementsAre("message_bytes", "algorithm", "segment_bytes", "slice_bytes",
                          "makespan_s", "extrapolated", "overhead_s", "compute_Bps",
                          "formula_segment_bytes", "formula_slice_bytes", "formula_makespan_s",
                          "simulations", "complete", "candidates", "rivals"));
  EXPECT_EQ(choice.at("overhead_s"), 10e-6);
  EXPECT_GT(choice.at("candidates").size(), 5U);
  for (const Json& candidate : choice.at("candidates")) {
    // A more robust one may take longer with turns.
    EXPECT_GE(1.25 * candidate.at("makespan_s").get<double>(),
              choice.at("makespan_s").get<double>());
  }
  const planner::Plan plan = planner::parse_plan(read("plan.json"), "plan.json");
  EXPECT_EQ(choice.at("slice_bytes"), plan.segment.value);
  // simulate gives the same makespan, and verify finds no fault.
  const Json simulated =
      run_json({"simulate", "plan.json", "--platform", sample("seed-sketch.json"), "--message",
                "10MiB", "--overhead", "10 us", "--json"});
  EXPECT_NEAR(simulated.at("rows")[0].at("makespan_s").get<double>(),
              choice.at("makespan_s").get<double>(), 1e-9);
  EXPECT_EQ(run({"verify", "plan.json", "--platform", sample("seed-sketch.json")}).status, 0);
}

TEST_F(PlanCommand, ReportsWhyItChoseAPlanForAMessage) {
  write("p.json", kTriangle);
  const Finished chosen =
      run({"plan", "p.json", "--source", "a", "--message", "1MB", "-o", "plan.json"});
  EXPECT_EQ(chosen.status, 0);
  EXPECT_THAT(chosen.out, HasSubstr("\n1 MB in "));
  EXPECT_THAT(chosen.out, HasSubstr(", segments of "));
  EXPECT_THAT(
      chosen.out,
      HasSubstr("\nassumed: 10.0 us per segment on links without an overhead (--overhead)\n"));
  const Finished to_stdout = run({"plan", "p.json", "--source", "a", "--message", "1MB"});
  EXPECT_EQ(to_stdout.out, read("plan.json"));
  EXPECT_THAT(to_stdout.err, HasSubstr("1 MB in "));
}

// On equal hosts the textbook choices: a binomial tree for a short message, two trees for a longer
// one, a chain for the longest.
TEST_F(PlanCommand, ReportsTheTimeOfTheOptimalPacking) {
  const auto report_for = [this](const std::string& message) {
    return run({"plan", sample("equal-hosts-16.json"), "--source", "n0", "--message", message, "-o",
                "plan.json"})
        .out;
  };
  EXPECT_THAT(
      report_for("1KiB"),
      HasSubstr("1 KiB in 123.3 us: binomial (one tree 4 deep), segments of 1 KiB; the optimal "
                "packing, one tree 15 deep, would need 462.3 us: deeper trees take longer "
                "to fill\n"));
  EXPECT_THAT(report_for("1MiB"), HasSubstr(": two-tree-complete (2 trees up to 4 deep)"));
  EXPECT_THAT(report_for("1GiB"), HasSubstr(": optimal (one tree 15 deep), segments of "));
}

TEST_F(PlanCommand, AMessageKeepsGivenOptions) {
  write("p.json", kTriangle);
  const auto plan_for = [this](const std::vector<std::string>& more) {
    return planner::parse_plan(
        run(joined({"plan", "p.json", "--source", "a", "--message", "100MB"}, more)).out,
        "<stdout>");
  };
  EXPECT_EQ(plan_for({"--segment", "123456"}).segment, Bytes{123456});
  EXPECT_EQ(plan_for({"--algorithm", "flat"}).algorithm, "flat");
  EXPECT_EQ(plan_for({"--max-trees", "1"}).broadcast_trees.size(), 1U);
  EXPECT_EQ(plan_for({"--max-depth", "1"}).broadcast_trees.size(), 1U);
}

TEST_F(PlanCommand, RefusesOptionsThatCannotBeCombinedWithAMessage) {
  write("p.json", kTriangle);
  const auto refusal = [this](const std::vector<std::string>& more) {
    return refusal_of(run(joined({"plan", "p.json", "--source", "a"}, more)));
  };
  EXPECT_EQ(
      refusal({"--message", "1MB", "--schedule"}),
      "espalier: --schedule: cannot be combined with --message; give --segment SIZE instead\n");
  EXPECT_EQ(refusal({"--message", "1MB", "--max-trees", "1,2"}),
            "espalier: --max-trees: only one value can be combined with --message\n");
  EXPECT_EQ(refusal({"--overhead", "1us"}), "espalier: --overhead: needs --message SIZE\n");
  EXPECT_EQ(refusal({"--message", "1MB", "--overhead", "-1us"}),
            "espalier: --overhead: must not be negative\n");
}

TEST_F(PlanCommand, SeveralMaxTreesShowTheCostOfEach) {
  const std::string platform = sample("heterogeneous-star.json");
  const std::string source = run_json({"compare", platform, "--algorithm", "flat", "--json"})
                                 .at("source")
                                 .get<std::string>();
  const Json summary = run_json(
      {"plan", platform, "--source", source, "--max-trees", "4,1,2", "-o", "plan.json", "--json"});
  const Json& rows = summary.at("rows");
  ASSERT_EQ(rows.size(), 3U);
  double before = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t limit = std::size_t{1} << i;
    EXPECT_EQ(rows[i].at("max_trees"), limit);
    EXPECT_LE(rows[i].at("trees").get<std::size_t>(), limit);
    EXPECT_GE(rows[i].at("throughput_Bps").get<double>(), before * (1 - 1e-9));
    before = rows[i].at("throughput_Bps").get<double>();
  }
  // The last plan, with the most trees, is written.
  EXPECT_DOUBLE_EQ(planner::parse_plan(read("plan.json"), "plan.json").throughput.value, before);
}

TEST_F(PlanCommand, SegmentGoesIntoThePlan) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a", "--segment", "64KiB"});
  ASSERT_EQ(finished.status, 0);
  EXPECT_EQ(planner::parse_plan(finished.out, "<stdout>").segment.value, 65536U);
}

TEST_F(PlanCommand, OverheadsDependOnTheSegmentSize) {
  // a -> b at 1 MB/s with 1 s overhead: a segment of 1 MB takes 2 s, one of 9 MB 10 s.
  write("p.json", R"({"format": "espalier-platform", "version": 1, "name": "pair",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e6, "overhead_s": 1}]})");
  const auto throughput = [this](const std::string& segment) {
    const Finished finished = run({"plan", "p.json", "--source", "a", "--segment", segment});
    return planner::parse_plan(finished.out, "<stdout>").throughput.value;
  };
  EXPECT_NEAR(throughput("1MB"), 0.5e6, 1);
  EXPECT_NEAR(throughput("9MB"), 0.9e6, 1);
}

TEST_F(PlanCommand, LatencyOccupiesOnRequest) {
  write("p.json", R"({"format": "espalier-platform", "version": 1, "name": "pair",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e6, "latency_s": 1}]})");
  const Finished finished =
      run({"plan", "p.json", "--source", "a", "--segment", "1MB", "--latency", "occupies"});
  const planner::Plan plan = planner::parse_plan(finished.out, "<stdout>");
  EXPECT_NEAR(plan.throughput.value, 0.5e6, 1);
  EXPECT_TRUE(plan.latency_occupies);
  write("plan.json", finished.out);
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.json"}).status, 0);
}

TEST_F(PlanCommand, CapsAreSetByPrefix) {
  write("p.csv", "from,to,bandwidth_Gbps\naws:a,gcp:b,8\naws:a,gcp:c,8\ngcp:b,gcp:c,8\n");
  const auto throughput = [this](const std::vector<std::string>& caps) {
    const Finished finished =
        run(joined({"plan", "p.csv", "--source", "aws:a", "--model", "bounded-multi-port"}, caps));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return planner::parse_plan(finished.out, "<stdout>").throughput.value * 8e-9;
  };
  EXPECT_NEAR(throughput({}), 8, 1e-3);
  EXPECT_NEAR(throughput({"--send-cap", "aws=5Gbit/s"}), 5, 1e-3);
  EXPECT_NEAR(throughput({"--send-cap", "aws=5Gbit/s,gcp=2Gbit/s", "--receive-cap", "gcp=4Gbit/s"}),
              3.5, 1e-3);  // all that b and c receive: 5 + 2 Gbit/s, shared by two
}

TEST_F(PlanCommand, ScheduleGivesTheTimeOfEachSend) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a", "--schedule", "--algorithm",
                                 "chain", "--segment", "1MB", "-o", "plan.json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("degree  makespan  period  steps      scheduled  seconds\n"));
  EXPECT_THAT(finished.out, HasSubstr("1.0 ms      1  8.0000 Gbit/s"));
  const planner::Plan plan = planner::parse_plan(read("plan.json"), "plan.json");
  ASSERT_TRUE(plan.schedule);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1));
  EXPECT_DOUBLE_EQ(plan.schedule->period.value, 1e-3);
  EXPECT_NEAR(plan.schedule->throughput.value, 1e9, 1);
  const Finished verified = run({"verify", "plan.json", "--platform", "p.json"});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("scheduled     8.0000 Gbit/s\n"));
  const Json report = run_json({"verify", "plan.json", "--platform", "p.json", "--json"});
  EXPECT_NEAR(report.at("scheduled_Bps").get<double>(), 1e9, 1);
}

TEST_F(PlanCommand, ScheduleInTheJsonSummary) {
  const std::string platform = sample("seed-sketch.json");
  const Json summary = run_json({"plan", platform, "--source", "P0", "--max-trees", "1,4",
                                 "--schedule", "-o", "plan.json", "--json"});
  ASSERT_EQ(summary.at("rows").size(), 2U);
  for (const Json& row : summary.at("rows")) {
    EXPECT_GT(row.at("period_s").get<double>(), 0);
    EXPECT_GE(row.at("steps").get<std::size_t>(), 2U);
    EXPECT_GE(row.at("scheduled_Bps").get<double>(), 0.99 * row.at("throughput_Bps").get<double>());
  }
  EXPECT_EQ(planner::parse_plan(read("plan.json"), "plan.json").schedule->period.value,
            summary.at("rows")[1].at("period_s").get<double>());
}

TEST_F(PlanCommand, ASmallerScheduleLossIsRespected) {
  const std::string platform = sample("seed-sketch.json");
  double period = 0;
  for (const std::string loss : {"0.1", "0.001"}) {
    const Json summary = run_json({"plan", platform, "--source", "P0", "--schedule",
                                   "--schedule-loss", loss, "-o", "plan.json", "--json"});
    const Json& row = summary.at("rows")[0];
    EXPECT_GE(row.at("scheduled_Bps").get<double>(),
              (1 - std::stod(loss)) * row.at("throughput_Bps").get<double>());
    EXPECT_GT(row.at("period_s").get<double>(), period);
    period = row.at("period_s").get<double>();
  }
}

TEST_F(PlanCommand, ScheduleRefusesWhatItCannotSchedule) {
  write("p.json", kTriangle);
  const auto refusal = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plan");
    arguments.insert(arguments.end(), {"--schedule", "-o", "plan.json"});
    const std::string line = refusal_of(run(arguments));
    EXPECT_FALSE(exists("plan.json"));
    return line;
  };
  EXPECT_EQ(refusal({"p.json", "--source", "a", "--model", "multi-port"}),
            "espalier: --schedule: a schedule needs the model one-port, not multi-port\n");
  EXPECT_EQ(refusal({sample("relays-shared-link.json"), "--source", "a"}),
            "espalier: --schedule: a schedule needs a platform without relays; 'relays and a "
            "shared link' has 3\n");
  EXPECT_THAT(refusal({sample("seed-sketch.json"), "--source", "P0", "--algorithm", "flat"}),
              StartsWith("espalier: --schedule: a schedule needs direct links; tree 0 goes from "));
  for (const std::string loss : {"0", "1", "0.00001", "nan"}) {
    EXPECT_EQ(refusal({"p.json", "--source", "a", "--schedule-loss", loss}),
              "espalier: --schedule-loss: must be at least 0.0001 and below 1\n");
  }
}

TEST_F(PlanCommand, TheSameInputGivesTheSameBytes) {
  const std::string platform = sample("relays-shared-link.json");
  const std::string source = run_json({"compare", platform, "--algorithm", "flat", "--json"})
                                 .at("source")
                                 .get<std::string>();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plan", platform, "--source", source, "--quiet"},
        {"plan", platform, "--source", source, "-o", "x.json", "--json"},
        {"bound", platform, "--source", source, "--json"},
        {"compare", platform, "--source", "each", "--json"},
        {"convert", platform, "-o", "-"},
        {"generate", "random", "--nodes", "20", "--seed", "7"},
        {"list", "--json"}}) {
    const Finished first = run(command);
    const Finished second = run(command);
    EXPECT_EQ(first.status, 0) << first.err;
    EXPECT_EQ(without_seconds(first.out), without_seconds(second.out)) << command.front();
    EXPECT_THAT(first.out, ::testing::Not(IsEmpty()));
  }
}

}  // namespace

}  // namespace espalier::cli::plan_test
