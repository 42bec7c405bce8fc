// explain: bottlenecks, upgrades, the ranking of sources, the loss of a plan, and refusals.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::explain_test {

namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ExplainCommand : public CliTest {
 protected:
  ExplainCommand() {
    write("p.json", kTriangle);
    write("plan.json", kChainPlan);
  }
  // The line of a refusal.
  std::string refusal(std::vector<std::string> more, int status = 2) const {
    more.insert(more.begin(), {"explain", "p.json"});
    return refusal_of(run(more), status);
  }
};

// All data crosses the thin link: raising its bandwidth raises the optimum by the same factor.
TEST_F(ExplainCommand, TheThinLinkIsNamed) {
  const Finished finished =
      run({"explain", sample("two-clusters-thin-link.json"), "--source", "nancy-2"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out,
              StartsWith("problem       two clusters, thin link from nancy-2, one-port\n"
                         "optimum       100.0000 Mbit/s\n"
                         "proven bound  100.0000 Mbit/s\n"
                         "gap "));
  EXPECT_THAT(finished.out,
              ContainsRegex("\n +price +load +copies +10 % faster +twice as fast +raised +"
                            "bottleneck\n"));
  EXPECT_THAT(finished.out, ContainsRegex("\n100.00 % +100.00 % +1.00 +[+]10.00 % +[+]100.00 % +"
                                          "1 link +link nancy-1 -> lyon-1\n"));
  EXPECT_THAT(finished.out, HasSubstr("\nBest single upgrade: "));
  EXPECT_THAT(finished.out, HasSubstr("\n\"Faster\": the bandwidths in the column"));
}

TEST_F(ExplainCommand, UpgradesAgreeWithBoundOnTheChangedFile) {
  const Json before =
      run_json({"explain", "p.json", "--source", "a", "--model", "bounded-multi-port", "--json"});
  EXPECT_THAT(keys_of(before),
              ElementsAre("operation", "platform", "source", "model", "optimum_Bps", "bound_Bps",
                          "bound_final", "gap", "trees", "cuts", "bottlenecks", "seconds"));
  const auto& bottlenecks = before.at("bottlenecks");
  ASSERT_FALSE(bottlenecks.empty());
  EXPECT_THAT(keys_of(bottlenecks[0]), ElementsAre("kind", "name", "price", "load", "copies",
                                                   "resources", "raised", "faster"));
  EXPECT_EQ(bottlenecks[0].at("kind"), "resource");
  EXPECT_THAT(keys_of(bottlenecks[0].at("faster")[0]),
              ElementsAre("factor", "optimum_Bps", "bound_Bps", "gap", "gain"));
  // The file with the link a -> c at twice its bandwidth.
  std::size_t links = 0;
  for (const Json& bottleneck : bottlenecks) {
    if (bottleneck.at("name") != "link a -> c") continue;
    ++links;
    write("q.json", replaced(kTriangle, "5e8", "1e9"));
    const Json after =
        run_json({"bound", "q.json", "--source", "a", "--model", "bounded-multi-port", "--json"});
    const double reported = bottleneck.at("faster")[1].at("optimum_Bps");
    EXPECT_NEAR(reported / after.at("optimum_Bps").get<double>(), 1, 1e-5);
  }
  EXPECT_EQ(links, 1U);
}

TEST_F(ExplainCommand, TopLimitsHowManyAreExamined) {
  const std::string platform = sample("equal-hosts-16.json");
  const Json one = run_json({"explain", platform, "--source", "n0", "--top", "1", "--json"});
  EXPECT_THAT(one.at("bottlenecks"), SizeIs(3));  // a resource, a link, a set
  const Json none = run_json({"explain", platform, "--source", "n0", "--top", "0", "--json"});
  EXPECT_THAT(none.at("bottlenecks"), IsEmpty());
}

// 16 equal hosts: whichever port the certificate names, only upgrading all of them gains 100 %.
TEST_F(ExplainCommand, ASetHelpsWhereASingleUpgradeHardlyDoes) {
  const Finished finished = run({"explain", sample("equal-hosts-16.json"), "--source", "n0"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("ports that bind, twice as fast: +100.00 % (20.0000 "
                                      "Gbit/s).\n"));
}

TEST_F(ExplainCommand, SourcesAreRanked) {
  const Finished finished = run({"explain", "p.json", "--source", "each"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr(", one-port, 3 sources: the best is "));
  EXPECT_THAT(finished.out, ContainsRegex("\n +optimum +of best +gap +source\n"));
  const Json two = run_json({"explain", "p.json", "--source", "c,a", "--json"});
  EXPECT_THAT(keys_of(two), ElementsAre("operation", "platform", "model", "sources", "seconds"));
  ASSERT_THAT(two.at("sources"), SizeIs(2));
  double last = two.at("sources")[0].at("optimum_Bps");
  for (const Json& row : two.at("sources")) {
    EXPECT_THAT(keys_of(row), ElementsAre("source", "optimum_Bps", "bound_Bps", "gap"));
    const Json bound =
        run_json({"bound", "p.json", "--source", row.at("source").get<std::string>(), "--json"});
    EXPECT_NEAR(row.at("optimum_Bps").get<double>() / bound.at("optimum_Bps").get<double>(), 1,
                1e-5);
    EXPECT_LE(row.at("optimum_Bps").get<double>(), last * (1 + 1e-5));
    last = row.at("optimum_Bps");
  }
}

TEST_F(ExplainCommand, ASourceThatCannotReachAllIsNamedAndLast) {
  write("net.csv", "from,to,bandwidth_Gbps\na,b,1\nb,a,1\na,c,1\n");
  const Finished finished = run({"explain", "net.csv", "--source", "each"});
  EXPECT_EQ(finished.status, 3) << finished.err;
  EXPECT_THAT(finished.out, ContainsRegex("\n +- +- +- +net: 'a' cannot be reached from 'c'"));
  const Finished alone = run({"explain", "net.csv", "--source", "c"});
  EXPECT_EQ(alone.status, 3);
  EXPECT_TRUE(is_one_line(alone.err));
}

TEST_F(ExplainCommand, APlanThatIsOptimalLosesNothing) {
  const Finished finished = run({"explain", "p.json", "--plan", "plan.json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\nplan.json (optimal, 1 tree) carries 8.0000 Gbit/s: the "
                                      "optimum, within the proof's gap.\n"));
}

TEST_F(ExplainCommand, APlansLossAddsUp) {
  const std::string platform = sample("two-clusters-thin-link.json");
  ASSERT_EQ(
      run({"plan", platform, "--source", "nancy-2", "--algorithm", "binomial", "-o", "b.json"})
          .status,
      0);
  const Json json = run_json({"explain", platform, "--plan", "b.json", "--json"});
  const Json& plan = json.at("plan");
  EXPECT_THAT(keys_of(plan), ElementsAre("algorithm", "trees", "throughput_Bps", "bound_Bps",
                                         "loss_Bps", "idle_Bps", "dear_Bps", "busiest_resource",
                                         "busiest_load", "full", "idle", "dear"));
  const double bound = plan.at("bound_Bps");
  EXPECT_NEAR(plan.at("throughput_Bps").get<double>() + plan.at("idle_Bps").get<double>() +
                  plan.at("dear_Bps").get<double>(),
              bound, 1e-6 * bound);
  EXPECT_EQ(json.at("source"), "nancy-2");
  const Finished text = run({"explain", platform, "--plan", "b.json"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nb.json (binomial, 1 tree) carries 33.2226 Mbit/s, 66.7774 "
                                  "Mbit/s less than the proven bound (66.78 %).\n"));
  EXPECT_THAT(text.out,
              ContainsRegex("\n +loss +share +carries +cost +cheapest +costly edge +edge of the "
                            "cheapest tree\n"));
}

TEST_F(ExplainCommand, AnInvalidPlanIsNotExplained) {
  write("plan.json", replaced(kChainPlan, "\"rate_Bps\": 1e9", "\"rate_Bps\": 2e9"));
  EXPECT_EQ(run({"explain", "p.json", "--plan", "plan.json"}).status, 5);
  const Finished other = run({"explain", sample("equal-hosts-16.json"), "--plan", "plan.json"});
  EXPECT_EQ(other.status, 5);
  EXPECT_THAT(other.out, IsEmpty());
  EXPECT_THAT(other.err, StartsWith("espalier: plan.json: /platform: "));
}

TEST_F(ExplainCommand, OptionsMustAgreeWithThePlan) {
  const auto with = [&](const std::string& option, const std::string& value) {
    return refusal({"--plan", "plan.json", option, value});
  };
  EXPECT_EQ(with("--source", "b"),
            "espalier: --source: the plan's source is 'a'; leave this option out\n");
  EXPECT_EQ(with("--source", "each"),
            "espalier: --source: the plan's source is 'a'; leave this option out\n");
  EXPECT_EQ(with("--model", "multi-port"),
            "espalier: --model: the plan's model is 'one-port'; leave this option out\n");
  EXPECT_EQ(with("--segment", "3"),
            "espalier: --segment: the plan's segments are of 1 MiB; leave this option out\n");
  EXPECT_EQ(with("--latency", "occupies"),
            "espalier: --latency: the plan has 'delays'; leave this option out\n");
  EXPECT_EQ(with("--operation", "reduce"),
            "espalier: --operation: the plan's operation is 'broadcast'; leave this option out\n");
  EXPECT_EQ(run({"explain", "p.json", "--plan", "plan.json", "--source", "a", "--model", "one-port",
                 "--segment", "1MiB", "--latency", "delays", "--operation", "broadcast"})
                .status,
            0);
}

TEST_F(ExplainCommand, RefusalsAreOneLine) {
  EXPECT_EQ(refusal({}), "espalier: explain: --source is required\n");
  EXPECT_THAT(refusal({"--source", "d"}), HasSubstr("unknown source 'd'"));
  EXPECT_THAT(refusal({"--source", "a,d"}), HasSubstr("unknown source 'd'"));
  EXPECT_THAT(refusal({"--source", "a", "--model", "oneport"}),
              HasSubstr("did you mean 'one-port'"));
  EXPECT_EQ(refusal({"--source", "a", "--gap", "2"}),
            "espalier: --gap: must be at least 0 and below 1\n");
  EXPECT_EQ(refusal({"--source", "a,b", "--operation", "scatter"}),
            "espalier: --source: several are not ranked for a scatter; give one\n");
  EXPECT_EQ(refusal({"--source", "a", "--operation", "alltoall"}),
            "espalier: --source: an alltoall has no source: every host is a root\n");
  EXPECT_THAT(refusal({"--source", "a", "--top", "few"}), StartsWith("espalier: explain: "));
  EXPECT_THAT(refusal({"--plan", "none.json"}), StartsWith("espalier: none.json: "));
  EXPECT_THAT(refusal({"--plan", "p.json"}), StartsWith("espalier: p.json: "));
  EXPECT_EQ(refusal_of(run({"explain", "-", "--plan", "-"})),
            "espalier: explain: plan and platform cannot both be standard input\n");
}

// --- reductions ---

// Links of different bandwidth in the two directions: a reduce uses the other one.
TEST_F(ExplainCommand, AReduceIsExplainedInTheDirectionOfItsData) {
  write("thin.csv", "from,to,bandwidth\na,b,8Gbit/s\nb,a,1Gbit/s\n");
  const Finished down = run({"explain", "thin.csv", "--source", "a"});
  EXPECT_THAT(down.out,
              StartsWith("problem       thin from a, one-port\noptimum       8.0000 Gbit/s"));
  const Finished up = run({"explain", "thin.csv", "--source", "a", "--operation", "reduce"});
  EXPECT_EQ(up.status, 0) << up.err;
  EXPECT_THAT(up.out,
              StartsWith("problem       thin reduced to a, one-port\noptimum       1.0000 Gbit/s"));
  EXPECT_THAT(up.out, ContainsRegex("\n100.00 % +100.00 % +1.00 +[+]10.00 % +[+]100.00 % +1 link +"
                                    "link b -> a\n"));
  const Finished both = run({"explain", "thin.csv", "--source", "a", "--operation", "allreduce",
                             "--model", "one-port-unidirectional"});
  EXPECT_THAT(both.out, StartsWith("problem       thin allreduced via a, one-port-unidirectional\n"
                                   "optimum       888.8889 Mbit/s"));
  EXPECT_THAT(both.out, HasSubstr("trees         1 tree up and 1 down\n"));
  EXPECT_THAT(both.out, ContainsRegex("\n[^\n]+ 100.00 % +2.00 +1.00 [^\n]+ port of a\n"));
  EXPECT_THAT(both.out, ContainsRegex("\n +price +load +copies +up +10 % faster"));
}

TEST_F(ExplainCommand, OtherOperationsAgreeWithBound) {
  for (const std::string operation :
       {"reduce", "allreduce", "allgather", "reduce-scatter", "scatter", "gather", "alltoall"}) {
    std::vector<std::string> problem{sample("seed-sketch.json"), "--operation", operation,
                                     "--json"};
    if (planner::may_have_root(planner::parse_operation(operation))) {
      problem.insert(problem.end(), {"--source", "P0"});
    }
    const auto with = [&](const std::string& command) {
      return run_json(joined({command}, problem));
    };
    const Json explained = with("explain");
    const Json bound = with("bound");
    EXPECT_EQ(explained.at("operation"), operation);
    EXPECT_NEAR(explained.at("optimum_Bps").get<double>() / bound.at("optimum_Bps").get<double>(),
                1, 1e-5);
    EXPECT_EQ(explained.at("bottlenecks")[0].contains("copies_up"), operation == "allreduce");
  }
}

TEST_F(ExplainCommand, LossOfReductionPlansNamesTheHalves) {
  const std::string platform = sample("two-clusters-thin-link.json");
  for (const std::string operation : {"reduce", "allreduce"}) {
    ASSERT_EQ(run({"plan", platform, "--source", "nancy-2", "--operation", operation, "--algorithm",
                   "binomial", "-o", "b.json"})
                  .status,
              0);
    const Json json = run_json({"explain", platform, "--plan", "b.json", "--json"});
    EXPECT_EQ(json.at("operation"), operation);
    const Json& plan = json.at("plan");
    const double bound = plan.at("bound_Bps");
    EXPECT_NEAR(plan.at("throughput_Bps").get<double>() + plan.at("idle_Bps").get<double>() +
                    plan.at("dear_Bps").get<double>(),
                bound, 1e-6 * bound);
    EXPECT_THAT(keys_of(plan.at("full")[0]), ElementsAre("resource", "load", "price", "trees"));
    std::set<std::string> kinds;
    for (const Json& tree : plan.at("full")[0].at("trees")) kinds.insert(tree.at("kind"));
    EXPECT_TRUE(kinds.contains("reduce_trees"));
    EXPECT_EQ(kinds.size(), operation == "reduce" ? 1U : 2U);
    const Finished text = run({"explain", platform, "--plan", "b.json"});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr(operation == "reduce" ? "\nb.json (binomial, 1 tree) carries "
                                                          : "\nb.json (binomial, 1 tree up and 1 "
                                                            "down) carries "));
    EXPECT_THAT(text.out,
                ContainsRegex(operation == "reduce"
                                  ? "\n +loss +share +load +price +idle resource +used by trees\n"
                                  : "  up lyon-[0-9] -> lyon-1 -> nancy-1 -> nancy-[0-9] "));
  }
}

TEST_F(ExplainCommand, RootsAreRanked) {
  write("net.csv", "from,to,bandwidth_Gbps\na,b,1\nb,a,1\na,c,1\n");
  const Finished reduce = run({"explain", "net.csv", "--source", "each", "--operation", "reduce"});
  EXPECT_EQ(reduce.status, 3) << reduce.err;
  EXPECT_THAT(reduce.out, StartsWith("net, one-port, reduce, 3 roots: the best is c, optimum "));
  EXPECT_THAT(reduce.out, ContainsRegex("\n +- +- +- +net: 'c' cannot reach 'a'"));
  const Finished all = run({"explain", "net.csv", "--source", "each", "--operation", "allreduce"});
  EXPECT_EQ(all.status, 3);
  EXPECT_THAT(all.out, StartsWith("net, one-port, allreduce, 3 roots: none reaches every host and "
                                  "is reached by every host\n"));
}

TEST_F(ExplainCommand, ATimeLimitGivesPartialResults) {
  const std::string platform = sample("cloud-71-regions.json");
  const Finished one =
      run({"explain", platform, "--source", "gcp:us-west1-a", "--time-limit", "1us"});
  EXPECT_EQ(one.status, 4);
  EXPECT_THAT(one.out, HasSubstr("bottleneck\n"));
  EXPECT_THAT(one.err, HasSubstr("the time limit was reached before the gap was closed"));
  const Finished each = run({"explain", platform, "--source", "each", "--time-limit", "1us"});
  EXPECT_EQ(each.status, 4);
  EXPECT_THAT(each.out, HasSubstr("71 sources: the best is "));
  EXPECT_THAT(each.out, HasSubstr("were not examined within the time limit)"));
  EXPECT_THAT(each.err, HasSubstr("the time limit was reached before every source was examined"));
}

}  // namespace

}  // namespace espalier::cli::explain_test
