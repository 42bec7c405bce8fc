// simulate: tables, JSON, trace and refusals.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::simulate_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class SimulateCommand : public CliTest {
 protected:
  SimulateCommand() {
    write("p.json", kTriangle);
    write("plan.json", kChainPlan);
  }
  [[nodiscard]] Finished simulate(const std::vector<std::string>& arguments) const {
    return run(joined({"simulate", "plan.json", "--platform", "p.json"}, arguments));
  }
  // The line of a refusal with status 2.
  [[nodiscard]] std::string refusal(const std::vector<std::string>& arguments) const {
    return refusal_of(simulate(arguments));
  }
};

// Segments of 1 MiB at 1 GB/s take 1.048576 ms each; the second hop adds one more.
TEST_F(SimulateCommand, ReportsEachMessage) {
  const Finished finished = simulate({"--message", "1MiB,1GiB", "--message", "0"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out,
            "message  makespan       achieved  of plan  of optimum  last node  busiest        "
            "utilisation\n"
            "  1 MiB    2.1 ms  4.0000 Gbit/s   0.5000      0.5000  c          out-port of a      "
            "50.00 %\n"
            "  1 GiB   1.075 s  7.9922 Gbit/s   0.9990      0.9990  c          out-port of a      "
            "99.90 %\n"
            "    0 B   0.000 s              -        -           -  -          -                   "
            "0.00 %\n");
}

TEST_F(SimulateCommand, SeveralPlansShareATable) {
  const Finished flat = run({"plan", "p.json", "--source", "a", "--algorithm", "flat", "--segment",
                             "1MiB", "-o", "flat.json"});
  ASSERT_EQ(flat.status, 0) << flat.err;
  const Finished finished = simulate({"flat.json", "--message", "1GiB,1MiB"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, MatchesRegex("message  plan       algorithm  makespan  relative +"
                                         "achieved  of optimum\n"
                                         "  1 GiB  plan.json  optimal +1.075 s +1.0000 .*\n"
                                         "  1 GiB  flat.json  flat .*\n"
                                         "  1 MiB  plan.json .*\n"
                                         "  1 MiB  flat.json .*\n"));
  const Json both = run_json({"simulate", "plan.json", "flat.json", "--platform", "p.json",
                              "--message", "1MiB", "--json"});
  EXPECT_EQ(both.at("plans")[1].at("plan"), "flat.json");
  EXPECT_EQ(both.at("plans")[0].at("rows")[0].at("message_bytes"), 1U << 20U);
  EXPECT_EQ(refusal({"flat.json", "--message", "1MiB", "--nodes"}),
            "espalier: --nodes: is of a single plan\n");
}

TEST_F(SimulateCommand, NodesReportsWhenEachIsDone) {
  const Finished finished = simulate({"--message", "1MiB,1GiB", "--nodes"});
  EXPECT_THAT(finished.out, HasSubstr("\n\nnode  has 1 MiB at  has 1 GiB at\n"
                                      "a          0.000 s       0.000 s\n"
                                      "b           1.0 ms       1.074 s\n"
                                      "c           2.1 ms       1.075 s\n"));
}

// A trillion segments. Even the assignment of the segments to the trees would take hours.
TEST_F(SimulateCommand, RefusesWhatWouldTakeHours) {
  EXPECT_EQ(refusal({"--message", "1kB,1TiB", "--segment", "1"}),
            "espalier: --message: 1 TiB in 1099511627776 segments of 1 B, 2.199e+12 sends: more "
            "than 1e+10 without a --time-limit; give a larger --segment\n");
}

TEST_F(SimulateCommand, ALimitEndsIt) {
  const std::vector<std::string> arguments{"--segment", "1", "--time-limit", "1ns", "--quiet"};
  std::vector<std::string> both = arguments;
  both.insert(both.end(), {"--message", "10,1TiB"});
  const std::string line =
      "espalier: 1 TiB in 1099511627776 segments of 1 B, 2.199e+12 sends: the time limit ended "
      "the simulation after 0.1 million sends, at simulated time 32.8 us; give a larger --segment "
      "or --time-limit\n";
  const Finished two = simulate(both);
  EXPECT_EQ(two.status, 4);
  EXPECT_EQ(two.err, line);
  EXPECT_THAT(two.out, HasSubstr("   10 B")) << "what was found by then";
  both.back() = "1TiB";
  const Finished one = simulate(both);
  EXPECT_EQ(one.status, 4);
  EXPECT_EQ(one.err, line);
  EXPECT_THAT(one.out, IsEmpty());
  EXPECT_THAT(refusal({"--message", "1", "--time-limit", "0s"}), HasSubstr("must be above zero"));
}

TEST_F(SimulateCommand, JsonKeys) {
  const std::vector<std::string> arguments{"simulate",  "plan.json", "--platform", "p.json",
                                           "--message", "3MiB",      "--json"};
  const Json report = run_json(arguments);
  EXPECT_THAT(keys_of(report),
              ElementsAre("operation", "platform", "source", "model", "algorithm", "throughput_Bps",
                          "optimum_Bps", "segment_bytes", "slice_bytes", "scheduled", "window",
                          "until_received", "sharing", "receives", "compute_Bps", "rows"));
  EXPECT_EQ(report.at("scheduled"), false);
  EXPECT_EQ(report.at("window"), 2);
  const Json& row = report.at("rows").at(0);
  EXPECT_THAT(keys_of(row), ElementsAre("message_bytes", "segments", "slices", "sends",
                                        "makespan_s", "achieved_Bps", "of_plan", "of_optimum",
                                        "nodes", "resources", "seconds"));
  EXPECT_EQ(row.at("slices"), 3);
  EXPECT_EQ(row.at("sends"), 6);
  EXPECT_NEAR(row.at("makespan_s").get<double>(), 4 * 1.048576e-3, 1e-12);
  EXPECT_EQ(row.at("nodes").at(2).at("node"), "c");
  EXPECT_EQ(row.at("resources").size(), 4U);
  EXPECT_EQ(row.at("resources").at(0).at("resource"), "out-port of a");
  EXPECT_NEAR(row.at("resources").at(0).at("utilisation").get<double>(), 0.75, 1e-9);
  EXPECT_EQ(without_seconds(run(arguments).out), without_seconds(run(arguments).out));
}

TEST_F(SimulateCommand, FollowsAScheduleByDefault) {
  ASSERT_EQ(run({"plan", "p.json", "--source", "a", "--schedule", "-o", "plan.json"}).status, 0);
  const auto is_scheduled = [this](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"simulate", "plan.json", "--platform", "p.json", "--message", "1GiB", "--json"});
    return run_json(more).at("scheduled");
  };
  EXPECT_EQ(is_scheduled({}), true);
  EXPECT_EQ(is_scheduled({"--no-schedule"}), false);
  EXPECT_THAT(refusal({"--message", "1GiB", "--segment", "4MiB"}),
              "espalier: plan.json: /schedule: is for segments of 512 KiB, not of 4 MiB\n");
}

