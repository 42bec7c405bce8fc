// Operations with several roots through the commands: allgather, reduce-scatter, and allreduce with
// free roots.
#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::all_roots_test {

namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// One-port on a ring of three with links of 100 MB/s both ways: each host has to receive two thirds
// of the message, so 150 MB/s of it, in an allreduce twice.
constexpr const char* kRing = R"({"format": "espalier-platform", "version": 1, "name": "ring",
  "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
  "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e8, "both_ways": true},
            {"from": "b", "to": "c", "bandwidth_Bps": 1e8, "both_ways": true},
            {"from": "c", "to": "a", "bandwidth_Bps": 1e8, "both_ways": true}]})";

class AllRoots : public CliTest {
 protected:
  AllRoots() { write("ring.json", kRing); }
  Json plan(const std::string& operation) {
    return run_json({"plan", "ring.json", "--operation", operation, "-o", "plan.json", "--json"});
  }
};

TEST_F(AllRoots, PlanBoundAndVerifyAgree) {
  for (const std::string operation : {"allgather", "reduce-scatter", "allreduce"}) {
    SCOPED_TRACE(operation);
    const double optimum = operation == "allreduce" ? 0.75e8 : 1.5e8;
    const Json summary = plan(operation);
    EXPECT_NEAR(summary.at("rows")[0].at("throughput_Bps").get<double>(), optimum, 1e3);
    const Json bound = run_json({"bound", "ring.json", "--operation", operation, "--json"});
    EXPECT_NEAR(bound.at("bound_Bps").get<double>(), optimum, 1e3);
    const Json checked = run_json({"verify", "plan.json", "--platform", "ring.json", "--json"});
    EXPECT_THAT(checked.at("faults"), SizeIs(0));
    EXPECT_NEAR(checked.at("throughput_Bps").get<double>(), optimum, 1e3);
    if (operation == "allreduce") continue;  // one root may do
    EXPECT_TRUE(summary.at("source").is_null());
    const Json written = Json::parse(read("plan.json"));
    EXPECT_EQ(written.at("version"), 2);
    EXPECT_THAT(written.at("blocks"), SizeIs(3));
  }
}

// One way round a ring, of which any one root can use less.
class FreeRoots : public CliTest {
 protected:
  FreeRoots() {
    write("one-way.json", R"({"format": "espalier-platform", "version": 1, "name": "one way",
      "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
      "links": [{"from": "a", "to": "b", "bandwidth_Bps": 4e8},
                {"from": "b", "to": "c", "bandwidth_Bps": 4e8},
                {"from": "c", "to": "a", "bandwidth_Bps": 4e8}]})");
  }
};

TEST_F(FreeRoots, AreThoseOfAnAllreduceUnlessOneIsNamed) {
  const std::vector<std::string> bound{"bound", "one-way.json", "--operation", "allreduce",
                                       "--json"};
  const auto with = [&](const std::vector<std::string>& more) {
    return run_json(joined(bound, more));
  };
  EXPECT_NEAR(with({}).at("bound_Bps").get<double>(), 3e8, 1e3);
  EXPECT_NEAR(with({"--root", "any"}).at("bound_Bps").get<double>(), 3e8, 1e3);
  EXPECT_NEAR(with({"--root", "b"}).at("bound_Bps").get<double>(), 2e8, 1e3);
  const Json compared = run_json({"compare", "one-way.json", "--operation", "allreduce",
                                  "--algorithm", "optimal,chain", "--json"});
  EXPECT_TRUE(compared.at("source").is_null());
  EXPECT_NEAR(compared.at("rows")[0].at("throughput_Bps").get<double>(), 3e8, 1e3);
  // Towards a root a chain in the order of the hosts goes against the links, so around the ring.
  EXPECT_LE(compared.at("rows")[1].at("relative").get<double>(), 2.0 / 3 + 1e-6);
}

TEST_F(FreeRoots, ArePlannedShownSimulatedAndRefusedWhereTheyAreNotServedYet) {
  run_json({"plan", "one-way.json", "--operation", "allreduce", "-o", "plan.json", "--json"});
  const Json written = Json::parse(read("plan.json"));
  ASSERT_THAT(written.at("blocks"), SizeIs(6));
  EXPECT_EQ(written.at("blocks")[1].at("after"), 0);
  const Json shown =
      run_json({"show", "plan.json", "--platform", "one-way.json", "--root", "b", "--json"});
  ASSERT_THAT(shown.at("blocks"), SizeIs(2));
  EXPECT_EQ(shown.at("blocks")[0].at("kind"), "combine");
  EXPECT_EQ(shown.at("blocks")[1].at("kind"), "spread");
  const Json simulated = run_json({"simulate", "plan.json", "--platform", "one-way.json",
                                   "--message", "60MB", "--segment", "100kB", "--json"});
  EXPECT_GT(simulated.at("rows")[0].at("of_optimum").get<double>(), 0.8);
  EXPECT_LT(simulated.at("rows")[0].at("of_optimum").get<double>(), 1 + 1e-9);
  EXPECT_THAT(run({"explain", "one-way.json", "--plan", "plan.json"}).out,
              HasSubstr("the optimum, within the proof's gap"));
}

