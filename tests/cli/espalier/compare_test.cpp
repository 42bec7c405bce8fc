// compare: one instance and several, and that failures are reported.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::compare_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CompareCommand : public CliTest {};

std::vector<std::string> algorithms_of(const Json& comparison) {
  std::vector<std::string> names;
  for (const Json& row : comparison.at("rows")) names.push_back(row.at("algorithm"));
  return names;
}

// No link leads to c: it cannot be reached from a; from c all hosts can.
//
//     c -> a -> b
constexpr const char* kOneWay = "from,to,bandwidth_Gbps\na,b,1\nc,a,1\n";

TEST_F(CompareCommand, JsonKeysOfOneInstance) {
  write("p.json", kTriangle);
  const Json comparison = run_json({"compare", "p.json", "--source", "a", "--json"});
  EXPECT_THAT(keys_of(comparison), ElementsAre("operation", "platform", "source", "model",
                                               "optimum_Bps", "bound_Bps", "bound_final", "rows"));
  EXPECT_EQ(comparison.at("platform"), "triangle");
  EXPECT_NEAR(comparison.at("optimum_Bps").get<double>(), 1e9, 1e4);
  for (const Json& row : comparison.at("rows")) {
    EXPECT_THAT(keys_of(row), ElementsAre("algorithm", "trees", "throughput_Bps", "relative",
                                          "depth", "makespan_s", "seconds"));
    EXPECT_GT(row.at("relative").get<double>(), 0);
    EXPECT_LE(row.at("relative").get<double>(), 1);
  }
}

TEST_F(CompareCommand, AllMeansAllThatServeABroadcastInTheRegistrysOrder) {
  write("p.json", kTriangle);
  std::vector<std::string> registry;
  const Json list = run_json({"list", "algorithms", "--json"});
  for (const Json& entry : list.at("algorithms")) {
    const auto operations = entry.at("operations").get<std::vector<std::string>>();
    if (entry.at("name") == "fabric") continue;  // not for hosts linked to hosts
    if (std::ranges::count(operations, "broadcast") > 0) registry.push_back(entry.at("name"));
  }
  EXPECT_EQ(algorithms_of(run_json({"compare", "p.json", "--json"})), registry);
  // In any order of the option.
  std::string backwards;
  for (auto name = registry.rbegin(); name != registry.rend(); ++name) backwards += *name + ',';
  backwards.pop_back();
  EXPECT_EQ(algorithms_of(run_json({"compare", "p.json", "--algorithm", backwards, "--json"})),
            registry);
}

TEST_F(CompareCommand, InnerAlgorithmsAreNamedAndSortedInTheRegistrysOrder) {
  write("p.json", kTriangle);
  EXPECT_THAT(algorithms_of(
                  run_json({"compare", "p.json", "--algorithm",
                            "reorder:chain,hierarchical:chain,hierarchical,flat,hierarchical:grow,"
                            "hierarchical:binomial",
                            "--json"})),
              ElementsAre("flat", "hierarchical:grow", "hierarchical", "hierarchical:chain",
                          "reorder:chain"));
}

// A message of 1 GB over links of 1 GB/s, a -> c half as fast.
TEST_F(CompareCommand, MakespanOfOneMessage) {
  write("p.json", kTriangle);
  const std::vector<std::string> call{"compare", "p.json",      "--source",
                                      "a",       "--algorithm", "chain,flat"};
  const auto with = [&](const std::vector<std::string>& more) { return joined(call, more); };
  const Json rows = run_json(with({"--message", "1GB", "--json"})).at("rows");
  EXPECT_NEAR(rows[0].at("makespan_s").get<double>(), 2, 1e-9);
  EXPECT_NEAR(rows[1].at("makespan_s").get<double>(), 3, 1e-9);
  const Json by_default = run_json(with({"--json"})).at("rows");
  EXPECT_NEAR(by_default[1].at("makespan_s").get<double>(), 3 * 1048576e-9, 1e-12);
  const Finished table = run(with({"--message", "1GB"}));
  EXPECT_THAT(table.out, HasSubstr("  depth  makespan  time of 1 GB  seconds\n"));
  EXPECT_THAT(table.out, HasSubstr("      2   2.000 s       1.001 s    0."));
  const Finished csv = run(with({"--message", "1GB", "--csv"}));
  EXPECT_THAT(csv.out, ::testing::ContainsRegex(",chain,1,[0-9.]+,[0-9.]+,2,2,"));
}

