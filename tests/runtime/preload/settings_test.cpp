#include "runtime/preload/settings.hpp"

#include <gmock/gmock.h>

#include <map>
#include <memory>

#include "runtime/preload/tally.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::preload::settings_test {
namespace {

Settings from(const std::map<std::string, std::string>& variables) {
  return settings_from([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal_of(const std::string& name, const std::string& value) {
  return espalier::testing::refusal([&] { from({{name, value}}); });
}

TEST(PreloadSettings, NothingSetAsksForNothing) {
  const Settings settings = from({{"ESPALIER_PLAN", ""}, {"ESPALIER_VERBOSE", ""}});
  EXPECT_FALSE(settings.asks_for_something());
  EXPECT_FALSE(settings.verbose);
  EXPECT_EQ(settings.threshold, kDefaultThreshold);
  EXPECT_EQ(settings.local, LocalCalls::kHandOn);
}

TEST(PreloadSettings, ReadsEachVariable) {
  const Settings settings = from({{"ESPALIER_PLAN", ":a.json::b.json:"},
                                  {"ESPALIER_TUNED", "a.tuned:b.tuned"},
                                  {"ESPALIER_DECISIONS", "bcast.json:reduce.json"},
                                  {"ESPALIER_PLATFORM", "net.csv"},
                                  {"ESPALIER_MODEL", "multi-port"},
                                  {"ESPALIER_ALGORITHM", "grow"},
                                  {"ESPALIER_MAX_TREES", "3"},
                                  {"ESPALIER_MAP", "host"},
                                  {"ESPALIER_LOCAL", "take"},
                                  {"ESPALIER_VARYING", "agree"},
                                  {"ESPALIER_THRESHOLD", "1 MiB"},
                                  {"ESPALIER_TIMEOUT", "1.5 min"},
                                  {"ESPALIER_TRIALS", "0"},
                                  {"ESPALIER_REPORT", "1"},
                                  {"ESPALIER_VERBOSE", "1"}});
  EXPECT_EQ(settings.timeout, Seconds{90});
  EXPECT_TRUE(settings.asks_for_something());
  EXPECT_THAT(settings.plan_files, ::testing::ElementsAre("a.json", "b.json"));
  EXPECT_THAT(settings.tuned_files, ::testing::ElementsAre("a.tuned", "b.tuned"));
  EXPECT_THAT(settings.decision_files, ::testing::ElementsAre("bcast.json", "reduce.json"));
  EXPECT_EQ(settings.platform_file, "net.csv");
  EXPECT_EQ(settings.model, "multi-port");
  EXPECT_EQ(settings.algorithm, "grow");
  EXPECT_EQ(settings.varying, VaryingParts::kAgree);
  EXPECT_EQ(settings.max_trees, 3U);
  EXPECT_EQ(settings.mapping, runtime::RankMapping::kByHostName);
  EXPECT_EQ(settings.local, LocalCalls::kTake);
  EXPECT_EQ(settings.threshold.value, 1U << 20U);
  EXPECT_EQ(settings.trials, 0U);
  EXPECT_TRUE(settings.report);
  EXPECT_TRUE(settings.verbose);
}

TEST(PreloadSettings, GroupsNeedNoPlatform) {
  EXPECT_EQ(from({{"ESPALIER_GROUPS", "hosts"}}).algorithm, "hierarchical");
  EXPECT_EQ(from({{"ESPALIER_GROUPS", "g"}, {"ESPALIER_ALGORITHM", "reorder"}}).algorithm,
            "reorder");
  EXPECT_TRUE(from({{"ESPALIER_GROUPS", "hosts"}}).asks_for_something());
  EXPECT_EQ(espalier::testing::refusal([] {
              from({{"ESPALIER_GROUPS", "hosts"}, {"ESPALIER_PLATFORM", "net.csv"}});
            }),
            "ESPALIER_GROUPS: ESPALIER_PLATFORM is given, too; give one of them");
}

TEST(PreloadSettings, RefusalsNameTheVariable) {
  EXPECT_EQ(refusal_of("ESPALIER_PLAN", "::"), "ESPALIER_PLAN: '::' is not a list of files");
  EXPECT_EQ(refusal_of("ESPALIER_DECISIONS", ":"),
            "ESPALIER_DECISIONS: ':' is not a list of files");
  EXPECT_EQ(refusal_of("ESPALIER_TUNED", ":"), "ESPALIER_TUNED: ':' is not a list of files");
  EXPECT_EQ(refusal_of("ESPALIER_MAP", "rank"),
            "ESPALIER_MAP: 'rank' is neither 'order' nor 'host'");
  EXPECT_EQ(refusal_of("ESPALIER_LOCAL", "yes"),
            "ESPALIER_LOCAL: 'yes' is neither 'hand-on' nor 'take'");
  EXPECT_EQ(refusal_of("ESPALIER_VERBOSE", "yes"), "ESPALIER_VERBOSE: 'yes' is neither 0 nor 1");
  EXPECT_EQ(refusal_of("ESPALIER_REPORT", "2"), "ESPALIER_REPORT: '2' is neither 0 nor 1");
  EXPECT_EQ(refusal_of("ESPALIER_TRIALS", "1001"),
            "ESPALIER_TRIALS: '1001' is not a number of trials, 0 to 1000");
  for (const char* trees : {"0", "-1", "many", "3x", "99999999999999999999999"}) {
    EXPECT_EQ(refusal_of("ESPALIER_MAX_TREES", trees),
              "ESPALIER_MAX_TREES: '" + std::string(trees) + "' is not a number of trees");
  }
  EXPECT_EQ(refusal_of("ESPALIER_TIMEOUT", "0 s"),
            "ESPALIER_TIMEOUT: '0 s' is not a positive time");
  EXPECT_THAT(refusal_of("ESPALIER_TIMEOUT", "soon"), ::testing::StartsWith("ESPALIER_TIMEOUT: "));
  EXPECT_THAT(refusal_of("ESPALIER_THRESHOLD", "-1"),
              ::testing::StartsWith("ESPALIER_THRESHOLD: "));
}

TEST(PreloadTally, ListsOnlyReasonsThatOccurred) {
  Tally tally;
  EXPECT_EQ(summary("MPI_Bcast", tally), "0 MPI_Bcast taken (0 B), 0 left to MPI");
  tally.taken = 5;
  tally.taken_bytes = 3U << 20U;
  tally.left_to_mpi[static_cast<std::size_t>(Reason::kBelowThreshold)] = 2;
  tally.left_to_mpi[static_cast<std::size_t>(Reason::kNoPlanFits)] = 1;
  EXPECT_EQ(summary("MPI_Bcast", tally),
            "5 MPI_Bcast taken (3 MiB), 3 left to MPI: 2 below the threshold, 1 that no plan fits");
}

TEST(PreloadTally, NamesSendersAndReceivers) {
  EXPECT_EQ(ranks_text(planner::Operation::kBroadcast, 2, 4), "from rank 2 to 4 ranks");
  EXPECT_EQ(ranks_text(planner::Operation::kReduce, 2, 4), "from 4 ranks to rank 2");
  EXPECT_EQ(ranks_text(planner::Operation::kAllreduce, 0, 4), "from and to 4 ranks");
}

TEST(PreloadTally, TheTableHasARowForEachSizeAndTheirSum) {
  const auto tallies = std::make_unique<SizeTallies>();
  (*tallies)[0][16] = {3, 0.5, 0, 0, -0.25, 2};
  (*tallies)[7][20] = {0, 0, 2, 1.5, 0, 0};
  (*tallies)[7][21] = {0, 0, 1, 0, 0, 0};  // non-blocking
  EXPECT_EQ(table_of(*tallies),
            "function                    bytes from          by plans       time   by MPI       "
            "time      saved\n"
            "MPI_Bcast                   64 KiB                     3   500.0 ms        0          "
            "-  -250.0 ms\n"
            "MPI_Alltoall(v)             1 MiB                      0          -        2    1.500 "
            "s          -\n"
            "MPI_Alltoall(v)             2 MiB                      0          -        1          "
            "-          -\n"
            "all                                                    3   500.0 ms        3    1.500 "
            "s  -250.0 ms\n");
}

}  // namespace
}  // namespace espalier::preload::settings_test