// The last of several limits is the plan's.
TEST_F(AllRoots, ATableHasARowForEachLimit) {
  for (const std::string operation : {"allreduce", "allgather"}) {
    const Json rows = run_json({"plan", "ring.json", "--operation", operation, "--max-depth", "2,3",
                                "--max-trees", "1,2", "-o", "limited.json", "--json"})
                          .at("rows");
    ASSERT_EQ(rows.size(), 4U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].at("max_trees"), Json(1 + i / 2));
      EXPECT_EQ(rows[i].at("max_depth"), Json(2 + i % 2));
      EXPECT_LE(rows[i].at("depth"), rows[i].at("max_depth"));
    }
    const planner::Plan last =
        planner::parse_plan(read("limited.json"), "limited.json", planner::Roots::kAny);
    EXPECT_EQ(last.throughput.value, rows[3].at("throughput_Bps").get<double>());
  }
}

TEST_F(AllRoots, AMessageChoosesAlgorithmAndSegment) {
  for (const std::string operation : {"allgather", "allreduce"}) {
    const Json summary = run_json({"plan", "ring.json", "--operation", operation, "--message",
                                   "1MB", "-o", "chosen.json", "--json"});
    const Json& choice = summary.at("choice");
    EXPECT_EQ(choice.at("message_bytes"), 1'000'000);
    if (operation == "allgather") {
      EXPECT_TRUE(choice.at("formula_makespan_s").is_null());
    }
    const Json simulated = run_json({"simulate", "chosen.json", "--platform", "ring.json",
                                     "--message", "1MB", "--overhead", "10us", "--json"});
    EXPECT_EQ(simulated.at("rows")[0].at("makespan_s"), choice.at("makespan_s"));
  }
}

TEST_F(AllRoots, CompareHasTheTimeOfAMessage) {
  const Json comparison = run_json({"compare", "ring.json", "--operation", "allgather",
                                    "--algorithm", "optimal,ring", "--message", "30MB", "--json"});
  EXPECT_EQ(comparison.at("message_bytes"), 30'000'000);
  for (const Json& row : comparison.at("rows")) {
    const double throughput = row.at("throughput_Bps");
    EXPECT_GE(row.at("time_s").get<double>(), 30e6 / throughput * (1 - 1e-9));
    EXPECT_LT(row.at("time_s").get<double>(), 1.2 * 30e6 / throughput);
  }
}

// One-port on a ring of three: host a receives nothing if it has everything, and c receives b's
// share beside a's.
TEST_F(AllRoots, CountsGiveTheSharesOfTheHosts) {
  write("counts.txt", "30 10\n0\n");
  const std::vector<std::string> counts{"--operation", "allgather", "--counts", "counts.txt"};
  const auto with = [&](std::vector<std::string> command) {
    command.insert(command.end(), counts.begin(), counts.end());
    return command;
  };
  run_json(with({"plan", "ring.json", "-o", "plan.json", "--json"}));
  const Json written = Json::parse(read("plan.json"));
  ASSERT_THAT(written.at("blocks"), SizeIs(2));
  EXPECT_EQ(written.at("blocks")[0].at("share"), 0.75);
  EXPECT_EQ(written.at("blocks")[1].at("share"), 0.25);
  // c receives the whole message through its port.
  EXPECT_NEAR(written.at("throughput_Bps").get<double>(), 1e8, 1e3);
  EXPECT_NEAR(run_json(with({"bound", "ring.json", "--json"})).at("bound_Bps").get<double>(), 1e8,
              1e3);
  const Json compared =
      run_json(with({"compare", "ring.json", "--algorithm", "optimal,chain", "--json"}));
  EXPECT_NEAR(compared.at("rows")[0].at("throughput_Bps").get<double>(), 1e8, 1e3);
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "ring.json"}).status, 0);
}

TEST_F(AllRoots, CountsThatCannotBeAreRefused) {
  const auto refusal = [&](const std::string& text, const std::string& operation) {
    write("counts.txt", text);
    return refusal_of(
        run({"bound", "ring.json", "--operation", operation, "--counts", "counts.txt"}));
  };
  EXPECT_EQ(refusal("1 2", "allgather"),
            "espalier: counts.txt: expected 3 numbers, not negative and not all 0; it has 2\n");
  EXPECT_THAT(refusal("1 2\nmany", "allgather"), HasSubstr("counts.txt: line 2: 'many'"));
  EXPECT_THAT(refusal("1 2 -3", "reduce-scatter"), HasSubstr("not negative"));
  EXPECT_THAT(refusal("1 2 3", "allreduce"), HasSubstr("--counts: an allreduce has one message"));
}