TEST_F(CompareCommand, PlansOfSeveralTreesHaveNoMakespan) {
  const std::vector<std::string> call{
      "compare", sample("seed-sketch.json"), "--source", "P0", "--algorithm", "optimal"};
  const auto with = [&](const std::string& form) {
    std::vector<std::string> arguments = call;
    arguments.push_back(form);
    return arguments;
  };
  const Json row = run_json(with("--json")).at("rows")[0];
  ASSERT_GT(row.at("trees").get<int>(), 1);
  EXPECT_TRUE(row.at("makespan_s").is_null());
  const Finished table = run(call);
  EXPECT_THAT(table.out, HasSubstr("      7         -    0."));
  const Finished csv = run(with("--csv"));
  EXPECT_THAT(csv.out, HasSubstr(",7,,0."));
}

TEST_F(CompareCommand, TheBoundIsProvenWithoutOptimalToo) {
  write("p.json", kTriangle);
  const Json comparison = run_json({"compare", "p.json", "--algorithm", "flat,chain", "--json"});
  EXPECT_THAT(algorithms_of(comparison), ::testing::UnorderedElementsAre("flat", "chain"));
  EXPECT_NEAR(comparison.at("bound_Bps").get<double>(), 1e9, 1e4);
  EXPECT_NEAR(comparison.at("optimum_Bps").get<double>(), 1e9, 1e4);
}

TEST_F(CompareCommand, EachSourceGivesASummary) {
  write("p.json", kTriangle);
  const Json comparison =
      run_json({"compare", "p.json", "--source", "each", "--algorithm", "chain", "--json"});
  EXPECT_THAT(keys_of(comparison), ElementsAre("instances", "summary"));
  std::vector<std::string> sources;
  for (const Json& instance : comparison.at("instances")) sources.push_back(instance.at("source"));
  EXPECT_THAT(sources, ElementsAre("a", "b", "c"));
  ASSERT_EQ(comparison.at("summary").size(), 1U);
  const Json& summary = comparison.at("summary")[0];
  EXPECT_THAT(keys_of(summary),
              ElementsAre("algorithm", "instances", "mean", "deviation", "worst", "failures"));
  EXPECT_EQ(summary.at("instances"), 3);
  EXPECT_EQ(summary.at("failures"), 0);
  EXPECT_LE(summary.at("worst").get<double>(), summary.at("mean").get<double>());
}

TEST_F(CompareCommand, SourcesByListAndByRepetition) {
  write("p.json", kTriangle);
  for (const std::vector<std::string>& sources :
       {std::vector<std::string>{"--source", "c,a"}, {"--source", "c", "--source", "a"}}) {
    const Json comparison =
        run_json(joined({"compare", "p.json", "--algorithm", "chain", "--json"}, sources));
    ASSERT_EQ(comparison.at("instances").size(), 2U);
    EXPECT_EQ(comparison.at("instances")[0].at("source"), "c");
    EXPECT_EQ(comparison.at("instances")[1].at("source"), "a");
  }
}

TEST_F(CompareCommand, SeveralPlatforms) {
  write("p.json", kTriangle);
  write("q.json", replaced(kTriangle, "triangle", "other"));
  const Json comparison =
      run_json({"compare", "p.json", "q.json", "--algorithm", "chain", "--json"});
  ASSERT_EQ(comparison.at("instances").size(), 2U);
  EXPECT_EQ(comparison.at("instances")[0].at("platform"), "triangle");
  EXPECT_EQ(comparison.at("instances")[1].at("platform"), "other");
}

