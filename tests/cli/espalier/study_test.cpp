// study: the files in the folder, resuming, refusals.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/csv_line.hpp"
#include "tests/cli/espalier/program.hpp"
#include "tests/support/xml.hpp"

namespace espalier::cli::study_test {

namespace {

using espalier::testing::count_of;
using espalier::testing::xml_fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class StudyCommand : public CliTest {
 protected:
  // A study of 8 units into `folder`.
  [[nodiscard]] Finished small(const std::string& folder,
                               const std::vector<std::string>& more = {}) const {
    return run(joined({"study", "random", "--nodes", "5,8", "--densities", "0.4,0.7", "--draws",
                       "1", "--algorithm", "optimal,grow,flat", "-o", folder},
                      more));
  }
  [[nodiscard]] std::vector<std::string> files_of(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder() / "work" / name)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(StudyCommand, FillsItsFolderAndPrintsTheSummary) {
  const Finished finished = small("s");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(files_of("s"),
              ElementsAre("done.jsonl", "instances.csv", "relative-vs-density-multi-port.svg",
                          "relative-vs-density-one-port.svg", "relative-vs-nodes-multi-port.svg",
                          "relative-vs-nodes-one-port.svg", "study.json", "summary.csv",
                          "summary.md", "timings.csv"));
  EXPECT_EQ(finished.out, read("s/summary.md"));
  EXPECT_EQ(count_of(read("s/instances.csv"), "\n"), 1U + 8 * 3);
  EXPECT_EQ(count_of(read("s/timings.csv"), "\n"), 1U + 8 * 4);
  const std::string chart = read("s/relative-vs-nodes-one-port.svg");
  EXPECT_EQ(xml_fault(chart), "");
  EXPECT_EQ(count_of(chart, "class=\"series\""), 3U);
}

// As HBT does under multi-port: guided by the one-port optimum, and relative to it.
TEST_F(StudyCommand, IsGuidedByAndRelativeToAnotherModel) {
  const Finished finished =
      run({"study", "random", "--nodes", "8", "--densities", "0.6", "--draws", "1", "--models",
           "multi-port", "--algorithm", "optimal,lp-grow", "--guided-by", "one-port",
           "--relative-to", "one-port", "-o", "s"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out,
              StartsWith("Throughput relative to the proven one-port optimum of several pipelined "
                         "trees: mean ± deviation (worst).\nlp-grow and lp-prune are guided by the "
                         "one-port optimum.\n"));
  EXPECT_THAT(read("s/study.json"), HasSubstr("\"relative_to\": \"one-port\""));
}

TEST_F(StudyCommand, OfTwoTreesFillsItsFolder) {
  const Finished finished = run({"study", "two-trees", "--operations", "reduce,broadcast",
                                 "--processes", "4,6", "--sizes", "64KiB", "-o", "t/two"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, read("t/two/summary.md"));
  EXPECT_THAT(files_of("t/two"),
              ElementsAre("broadcast-64KiB.svg", "figures.csv", "reduce-64KiB.svg", "summary.md"));
  EXPECT_EQ(count_of(read("t/two/figures.csv"), "\n"), 1U + 2 * 6 * 2);
  EXPECT_EQ(refusal_of(run({"study", "two-trees", "--sizes", "0", "-o", "u"})),
            "espalier: --sizes: an empty message has no chunks\n");
}

TEST_F(StudyCommand, ResumesAfterAnInterruption) {
  EXPECT_EQ(small("s").status, 0);
  const std::string instances = read("s/instances.csv");
  const std::string summary = read("s/summary.md");
  std::string done = read("s/done.jsonl");
  done.resize(done.size() * 5 / 9);
  ASSERT_NE(done.back(), '\n');
  write("s/done.jsonl", done);
  std::filesystem::remove(folder() / "work/s/instances.csv");
  const Finished resumed = small("s");
  EXPECT_EQ(resumed.status, 0);
  EXPECT_EQ(resumed.err, "espalier: note: s: resuming; 4 of 8 are done\n");
  EXPECT_EQ(resumed.out, summary);
  EXPECT_EQ(read("s/instances.csv"), instances);
}

// What `compare` gives for the platform of each row, and the same after an interruption.
TEST_F(StudyCommand, TakesEveryOperationThatMovesAMessage) {
  write("p.json", kTriangle);
  for (const std::string operation :
       {"allgather", "reduce-scatter", "scatter", "gather", "alltoall"}) {
    const std::vector<std::string> how{"--operation", operation, "--algorithm", "optimal,flat",
                                       "p.json"};
    const std::vector<std::string> study =
        joined({"study", "files", "--models", "one-port", "-o", operation}, how);
    const Finished finished = run(study);
    EXPECT_EQ(finished.status, 0) << finished.err;
    const bool is_routed =
        operation == "scatter" || operation == "gather" || operation == "alltoall";
    EXPECT_THAT(finished.out, HasSubstr(is_routed ? "of several pipelined paths:"
                                                  : "of several pipelined trees:"));
    const std::string instances = read(operation + "/instances.csv");
    const bool has_root = operation == "scatter" || operation == "gather";
    const std::vector<std::string> each{"--source", "each"};
    const Finished compared = run(
        joined(joined({"compare", "--json"}, how), has_root ? each : std::vector<std::string>{}));
    const Json json = parse_json(compared.out, "<stdout>");
    const Json all = has_root ? json.at("instances") : Json::array({json});
    EXPECT_EQ(count_of(instances, "\n"), 1 + all.size() * 2);
    for (const Json& instance : all) {
      for (const Json& row : instance.at("rows")) {
        const auto throughput = row.at("throughput_Bps").get<double>();
        EXPECT_THAT(instances, HasSubstr("," + exact(throughput) + ","));
      }
    }
    const std::string done = read(operation + "/done.jsonl");
    write(operation + "/done.jsonl", done.substr(0, done.size() - 9));
    EXPECT_EQ(run(study).status, 0);
    EXPECT_EQ(read(operation + "/instances.csv"), instances);
  }
}

TEST_F(StudyCommand, OfAllreducesTakesAnyRoots) {
  const std::vector<std::string> study{"study",   "random", "--operation", "allreduce",
                                       "--nodes", "5",      "--densities", "0.6",
                                       "--draws", "2",      "-o",          "s"};
  EXPECT_EQ(run(joined(study, {"--root", "any"})).status, 0);
  EXPECT_THAT(read("s/instances.csv"), HasSubstr(",one-port,,recursive-doubling,"));
  EXPECT_THAT(refusal_of(run(study)), StartsWith("espalier: s/study.json: /any_root: "));
  EXPECT_EQ(run(joined(study, {"--restart"})).status, 0);
  EXPECT_THAT(read("s/instances.csv"), HasSubstr(",one-port,n0,best-tree,"));
}

TEST_F(StudyCommand, OtherSettingsNeedAnotherFolderOrRestart) {
  EXPECT_EQ(small("s").status, 0);
  const std::string instances = read("s/instances.csv");
  const Finished refused = small("s", {"--seed", "2"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "espalier: s/study.json: /seed: the folder contains a study with other settings ('1' "
            "there, '2' here); use another folder, or start over with --restart\n");
  EXPECT_EQ(read("s/instances.csv"), instances);
  EXPECT_EQ(small("s", {"--seed", "2", "--restart"}).status, 0);
  EXPECT_NE(read("s/instances.csv"), instances);
}

TEST_F(StudyCommand, TakesRanges) {
  const Finished finished =
      run({"study", "random", "--nodes", "4..10:3,5", "--densities", "0.04..0.2:0.08", "--draws",
           "1", "--algorithm", "chain", "--models", "one-port", "-o", "s"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const Json settings = parse_json(read("s/study.json"), "study.json");
  EXPECT_EQ(settings.at("nodes"), Json({4, 5, 7, 10}));
  EXPECT_EQ(settings.at("densities"), Json({0.04, 0.12, 0.2}));
}

TEST_F(StudyCommand, RefusalsNameTheOption) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"teirs"},
       "study: unknown family 'teirs'; did you mean 'tiers'? one of: random, tiers, files"},
      {{"random"}, "study random: --output is required"},
      {{"random", "-o", "s", "--nodes", "ten"},
       "--nodes: 'ten' is not a number; give a list such as 10,20 or 10..50:10"},
      {{"random", "-o", "s", "--nodes", "10..50"},
       "--nodes: range '10..50' has no step; write it as in 10..50:10"},
      {{"random", "-o", "s", "--nodes", "50..10:10"},
       "--nodes: range '50..10:10' must ascend, with a step above 0"},
      {{"random", "-o", "s", "--nodes", "2.5"}, "--nodes: 2.5 is not a whole number from 0 to 1e9"},
      {{"random", "-o", "s", "--nodes", "1"}, "nodes must be at least 2, not 1"},
      {{"random", "-o", "s", "--densities", "0.1,1.2"},
       "a density must be over 0 and at most 1, not 1.2"},
      {{"random", "-o", "s", "--draws", "0"}, "draws must be at least 1"},
      {{"random", "-o", "s", "--algorithm", "gorw"},
       "unknown algorithm 'gorw'; did you mean 'grow'?"},
      {{"random", "-o", "s", "--operation", "alltoall", "--algorithm", "split-binary"},
       "algorithm 'split-binary' makes no trees for an alltoall; these do: optimal, "},
      {{"random", "-o", "s", "--operation", "barrier"},
       "--operation: unknown operation 'barrier'; "},
      {{"random", "-o", "s", "--operation", "allgather", "--root", "any"},
       "--root: only an allreduce may have 'any' roots"},
      {{"files", "-o", "s", "--operation", "allgather", "--source", "a", "p.json"},
       "--source: an allgather has no source: every host is a root"},
      {{"random", "-o", "s", "--models", "one-prt"},
       "--models: unknown model 'one-prt'; did you mean 'one-port'?"},
      {{"files", "-o", "s"}, "study files: platforms is required"},
      {{"files", "-o", "s", "none.json"}, "none.json: cannot open: No such file or directory"},
  };
  for (const auto& [arguments, line] : cases) {
    const Finished finished = run(joined({"study"}, arguments));
    EXPECT_EQ(finished.status, 2) << line;
    EXPECT_THAT(finished.err, StartsWith("espalier: " + line));
    EXPECT_TRUE(is_one_line(finished.err));
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_F(StudyCommand, FilesFromEveryHostOrFromOne) {
  write("p.json", kTriangle);
  const Finished all = run({"study", "files", "p.json", "--models", "one-port", "--algorithm",
                            "optimal,chain", "-o", "s", "--json"});
  EXPECT_EQ(all.status, 0) << all.err;
  const Json json = parse_json(all.out, "<stdout>");
  EXPECT_THAT(keys_of(json), ElementsAre("family", "instances", "summary"));
  EXPECT_EQ(json.at("instances"), 3);
  EXPECT_THAT(keys_of(json.at("summary")[0]),
              ElementsAre("model", "nodes", "density", "algorithm", "instances", "mean",
                          "deviation", "worst", "failed"));
  EXPECT_THAT(read("s/instances.csv"), HasSubstr("\nfiles,triangle,3,6,,,,one-port,b,optimal,"));
  // The file has changed.
  write("p.json", replaced(kTriangle, "5e8", "4e8"));
  EXPECT_THAT(refusal_of(run({"study", "files", "p.json", "--models", "one-port", "--algorithm",
                              "optimal,chain", "-o", "s"})),
              StartsWith("espalier: s/study.json: /platforms: "));
  const Finished one = run(
      {"study", "files", "p.json", "--source", "c", "--algorithm", "chain", "-o", "t", "--csv"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, StartsWith("model,nodes,density,algorithm,"));
  EXPECT_EQ(count_of(read("t/instances.csv"), "\n"), 1U + 2);
  EXPECT_THAT(refusal_of(run({"study", "files", "p.json", "--operation", "reduce", "--source", "c",
                              "--algorithm", "chain", "-o", "t"})),
              StartsWith("espalier: t/study.json: /operation: "));
}

TEST_F(StudyCommand, InstancesWithoutSolutionAreReportedAndEndWithThree) {
  write("p.csv", "from,to,bandwidth_Gbps\na,b,1\nc,a,1\n");  // c -> a -> b
  const Finished finished =
      run({"study", "files", "p.csv", "--models", "one-port", "--algorithm", "chain", "-o", "s"});
  EXPECT_EQ(finished.status, 3);
  EXPECT_EQ(finished.err,
            "espalier: warning: 2 instances have no solution: see 'error' in instances.csv\n");
  EXPECT_THAT(finished.out, HasSubstr("2 figures are missing"));
  EXPECT_THAT(read("s/instances.csv"), HasSubstr("'c'"));
}

}  // namespace

}  // namespace espalier::cli::study_test