TEST_F(AllRoots, CompareHasARowForEveryAlgorithm) {
  const Json compared = run_json({"compare", "ring.json", "--operation", "reduce-scatter",
                                  "--algorithm", "optimal,chain,flat", "--json"});
  EXPECT_TRUE(compared.at("source").is_null());
  ASSERT_THAT(compared.at("rows"), SizeIs(3));
  for (const Json& row : compared.at("rows")) {
    EXPECT_NEAR(row.at("relative").get<double>(), 1, 1e-6) << row;  // on three equal hosts
  }
  const Finished shown =
      run({"compare", "ring.json", "--operation", "allgather", "--algorithm", "chain"});
  EXPECT_THAT(shown.out, HasSubstr("ring allgather of all hosts, one-port: optimum 1.2000 Gbit/s"));
}

TEST_F(AllRoots, AnOverloadIsAFault) {
  plan("allgather");
  std::string text = read("plan.json");
  Json faster = Json::parse(text);
  faster["throughput_Bps"] = 2 * faster["throughput_Bps"].get<double>();
  for (Json& block : faster["blocks"]) {
    for (Json& tree : block["trees"]) tree["rate_Bps"] = 2 * tree["rate_Bps"].get<double>();
  }
  write("faster.json", faster.dump());
  const Finished finished = run({"verify", "faster.json", "--platform", "ring.json"});
  EXPECT_EQ(finished.status, 5);
  EXPECT_THAT(finished.err, HasSubstr("/blocks: the rates load"));
}

TEST_F(AllRoots, ShowsAllRootsOrOne) {
  plan("allgather");
  const Json all = run_json({"show", "plan.json", "--platform", "ring.json", "--json"});
  ASSERT_THAT(all.at("blocks"), SizeIs(3));
  EXPECT_EQ(all.at("blocks")[1].at("root"), "b");
  const Json one =
      run_json({"show", "plan.json", "--platform", "ring.json", "--root", "c", "--json"});
  ASSERT_THAT(one.at("blocks"), SizeIs(1));
  EXPECT_EQ(one.at("blocks")[0].at("root"), "c");
  const Finished drawn = run(
      {"show", "plan.json", "--platform", "ring.json", "--root", "c", "-o", "-", "--to", "dot"});
  EXPECT_EQ(drawn.status, 0);
  EXPECT_THAT(drawn.out, HasSubstr("allgather, the part of c by optimal"));
  const Finished every =
      run({"show", "plan.json", "--platform", "ring.json", "-o", "-", "--to", "dot"});
  EXPECT_THAT(every.out, HasSubstr(" from b"));
}

TEST_F(AllRoots, Refusals) {
  plan("allgather");
  struct Case {
    std::vector<std::string> arguments;
    std::string reason;
  };
  const std::vector<std::string> planning{"plan", "ring.json", "--operation", "allgather"};
  const auto with = [&](const std::vector<std::string>& more) { return joined(planning, more); };
  for (const Case& one : std::vector<Case>{
           {with({"--source", "a"}), "--source: an allgather has no source: every host is a root"},
           {with({"--algorithm", "reduce-broadcast-x"}), "unknown algorithm"},
           {{"compare", "ring.json", "--operation", "allgather", "--source", "a"},
            "--source: an allgather has no source: every host is a root"},
           {{"plan", "ring.json", "--operation", "alltoall", "--max-depth", "3"},
            "--max-depth: cannot be combined with alltoall yet"},
           {with({"--schedule"}),
            "--schedule: only a broadcast, a reduce or an allreduce can have a schedule, not an "
            "allgather"},
           {{"plan", "ring.json", "--operation", "allreduce", "--schedule"},
            "--schedule: cannot be combined with any roots yet; give --root NAME"},
           {{"explain", "ring.json", "--plan", "plan.json", "--source", "a"},
            "--source: the plan has no single source; leave this option out"},
           {{"explain", "ring.json", "--plan", "plan.json", "--operation", "allgather", "--counts",
             "c.csv"},
            "--counts: the plan names the shares; leave this option out"},
           {{"show", "plan.json", "--platform", "ring.json", "--root", "d"},
            "--root: unknown root 'd'"},
           {{"show", "ring.json", "--root", "a"}, "--root: is for a plan"},
       }) {
    EXPECT_THAT(refusal_of(run(one.arguments)), HasSubstr(one.reason));
  }
}

TEST_F(AllRoots, AHostThatCannotReachTheOthersIsNamed) {
  write("oneway.json", R"({"format": "espalier-platform", "version": 1, "name": "one way",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e8}]})");
  EXPECT_THAT(refusal_of(run({"bound", "oneway.json", "--operation", "allgather"}), 3),
              HasSubstr("'b' cannot reach 'a'"));
}

}  // namespace

}  // namespace espalier::cli::all_roots_test
