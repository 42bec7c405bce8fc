// convert and generate, and that output files are complete or absent.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::files_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ConvertCommand : public CliTest {};

TEST_F(ConvertCommand, StdoutGetsJson) {
  write("p.json", kTriangle);
  const Finished first = run({"convert", "p.json", "-o", "-"});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(parse_json(first.out, "").at("name"), "triangle");
  const Finished again = run({"convert", "-", "-o", "-"}, first.out);
  EXPECT_EQ(again.out, first.out);
}

TEST_F(ConvertCommand, SetsCaps) {
  write("p.csv", "from,to,bandwidth_Gbps\naws:a,gcp:b,8\n");
  const Finished finished = run({"convert", "p.csv", "-o", "-", "--send-cap", "aws=5Gbit/s"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json platform = parse_json(finished.out, "");
  EXPECT_EQ(platform.at("nodes")[0].at("send_Bps"), 625e6);
  EXPECT_FALSE(platform.at("nodes")[1].contains("send_Bps"));
}

TEST_F(ConvertCommand, AFolderOfRunsIsAPlatform) {
  const Finished finished = run({"convert", sample("measured/iperf3"), "-o", "runs.csv"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("1 of 6 ordered pairs were not measured"));
  EXPECT_THAT(run_json({"bound", sample("measured/iperf3"), "--source", "10.99.7.1", "--json"})
                  .at("gap")
                  .get<double>(),
              ::testing::Le(1e-6));
}

TEST_F(ConvertCommand, ASlurmTopologyNeedsBandwidths) {
  const std::string file = sample("slurm/topology.yaml");
  EXPECT_THAT(refusal_of(run({"convert", file, "-o", "s.json"})),
              HasSubstr("--level-bandwidth 100Gbit/s,200Gbit/s"));
  EXPECT_EQ(run({"convert", file, "--level-bandwidth", "1Gbit/s,2Gbit/s", "-o", "s.json"}).status,
            0);
  EXPECT_THAT(refusal_of(run({"convert", file, "--topology", "by-torus", "--level-bandwidth",
                              "fast", "-o", "t.json"})),
              StartsWith("espalier: --level-bandwidth: rate 'fast'"));
}

TEST_F(ConvertCommand, AnUnknownExtensionNeedsTheFormat) {
  write("p.json", kTriangle);
  EXPECT_THAT(refusal_of(run({"convert", "p.json", "-o", "p.xyz"})),
              StartsWith("espalier: p.xyz: unknown extension; add --to, one of: json"));
  EXPECT_THAT(files(), ElementsAre("p.json"));
}

TEST_F(ConvertCommand, AFormatThatCannotExpressThePlatformRefuses) {
  const Finished finished =
      run({"convert", sample("relays-shared-link.json"), "-o", "p.csv", "--to", "edges"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_TRUE(is_one_line(finished.err));
  EXPECT_THAT(files(), IsEmpty());
}

class GenerateCommand : public CliTest {};

TEST_F(GenerateCommand, MakesTheRequestedPlatform) {
  const Finished finished = run({"generate", "random", "--nodes", "30", "--density", "0.12",
                                 "--bandwidth", "100MB/s", "--deviation", "20MB/s", "--seed", "1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json platform = parse_json(finished.out, "");
  EXPECT_EQ(platform.at("nodes").size(), 30U);
  write("p.json", finished.out);
  EXPECT_EQ(run({"bound", "p.json", "--source", platform.at("nodes")[0].at("name")}).status, 0);
}

TEST_F(GenerateCommand, TiersTakesElevenNumbersOrAPreset) {
  const Finished numbers = run({"generate", "tiers", "1", "2", "3", "3", "3", "3", "1", "1", "1",
                                "1", "1", "--seed", "4", "--verbose"});
  ASSERT_EQ(numbers.status, 0) << numbers.err;
  EXPECT_EQ(parse_json(numbers.out, "").at("nodes").size(), 27U);
  EXPECT_THAT(numbers.err, ::testing::HasSubstr("density  0.0741\n"));
  const Finished preset = run({"generate", "tiers", "--preset", "hbt-65", "--classes",
                               sample("tiers/enslyon_measured_links.csv")});
  ASSERT_EQ(preset.status, 0) << preset.err;
  EXPECT_EQ(parse_json(preset.out, "").at("nodes").size(), 65U);
  const auto refused = [this](const std::vector<std::string>& arguments) {
    return refusal_of(run(joined({"generate", "tiers"}, arguments)));
  };
  EXPECT_EQ(refused({"1", "2"}),
            "espalier: generate tiers: expected --preset or the 11 numbers NW NM NL SW SM SL RW RM "
            "RL RMW RLM, got 2 of them\n");
  EXPECT_EQ(refused({"1", "2", "3", "3", "x", "3", "1", "1", "1", "1", "1"}),
            "espalier: generate tiers: parameter 5 must be a whole number, not 'x'\n");
  EXPECT_EQ(refused({"1", "--preset", "hbt-30"}),
            "espalier: --preset: a preset has its own parameters; leave out the numbers\n");
  EXPECT_THAT(refused({"--preset", "hbt"}), StartsWith("espalier: --preset: unknown preset 'hbt'"));
}

TEST_F(GenerateCommand, ASeriesEqualsTheSingleDrawsOfItsSeeds) {
  const Finished finished = run(
      {"generate", "tiers", "--preset", "hbt-30", "--seed", "5", "--count", "3", "-o", "draws"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const std::uint64_t i : {1, 2, 3}) {
    const std::string seed = std::to_string(4 + i);
    EXPECT_EQ(read("draws/tiers-00" + std::to_string(i) + ".json"),
              run({"generate", "tiers", "--preset", "hbt-30", "--seed", seed}).out);
  }
  EXPECT_EQ(run({"generate", "random", "--count", "2", "-o", "csv/", "--to", "edges"}).status, 0);
  EXPECT_TRUE(exists("csv/random-002.csv"));
  EXPECT_FALSE(exists("csv/random-003.csv"));
  EXPECT_EQ(run({"generate", "random", "--count", "2"}).err,
            "espalier: --count: a series goes into a folder; add -o FOLDER\n");
  write("file", "precious");
  EXPECT_EQ(run({"generate", "random", "--count", "2", "-o", "file"}).err,
            "espalier: file: cannot create this folder for --count; name another\n");
  EXPECT_EQ(read("file"), "precious");
  EXPECT_THAT(run({"generate", "random", "--count", "2", "-o", "d", "--to", "skyplane"}).err,
              StartsWith("espalier: --to: unknown format 'skyplane'"));
}

class Outputs : public CliTest {};

TEST_F(Outputs, AMissingFolder) {
  write("p.json", kTriangle);
  const Finished finished = run({"plan", "p.json", "--source", "a", "-o", "none/plan.json"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err, "espalier: none/plan.json: cannot write: No such file or directory\n");
  EXPECT_THAT(finished.out, IsEmpty());
}

TEST_F(Outputs, AFolderInPlaceOfTheFile) {
  write("p.json", kTriangle);
  std::filesystem::create_directory(folder() / "work/plan.json");
  EXPECT_EQ(refusal_of(run({"plan", "p.json", "--source", "a", "-o", "plan.json"})),
            "espalier: plan.json: cannot write: Is a directory\n");
}

TEST_F(Outputs, AFolderWithoutWritePermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  write("p.json", kTriangle);
  std::filesystem::create_directory(folder() / "work/closed");
  ASSERT_EQ(chmod((folder() / "work/closed").c_str(), 0500), 0);
  EXPECT_EQ(refusal_of(run({"plan", "p.json", "--source", "a", "-o", "closed/plan.json"})),
            "espalier: closed/plan.json: cannot write: Permission denied\n");
}

TEST_F(Outputs, AFullDisk) {
  write("p.json", kTriangle);
  EXPECT_EQ(refusal_of(run({"plan", "p.json", "--source", "a", "-o", "/dev/full"})),
            "espalier: /dev/full: cannot write: No space left on device\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plan", "p.json", "--source", "a", "--quiet"},
        {"compare", "p.json"},
        {"bound", "p.json", "--source", "a"},
        {"convert", "p.json", "-o", "-"},
        {"generate", "random"},
        {"list"},
        {"--help"},
        {"--version"}}) {
    const Finished finished = run_into("/dev/full", command);
    EXPECT_EQ(finished.status, 2) << command.front();
    EXPECT_EQ(finished.err, "espalier: <stdout>: cannot write: No space left on device\n")
        << command.front();
  }
}

TEST_F(Outputs, AnErrorKeepsTheOldFile) {
  write("plan.json", "precious");
  write("p.csv", "from,to,bandwidth_Gbps\na,b,1\nc,a,1\n");
  EXPECT_EQ(run({"plan", "p.csv", "--source", "a", "-o", "plan.json"}).status, 3);
  EXPECT_EQ(read("plan.json"), "precious");
  EXPECT_THAT(files(), ElementsAre("p.csv", "plan.json"));
}

}  // namespace

}  // namespace espalier::cli::files_test
