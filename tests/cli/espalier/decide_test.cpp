// decide: table, JSON, CSV, charts, rules, the penalty against measurements, and refusals. Whether
// Open MPI accepts the rules: tests/mpi/commands/open_mpi_rules_test.sh.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"
#include "tests/support/xml.hpp"

namespace espalier::cli::decide_test {

namespace {

using espalier::testing::count_of;
using espalier::testing::xml_fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kFive = "linear,pipeline,binomial,binary,split-binary";

class DecideCommand : public CliTest {
 protected:
  [[nodiscard]] static std::vector<std::string> with(const std::vector<std::string>& more) {
    return joined({"decide", "--preset", "frodo"}, more);
  }
  // CM's five broadcasts.
  [[nodiscard]] static std::vector<std::string> five(const std::vector<std::string>& more) {
    return joined({"decide", "--preset", "frodo", "--algorithms", kFive}, more);
  }
};

// The choices are those of docs/models.md, recomputed in tests/cost_models/decision_test.cpp.
TEST_F(DecideCommand, ATableWithOneLineForRanksOfEqualChoices) {
  const Finished finished = run(five({"--ranks", "16..18,32"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out,
            "ranks     best algorithm/segment, from message size on\n"
            "16 to 18  1 B: binomial; 4 KiB: split-binary/1 KiB; 64 KiB: pipeline/1 KiB; 512 KiB: "
            "pipeline/8 KiB\n"
            "32        1 B: binomial; 4 KiB: split-binary/1 KiB; 128 KiB: pipeline/1 KiB; 1 MiB: "
            "pipeline/8 KiB\n");
}

TEST_F(DecideCommand, ABarrierHasNoMessage) {
  const Finished finished = run(with({"--operation", "barrier", "--ranks", "2..3"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("ranks"));
  EXPECT_THAT(finished.out, Not(HasSubstr("size")));
  EXPECT_EQ(refusal_of(run(with({"--operation", "barrier", "--sizes", "1"}))),
            "espalier: --sizes: a barrier has no message; leave this option out\n");
}

TEST_F(DecideCommand, JsonAndCsvHaveARowPerCell) {
  const std::vector<std::string> what{"--ranks", "8,16", "--sizes", "1KiB,1MiB"};
  std::vector<std::string> json = five(what);
  json.emplace_back("--json");
  const Json report = run_json(json);
  EXPECT_THAT(keys_of(report), ElementsAre("operation", "model", "network", "rows"));
  ASSERT_EQ(report.at("rows").size(), 4U);
  const Json& last = report.at("rows").back();
  EXPECT_THAT(keys_of(last),
              ElementsAre("ranks", "message_bytes", "algorithm", "segment_bytes", "predicted_s"));
  EXPECT_EQ(last.at("algorithm"), "pipeline");
  EXPECT_EQ(last.at("segment_bytes"), 8192);
  // 15 (61.22 + 16.4 + 8191 x 0.084) + 127 (23.8 + 8191 x 0.084) us
  EXPECT_NEAR(last.at("predicted_s").get<double>(), 101889.148e-6, 1e-9);

  std::vector<std::string> csv = five(what);
  csv.emplace_back("--csv");
  const Finished finished = run(csv);
  EXPECT_THAT(finished.out, StartsWith("operation,model,ranks,message_bytes,algorithm,"
                                       "segment_bytes,predicted_s\nbroadcast,loggp,8,1024,"));
  EXPECT_EQ(count_of(finished.out, "\n"), 5U);
}

TEST_F(DecideCommand, EveryHasARowPerMethod) {
  const Json report = run_json(five({"--ranks", "8", "--sizes", "4KiB,1MiB", "--every", "--json"}));
  EXPECT_EQ(report.at("rows").size(), 5U * 2 + 5U * 3);
}

TEST_F(DecideCommand, DrawsTheDecision) {
  const Finished finished = run(five({"-o", "chart.svg"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string svg = read("chart.svg");
  EXPECT_EQ(xml_fault(svg), "");
  for (const char* name : {">linear<", ">binomial<", ">split-binary/1 KiB<", ">pipeline/8 KiB<",
                           ">1 B<", ">32<", ">Best broadcast by loggp, frodo<"}) {
    EXPECT_THAT(svg, HasSubstr(name));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">linear/1 KiB<")));
  const Finished piped = run(five({"-o", "-"}));
  EXPECT_EQ(piped.out, svg);
  EXPECT_EQ(piped.err, finished.out);
}

TEST_F(DecideCommand, ReportsWhatOpenMpiLacks) {
  const Finished finished = run(with({"--ranks", "16", "--sizes", "64KiB", "--algorithm",
                                      "two-tree,pipeline", "--open-mpi-rules", "rules.conf"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(
      finished.err,
      "espalier: note: --open-mpi-rules: Open MPI 4.1 lacks two-tree/8 KiB, the best in 1 of 1 "
      "cells; the file contains the best of the others\n");
  EXPECT_THAT(read("rules.conf"), HasSubstr("\n65536 3 0 1024 # pipeline\n65537 0 0 0 "));
  EXPECT_EQ(refusal_of(run(with({"--algorithm", "two-tree", "--open-mpi-rules", "none.conf"}))),
            "espalier: --open-mpi-rules: Open MPI 4.1 has none of these algorithms; name others\n");
  EXPECT_FALSE(exists("none.conf"));
}

TEST_F(DecideCommand, LeavesCellsToOpenMpi) {
  const Finished finished = run(with({"--ranks", "4", "--sizes", "1KiB,1MiB", "--algorithm",
                                      "linear", "--segments", "1KiB", "--open-mpi-rules", "-"}));
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, HasSubstr("\n1024 1 0 0 # linear\n1048576 0 0 0 # Open MPI's own"));
  EXPECT_THAT(finished.err, HasSubstr("1 of 2 cells are left to the library's own choice"));
}

TEST_F(DecideCommand, WritesSelectionsForMpich) {
  write(
      "libmpich.so",
      std::string("\x7F", 1) +
          R"({"collective=bcast":{"comm_type=intra":{"algorithm=MPIR_Bcast_intra_binomial":{}}}})" +
          std::string(1, '\0'));
  const Finished finished =
      run(with({"--ranks", "16", "--sizes", "1KiB,1MiB", "--algorithm", "binomial,linear",
                "--mpich-selection", "s.json", "--mpich-library", "libmpich.so"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(read("s.json"), HasSubstr(R"("algorithm=MPIR_Bcast_intra_binomial": {})"));
  EXPECT_EQ(refusal_of(run(with({"--algorithm", "linear", "--mpich-selection", "none.json",
                                 "--mpich-library", "libmpich.so"}))),
            "espalier: --mpich-selection: this MPICH has none of these algorithms; name others\n");
  EXPECT_FALSE(exists("none.json"));
  EXPECT_EQ(refusal_of(run(with({"--mpich-selection", "s.json"}))),
            "espalier: --mpich-selection: needs --mpich-library, too\n");
  EXPECT_EQ(refusal_of(run(with({"--mpich-library", "libmpich.so"}))),
            "espalier: --mpich-library: needs --mpich-selection, too\n");
}

// The choice for 16 ranks is binomial at 1 KiB, pipeline/8 KiB at 1 MiB.
constexpr const char* kMeasured =
    "operation,algorithm,segment_bytes,ranks,message_bytes,seconds,runs\n"
    "broadcast,binomial,0,16,1024,3.2e-4,20\n"
    "broadcast,linear,0,16,1024,2e-4,20\n"
    "broadcast,ours,0,16,1048576,0.09,20\n"
    "broadcast,pipeline,1024,16,1048576,0.1,20\n"
    "reduce,pipeline,1024,16,1048576,0.01,20\n";

TEST_F(DecideCommand, ReportsThePenaltyAgainstMeasurements) {
  write("measured.csv", kMeasured);
  const Finished finished = run(five({"--ranks", "16,17", "--sizes", "1KiB,1MiB", "--against",
                                      "measured.csv", "-o", "penalty.svg"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(
      finished.out,
      HasSubstr("\n\nranks  sizes measured     mean    worst     at  choice    best measured\n"
                "   16          1 of 2  60.00 %  60.00 %  1 KiB  binomial  linear\n"
                "   17          0 of 2        -        -      -  -         -\n"
                "  all          1 of 4  60.00 %  60.00 %  1 KiB  binomial  linear\n"));
  EXPECT_EQ(finished.err,
            "espalier: note: no formula of broadcast for the measured algorithm 'ours'; it is used "
            "only where it is the best measured\n"
            "espalier: note: measured.csv: the choice is not measured in 3 of 4 cells\n");
  const std::string svg = read("penalty.svg");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">50 % to 100 %<"));
  EXPECT_THAT(svg, HasSubstr(">not measured<"));

  const Json report = run_json(
      five({"--ranks", "16", "--sizes", "1KiB,1MiB", "--against", "measured.csv", "--json", "-q"}));
  EXPECT_NEAR(report.at("summary").at("worst_percent").get<double>(), 60, 1e-9);
  EXPECT_EQ(report.at("summary").at("cells_with_penalty"), 1);
  EXPECT_NEAR(report.at("rows").at(0).at("penalty_percent").get<double>(), 60, 1e-9);
  EXPECT_TRUE(report.at("rows").at(1).at("penalty_percent").is_null());
  EXPECT_EQ(report.at("rows").at(1).at("best_algorithm"), "ours");
  EXPECT_THAT(
      run(five({"--ranks", "16", "--sizes", "1KiB", "--against", "measured.csv", "--csv"})).out,
      HasSubstr(",0.00032,linear,0,0.0002,"));
}

// Uses one model's predictions as measurements of another model's decision.
TEST_F(DecideCommand, ReadsItsOwnPredictionsAsMeasured) {
  for (const char* form : {"--json", "--csv"}) {
    write("every", run(five({"--every", form})).out);
    const Finished same = run(five({"--against", "every"}));
    EXPECT_EQ(same.status, 0) << same.err;
    EXPECT_THAT(same.err, IsEmpty());
    EXPECT_THAT(same.out, HasSubstr("720 of 720  0.00 %  0.00 %"));
    const Finished other = run(five({"--model", "hockney", "--against", "-"}), read("every"));
    EXPECT_EQ(other.status, 0) << other.err;
    EXPECT_THAT(other.out, Not(HasSubstr("720 of 720  0.00 %")));
  }
}

TEST_F(DecideCommand, TakesParametersFromAFile) {
  write("frodo.json",
        R"({"model": "loggp", "latency_s": 61.22e-6, "overhead_s": 8.2e-6, "gap_s": 23.8e-6,
            "gap_per_byte_s": 0.084e-6})");
  for (const char* model : {"hockney", "logp", "loggp", "plogp"}) {
    const Finished preset = run(with({"--model", model}));
    const Finished file = run({"decide", "--parameters", "frodo.json", "--model", model});
    EXPECT_EQ(file.status, 0) << file.err;
    EXPECT_EQ(file.out, preset.out) << model;
  }
  write("hockney.json", R"({"model": "hockney", "alpha_s": 1e-5, "beta_s_per_byte": 1e-9})");
  EXPECT_EQ(run_json({"decide", "--parameters", "hockney.json", "--json"}).at("model"), "hockney");
  EXPECT_EQ(refusal_of(run({"decide", "--parameters", "hockney.json", "--model", "loggp"})),
            "espalier: hockney.json: Hockney's parameters do not determine those of loggp\n");
  EXPECT_THAT(refusal_of(run({"decide", "--parameters", "no.json"})), HasSubstr("no.json"));
  write("combines.json", R"({"model": "hockney", "alpha_s": 1e-5, "beta_s_per_byte": 1e-9,
                             "computation_s_per_byte": 2e-9})");
  const auto reduces = [this](const std::vector<std::string>& more) {
    return run(joined({"decide", "--operation", "reduce", "--csv"}, more)).out;
  };
  EXPECT_EQ(reduces({"--parameters", "combines.json"}),
            reduces({"--parameters", "hockney.json", "--compute", "500MB/s"}));
}

TEST_F(DecideCommand, RefusesWhatItCannotDecide) {
  EXPECT_EQ(refusal_of(run({"decide"})),
            "espalier: --preset: missing; give --preset NAME or --parameters FILE\n");
  EXPECT_EQ(refusal_of(run(with({"--ranks", "0..4"}))),
            "espalier: --ranks: 0 is not from 1 to 2147483647\n");
  EXPECT_THAT(refusal_of(run(with({"--ranks", "8..4"}))), HasSubstr("--ranks: "));
  EXPECT_EQ(refusal_of(run(with({"--sizes", "0..4"}))),
            "espalier: --sizes: range '0..4' must ascend from 1 byte or more, by a factor of 1.01 "
            "to 1e6\n");
  EXPECT_THAT(refusal_of(run(with({"--sizes", "1..8MiB:1"}))),
              HasSubstr("--sizes: range '1..8MiB:1'"));
  EXPECT_THAT(refusal_of(run(with({"--sizes", "1..8MiB:nan"}))), HasSubstr("--sizes: "));
  EXPECT_THAT(refusal_of(run(with({"--sizes", "many"}))), HasSubstr("--sizes: "));
  EXPECT_THAT(refusal_of(run(with({"--segments", ""}))), HasSubstr("--segments: "));
  EXPECT_THAT(refusal_of(run(with({"--ranks", "1..100000", "--sizes", "1..1TB:1.1"}))),
              HasSubstr("are too many"));
  EXPECT_EQ(refusal_of(run(with({"--every"}))),
            "espalier: --every: the table shows only the best methods; add --json or --csv\n");
  EXPECT_EQ(refusal_of(run(with({"-o", "chart.pdf"}))),
            "espalier: chart.pdf: the chart is SVG; name a file that ends in .svg\n");
  EXPECT_THAT(refusal_of(run(with({"--open-mpi-rules", "nowhere/rules"}))),
              HasSubstr("nowhere/rules"));
}

// A table as espalier-mpi tune --algorithms writes it.
constexpr const char* kTable = R"({"operation": "broadcast", "rows": [
  {"ranks_per_host": 2, "ranks": 12, "message_bytes": 1024, "algorithm": "library", "segment_bytes": 0, "predicted_s": 0, "measured_s": 0.001},
  {"ranks_per_host": 2, "ranks": 12, "message_bytes": 65536, "algorithm": "pipeline", "segment_bytes": 8192, "predicted_s": 0.01, "measured_s": 0.02},
  {"ranks_per_host": 2, "ranks": 24, "message_bytes": 65536, "algorithm": "hierarchical-two-tree", "segment_bytes": 8192, "predicted_s": 0.01}]})";

TEST_F(DecideCommand, ShowsAndWritesATable) {
  write("table.json", kTable);
  const Finished finished = run(
      {"decide", "--decisions", "table.json", "--open-mpi-rules", "rules.conf", "-o", "chart.svg"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out,
            "ranks  best algorithm/segment, from message size on\n"
            "12     1 KiB: library; 64 KiB: pipeline/8 KiB\n"
            "24     1 KiB: hierarchical-two-tree; 64 KiB: hierarchical-two-tree/8 KiB\n");
  EXPECT_THAT(finished.err, HasSubstr("3 of 4 cells are left to the library's own choice"));
  EXPECT_THAT(read("rules.conf"), HasSubstr("\n0 0 0 0 # Open MPI's own choice\n"
                                            "65536 3 0 8192 # pipeline\n"));
  EXPECT_EQ(xml_fault(read("chart.svg")), "");
  const Json report = run_json({"decide", "--decisions", "table.json", "--json"});
  EXPECT_EQ(report.at("rows").at(1).at("predicted_s"), 0.02);  // what was measured, where it was
}

TEST_F(DecideCommand, ComparesATableWithMeasurements) {
  write("table.json", kTable);
  write("m",
        "algorithm,segment_bytes,ranks,message_bytes,seconds\n"
        "pipeline,8192,12,65536,0.02\nbinomial,0,12,65536,0.016\n");
  const Finished finished = run({"decide", "--decisions", "table.json", "--against", "m"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("25.00 %  64 KiB  pipeline/8 KiB  binomial"));
}

TEST_F(DecideCommand, RefusesTablesThatDoNotDecide) {
  std::string two = kTable;
  two.replace(two.rfind(": 2,"), 4, ": 4,");
  write("table.json", two);
  EXPECT_EQ(refusal_of(run({"decide", "--decisions", "table.json"})),
            "espalier: table.json: has rows for 2, 4 ranks per host; name one of them with "
            "--ranks-per-host\n");
  EXPECT_EQ(run({"decide", "--decisions", "table.json", "--ranks-per-host", "4"}).out,
            "ranks  best algorithm/segment, from message size on\n"
            "24     64 KiB: hierarchical-two-tree/8 KiB\n");
  EXPECT_THAT(refusal_of(run(with({"--decisions", "table.json"}))), HasSubstr("--preset"));
}

TEST_F(DecideCommand, RefusesWrongMeasurements) {
  const auto refused = [this](const std::string& text) {
    write("m", text);
    return refusal_of(run(with({"--against", "m"})));
  };
  const std::string header = "algorithm,segment_bytes,ranks,message_bytes,seconds\n";
  EXPECT_EQ(refused(""), "espalier: m: no measured times: the file is empty\n");
  EXPECT_EQ(refused(header), "espalier: m: no measured times of broadcast\n");
  EXPECT_EQ(refused("algorithm,ranks,message_bytes,seconds\n"),
            "espalier: m: line 1: no column 'segment_bytes'\n");
  EXPECT_EQ(refused("algorithm,seconds,predicted_s,segment_bytes,ranks,message_bytes\n"),
            "espalier: m: line 1: column 'seconds' appears twice\n");
  EXPECT_EQ(refused(header + "linear,0,4,8\n"),
            "espalier: m: line 2: 4 fields, but the header has 5\n");
  EXPECT_EQ(refused(header + "linear,0,-4,8,1\n"),
            "espalier: m: line 2: ranks: '-4' is not a whole number of at least 0\n");
  EXPECT_EQ(refused(header + "linear,0,4,8,nan\n"),
            "espalier: m: line 2: seconds: 'nan' is not a number above zero\n");
  EXPECT_EQ(refused(R"({"rows": [{"algorithm": "linear", "segment_bytes": 0, "ranks": 4,
                                  "message_bytes": 8, "seconds": 0}]})"),
            "espalier: m: /rows/0/seconds: a time must be above zero\n");
  EXPECT_EQ(refused(R"({"operation": "reduce", "rows": [{}]})"),
            "espalier: m: no measured times of broadcast\n");
  EXPECT_THAT(refused(R"({"rows": [{"algorithm": "linear"}]})"), HasSubstr("/rows/0"));
  EXPECT_THAT(refused("{"), HasSubstr("espalier: m: "));
}

}  // namespace

}  // namespace espalier::cli::decide_test