// One line per resource, one bar per send and resource.
TEST_F(SimulateCommand, WritesATrace) {
  const Finished finished = simulate({"--message", "2MiB", "--trace", "trace.json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const Json trace = parse_json(read("trace.json"), "trace.json");
  std::vector<std::string> lines;
  std::vector<std::string> bars;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") lines.push_back(event.at("args").at("name"));
    if (event.at("ph") != "X") continue;
    bars.push_back(event.at("name"));
    EXPECT_NEAR(event.at("dur").get<double>(), 1048.576, 1e-6);
  }
  EXPECT_THAT(lines, ElementsAre("out-port of a", "out-port of b", "in-port of b", "in-port of c"));
  ASSERT_EQ(bars.size(), 8U);
  EXPECT_EQ(bars.front(), "tree 0 segment 0: a -> b");
  EXPECT_EQ(bars.back(), "tree 0 segment 1: b -> c");
}

TEST_F(SimulateCommand, RefusesATooLargeTrace) {
  EXPECT_EQ(refusal({"--message", "2MiB", "--segment", "1B", "--trace", "trace.json", "--quiet"}),
            "espalier: --trace: more than 1000000 bars (one per send and resource); use a smaller "
            "message "
            "or larger segments\n");
  EXPECT_FALSE(exists("trace.json"));
  EXPECT_EQ(refusal({"--message", "1MiB,2MiB", "--trace", "trace.json"}),
            "espalier: --trace: shows a single message; give one --message SIZE\n");
}

// The links are slower than those that the plan was made for: this is allowed.
TEST_F(SimulateCommand, TakesAPlatformThatHasChanged) {
  write("p.json", replaced(kTriangle, "1e9", "5e8"));
  const Finished finished = simulate({"--message", "1GiB"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr(" 0.499"));
}

// Over two hops the two segments of a window arrive at the same time, later than in turns.
TEST_F(SimulateCommand, SharesPortsOnRequest) {
  const auto report = [this](const std::string& sharing) {
    return run_json({"simulate", "plan.json", "--platform", "p.json", "--message", "8MiB",
                     "--sharing", sharing, "--json"});
  };
  const auto segments = [](const Json& json) {
    return json.at("rows").at(0).at("makespan_s").get<double>() / 1.048576e-3;
  };
  EXPECT_EQ(report("turns").at("sharing"), "turns");
  EXPECT_NEAR(segments(report("turns")), 9, 1e-9);
  EXPECT_NEAR(segments(report("edges")), 9, 1e-9);
  EXPECT_EQ(report("sends").at("sharing"), "sends");
  EXPECT_NEAR(segments(report("sends")), 10, 1e-9);
}

TEST_F(SimulateCommand, RefusesWhatItCannotRun) {
  EXPECT_EQ(refusal({"--message", "1MiB", "--sharing", "fair"}),
            "espalier: --sharing: unknown sharing 'fair'; one of: turns, edges, sends\n");
  EXPECT_EQ(refusal({"--message", "much"}).find("espalier: --message: "), 0U);
  EXPECT_EQ(refusal({"--message", "1MiB,"}).find("espalier: --message: "), 0U);
  EXPECT_EQ(refusal({"--message", "1MiB", "--segment", "0"}),
            "espalier: --segment: must be at least one byte\n");
  EXPECT_EQ(refusal({"--message", "1MiB", "--window", "0"}),
            "espalier: --window: 0 is not from 1 to 1024 sends\n");
  EXPECT_EQ(
      refusal({"--message", "1MiB", "--rounds"}),
      "espalier: plan.json: /broadcast_trees/0: rounds need colors, which this plan's trees do "
      "not have\n");
  write("plan.json", replaced(kChainPlan, "\"triangle\"", "\"square\""));
  EXPECT_EQ(refusal({"--message", "1MiB"}),
            "espalier: plan.json: /platform: the plan is for platform 'square', not for "
            "'triangle'\n");
  EXPECT_THAT(run({"simulate", "plan.json", "--platform", "p.json"}).err, HasSubstr("--message"));
}

// Every operation whose message has a part for each host, and an allreduce with free roots.
TEST_F(SimulateCommand, RunsEveryOperation) {
  for (const std::string operation :
       {"allgather", "reduce-scatter", "scatter", "gather", "alltoall", "allreduce"}) {
    SCOPED_TRACE(operation);
    std::vector<std::string> words{"plan", "p.json", "--operation", operation, "-o", "plan.json"};
    if (operation == "scatter" || operation == "gather") {
      words.insert(words.end(), {"--root", "a"});
    }
    ASSERT_EQ(run(words).status, 0);
    std::vector<std::string> how{"simulate",  "plan.json",        "--platform", "p.json",
                                 "--message", "96MiB,100,0",      "--segment",  "64KiB",
                                 "--json",    "--until-received", "--window",   "8"};
    const bool combines = operation == "reduce-scatter" || operation == "allreduce";
    if (combines) how.insert(how.end(), {"--compute", "100 GB/s"});
    if (operation != "allgather") how.insert(how.end(), {"--receives", "8"});
    for (const std::string sharing : {"turns", "edges", "sends"}) {
      how.insert(how.end(), {"--sharing", sharing});
      const Json report = run_json(how);
      how.resize(how.size() - 2);
      EXPECT_EQ(report.at("operation"), operation);
      EXPECT_EQ(report.at("receives").is_null(), operation == "allgather");
      const Json& row = report.at("rows").at(0);
      const double of_optimum = row.at("of_optimum").get<double>();
      EXPECT_GT(of_optimum, 0.7);
      EXPECT_LT(of_optimum, 1 + 1e-9);
      EXPECT_EQ(row.at("nodes").size(), 3U);
      EXPECT_GE(row.at("segments").get<int>(), 1024);
      EXPECT_TRUE(report.at("rows").at(2).at("of_plan").is_null()) << "nothing is sent";
      EXPECT_EQ(report.at("rows").at(2).at("makespan_s"), 0.0);
    }
    const Finished traced = run({"simulate", "plan.json", "--platform", "p.json", "--message",
                                 "1MiB", "--nodes", "--trace", "trace.json"});
    EXPECT_EQ(traced.status, 0) << traced.err;
    EXPECT_THAT(traced.out, HasSubstr(operation == "gather"      ? "has sent its part of 1 MiB at"
                                      : operation == "allreduce" ? "has 1 MiB at"
                                                                 : "has its part of 1 MiB at"));
    EXPECT_THAT(read("trace.json"), HasSubstr("\"tree 1 segment 0"));
  }
}

TEST_F(SimulateCommand, RefusesOptionsThatDoNotMatterToTheOperation) {
  ASSERT_EQ(run({"plan", "p.json", "--operation", "alltoall", "-o", "plan.json"}).status, 0);
  EXPECT_EQ(refusal({"--message", "1MiB", "--compute", "1GB/s"}),
            "espalier: --compute: is for operations that combine data; the plan is for an "
            "alltoall\n");
  ASSERT_EQ(run({"plan", "p.json", "--operation", "allgather", "-o", "plan.json"}).status, 0);
  EXPECT_EQ(refusal({"--message", "1MiB", "--receives", "2"}),
            "espalier: --receives: is for operations that combine or route data; the plan is for "
            "an allgather\n");
}

// The triangle's links carry 1 GB/s, ports too: two trees, or the chain, need a message's time.
TEST_F(SimulateCommand, PullsOverAnUnknownNetwork) {
  const std::vector<std::string> arguments{"simulate", "--unknown", "--platform", "p.json",
                                           "--source", "a",         "--message",  "64MiB,0"};
  const Finished finished = run(joined(arguments, {"--nodes"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out,
              MatchesRegex("message  segment +makespan  best possible  relative +achieved  last "
                           "node  requests  bulletins\n"
                           " 64 MiB   60 KiB .*\n"
                           "    0 B .*\n\nnode  has 64 MiB at  has 0 B at\n"
                           "a +0.000 s +0.000 s\nb .*\nc .*\n"));
  const Json report = run_json(joined(arguments, {"--json", "--seed", "7"}));
  EXPECT_THAT(keys_of(report), ElementsAre("operation", "platform", "source", "model",
                                           "optimum_Bps", "seed", "rows"));
  EXPECT_EQ(report.at("seed"), 7);
  EXPECT_EQ(report.at("source"), "a");
  const Json& row = report.at("rows").at(0);
  EXPECT_THAT(keys_of(row),
              ElementsAre("message_bytes", "segment_bytes", "segments", "makespan_s", "optimum_s",
                          "relative", "achieved_Bps", "nodes", "requests", "bulletins", "seconds"));
  EXPECT_GE(row.at("relative").get<double>(), 1);
  EXPECT_LT(row.at("relative").get<double>(), 1.7);
  EXPECT_EQ(row.at("segments"), 1093);
  EXPECT_EQ(row.at("requests"), 2 * 1093);
  EXPECT_EQ(row.at("nodes").at(2).at("node"), "c");
  EXPECT_TRUE(report.at("rows").at(1).at("relative").is_null());
  EXPECT_EQ(without_seconds(run(joined(arguments, {"--json"})).out),
            without_seconds(run(joined(arguments, {"--json", "--seed", "1"})).out));
}

TEST_F(SimulateCommand, TracesAPull) {
  const Finished finished = run({"simulate", "--unknown", "--platform", "p.json", "--message",
                                 "4MiB", "--segment", "1MiB", "--trace", "trace.json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const Json trace = parse_json(read("trace.json"), "trace.json");
  std::size_t bars = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    EXPECT_THAT(event.at("name").get<std::string>(), MatchesRegex("segment [0-3]: [abc] -> [bc]"));
    ++bars;
  }
  EXPECT_EQ(bars, 16U) << "four segments to two hosts, each on two ports";
}

TEST_F(SimulateCommand, RefusesPullsThatItCannotRun) {
  const auto refused = [this](const std::vector<std::string>& more) {
    return refusal_of(
        run(joined({"simulate", "--unknown", "--platform", "p.json", "--message", "1MiB"}, more)));
  };
  EXPECT_EQ(refused({"plan.json"}),
            "espalier: plan: is of plans; a simulation with --unknown has none\n");
  EXPECT_EQ(refused({"--sharing", "sends"}),
            "espalier: --sharing: is of plans; a simulation with --unknown has none\n");
  EXPECT_EQ(refused({"--source", "d"}),
            "espalier: triangle: unknown source 'd'; did you mean 'a'? one of: a, b, c\n");
  EXPECT_EQ(refused({"--message", "1GiB", "--segment", "1"}),
            "espalier: --message: 1 GiB in 1073741824 segments of 1 B to 2 hosts: hosts tell each "
            "other of more than 1e+09 segments; give a larger --segment\n");
  EXPECT_EQ(refused({"--message", "2MiB", "--trace", "t.json"}),
            "espalier: --trace: shows a single message; give one --message SIZE\n");
  EXPECT_EQ(refusal({"--message", "1MiB", "--seed", "2"}),
            "espalier: --seed: is for a simulation without a plan; give --unknown, too\n");
  EXPECT_EQ(refusal_of(run({"simulate", "--platform", "p.json", "--message", "1MiB"})),
            "espalier: simulate: plan is required\n");
  write("apart.csv", "from,to,bandwidth\na,b,1 GB/s\nc,b,1 GB/s\n");
  EXPECT_THAT(refusal_of(run({"simulate", "--unknown", "--platform", "apart.csv", "--message",
                              "1MiB", "--source", "a"}),
                         3),
              HasSubstr("'c'"));
}

}  // namespace

}  // namespace espalier::cli::simulate_test