TEST_F(CompareCommand, TableAndCsv) {
  write("p.json", kTriangle);
  const Finished table = run({"compare", "p.json", "--source", "a,b"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(
      table.out,
      StartsWith("triangle from a, one-port: optimum 8.0000 Gbit/s, proven bound 8.0000 Gbit/s\n"
                 "algorithm "));
  EXPECT_THAT(table.out, HasSubstr("\nrelative to the bound "));
  const Finished csv =
      run({"compare", "p.json", "--source", "a,b", "--algorithm", "chain", "--csv"});
  EXPECT_EQ(csv.status, 0) << csv.err;
  EXPECT_THAT(csv.out, StartsWith("platform,source,model,optimum_Bps,bound_Bps,algorithm,trees,"
                                  "throughput_Bps,relative,depth,makespan_s,seconds,error,"
                                  "operation,bound_final\ntriangle,a,one-port,"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 3);
}

TEST_F(CompareCommand, AnInstanceWithoutSolutionIsNotDropped) {
  write("p.csv", kOneWay);
  const Finished finished =
      run({"compare", "p.csv", "--source", "c,a", "--algorithm", "chain", "--json"});
  EXPECT_EQ(finished.status, 3);
  const Json instances = parse_json(finished.out, "<stdout>").at("instances");
  EXPECT_FALSE(instances[0].contains("error"));
  EXPECT_THAT(instances[1].at("error").get<std::string>(), HasSubstr("'c'"));
  const Finished table = run({"compare", "p.csv", "--source", "c,a", "--algorithm", "chain"});
  EXPECT_EQ(table.status, 3);
  EXPECT_THAT(table.out, HasSubstr("p from a, one-port: "));
}

TEST_F(CompareCommand, AloneItIsARefusal) {
  write("p.csv", kOneWay);
  const Finished finished = run({"compare", "p.csv", "--source", "a"});
  EXPECT_EQ(finished.status, 3);
  EXPECT_TRUE(is_one_line(finished.err));
  EXPECT_EQ(finished.out, "");
}

// Fast along a, b, c, d; the direct links are slow. Along the chain each host sends 10 Gbit/s; by
// itself a needs 1 / 10 + 1 / 4 + 1 / 1 seconds for a Gbit.
TEST_F(CompareCommand, TheFrontierOfDepth) {
  write("p.csv", "from,to,bandwidth_Gbps\na,b,10\nb,c,10\nc,d,10\na,c,4\nb,d,4\na,d,1\n");
  const std::vector<std::string> compare{"compare",    "p.csv",      "--algorithm",
                                         "chain,flat", "--frontier", "depth"};
  const Json compared = run_json(
      joined(compare, {"--message", "64MiB", "--chart", "f.svg", "--source", "a", "--json"}));
  const Json& frontier = compared.at("frontier");
  ASSERT_EQ(frontier.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(frontier[i].at("max_depth"), i == 0 ? Json() : Json(3 - i));
    EXPECT_EQ(frontier[i].at("depth"), 3 - i);
    EXPECT_GT(frontier[i].at("time_s"), i == 0 ? Json(0) : frontier[i - 1].at("time_s"));
  }
  EXPECT_NEAR(frontier[0].at("throughput_Bps").get<double>(), 1.25e9, 1e4);
  EXPECT_NEAR(frontier[2].at("throughput_Bps").get<double>(), 1.25e8 / 1.35, 1e4);
  EXPECT_NEAR(frontier[2].at("relative").get<double>(), 1 / 13.5, 1e-6);
  EXPECT_THAT(read("f.svg"), HasSubstr("depth of the trees"));
  EXPECT_THAT(run(compare).out, HasSubstr("max depth  trees"));
  write("t.json", kTriangle);
  const auto of_triangle = [](const std::string& operation) {
    return std::vector<std::string>{"compare",     "t.json",  "--algorithm", "optimal", "--json",
                                    "--operation", operation, "--frontier",  "depth"};
  };
  for (const std::string operation : {"allgather", "allreduce"}) {
    const Json all_roots = run_json(of_triangle(operation)).at("frontier");
    EXPECT_EQ(all_roots.back().at("depth"), 1);
  }
  EXPECT_THAT(run(of_triangle("alltoall")).err,
              HasSubstr("--frontier: the depth is of trees that span all hosts"));
  EXPECT_THAT(run({"compare", "p.csv", "--frontier", "width"}).err,
              HasSubstr("--frontier: unknown frontier 'width'"));
}

// Among 71 regions trees of depth 4 were found that are faster than those for depth 5.
TEST_F(CompareCommand, ARowOfTheFrontierIsNoSlowerThanShallowerOnes) {
  const Json frontier =
      run_json({"compare", sample("cloud-71-regions.json"), "--source", "azure:westeurope",
                "--algorithm", "flat", "--frontier", "depth", "--json"})
          .at("frontier");
  ASSERT_GE(frontier.size(), 5U);
  for (std::size_t i = 1; i < frontier.size(); ++i) {
    EXPECT_LT(frontier[i].at("depth"), frontier[i - 1].at("depth"));
    EXPECT_LE(frontier[i].at("throughput_Bps"),
              frontier[i - 1].at("throughput_Bps").get<double>() * (1 + 1e-6));
  }
}

TEST_F(CompareCommand, EveryModelOnEverySample) {
  const Json models = run_json({"list", "models", "--json"});
  for (const char* name :
       {"equal-hosts-16.json", "heterogeneous-star.json", "relays-shared-link.json",
        "seed-sketch.json", "two-clusters-thin-link.json"}) {
    for (const Json& model : models.at("models")) {
      const Json comparison =
          run_json({"compare", sample(name), "--model", model.at("name"), "--json"});
      for (const Json& row : comparison.at("rows")) {
        EXPECT_GT(row.at("relative").get<double>(), 0) << name << ' ' << row;
        if (row.at("algorithm").get<std::string>() == "optimal") {
          EXPECT_GE(row.at("relative").get<double>(), 1 - 1e-6) << name << ' ' << row;
        }
      }
    }
  }
}

}  // namespace

}  // namespace espalier::cli::compare_test
