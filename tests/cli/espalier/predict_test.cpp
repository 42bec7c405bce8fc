// predict: table, JSON and refusals.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"
#include "tests/support/xml.hpp"

namespace espalier::cli::predict_test {

namespace {

using espalier::testing::xml_fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PredictCommand : public CliTest {
 protected:
  [[nodiscard]] static std::vector<std::string> with(const std::vector<std::string>& more) {
    return joined({"predict", "--preset", "frodo", "--ranks", "16"}, more);
  }
};

// linear: 61.22 + 16.4 - 23.8 + 15 (65535 x 0.084 + 23.8) us.
TEST_F(PredictCommand, ATableOfEveryAlgorithm) {
  const Finished finished = run(with({"--message", "64KiB", "--algorithm", "linear,pipeline"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(
      finished.out,
      "algorithm  segment  segments     time  unsegmented  source\n"
      "linear           -         -  83.0 ms      83.0 ms  CM table 2, Linear, LogP/LogGP\n"
      "pipeline     1 KiB        64   9.4 ms      83.7 ms  CM table 2, Pipeline, LogP/LogGP\n");
}

TEST_F(PredictCommand, JsonKeys) {
  const Json report = run_json(with({"--message", "64KiB", "--segment", "8KiB", "--json"}));
  EXPECT_THAT(keys_of(report),
              ElementsAre("operation", "model", "preset", "ranks", "message_bytes", "rows"));
  EXPECT_EQ(report.at("message_bytes"), 65536);
  std::vector<std::string> algorithms;
  for (const Json& row : report.at("rows")) {
    algorithms.push_back(row.at("algorithm"));
    EXPECT_THAT(keys_of(row), ElementsAre("algorithm", "segment_bytes", "segments", "predicted_s",
                                          "unsegmented_s", "source", "deviation"));
    EXPECT_EQ(row.at("segment_bytes"), 8192);
    EXPECT_EQ(row.at("segments"), 8);
  }
  EXPECT_THAT(algorithms,
              ElementsAre("linear", "pipeline", "binomial", "binary", "split-binary", "two-tree"));
  // 15 (61.22 + 16.4 + 8191 x 0.084) + 7 (23.8 + 8191 x 0.084) us
  EXPECT_NEAR(report.at("rows").at(1).at("predicted_s").get<double>(), 16467.868e-6, 1e-9);
  EXPECT_NEAR(report.at("rows").at(0).at("unsegmented_s").get<double>(), 82984.92e-6, 1e-9);
}

TEST_F(PredictCommand, BarriersNeedNoMessageAndReducesCompute) {
  const Json barrier = run_json(with({"--operation", "barrier", "--json"}));
  EXPECT_EQ(barrier.at("rows").size(), 5U);
  EXPECT_EQ(barrier.at("rows").at(0).at("segment_bytes"), 0);
  const auto reduce_s = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments =
        with({"--operation", "reduce", "--message", "1MB", "--algorithm", "pipeline", "--segment",
              "1MB", "--model", "hockney", "--json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments).at("rows").at(0).at("predicted_s").get<double>();
  };
  EXPECT_NEAR(reduce_s({"--compute", "1GB/s"}) - reduce_s({}), 15 * 1e-3, 1e-12);
}

// Two milliseconds a megabyte in the file; an option wins.
TEST_F(PredictCommand, TakesTheCostOfCombiningFromTheParameters) {
  write("net.json", R"({"model": "hockney", "alpha_s": 1e-5, "beta_s_per_byte": 1e-9,
                        "computation_s_per_byte": 2e-9})");
  const auto reduce_s = [this](const std::vector<std::string>& more) {
    return run_json(joined({"predict", "--parameters", "net.json", "--ranks", "16", "--operation",
                            "reduce", "--message", "1MB", "--algorithm", "pipeline", "--segment",
                            "1MB", "--json"},
                           more))
        .at("rows")
        .at(0)
        .at("predicted_s")
        .get<double>();
  };
  EXPECT_NEAR(reduce_s({}), 15 * (1e-5 + 3e-3), 1e-12);
  EXPECT_NEAR(reduce_s({"--compute", "1GB/s"}), 15 * (1e-5 + 2e-3), 1e-12);
}

// linear of 64 KiB takes 83.0 ms, as above.
TEST_F(PredictCommand, ComparesMeasuredTimesWithEachModel) {
  write("m",
        "algorithm,segment_bytes,ranks,message_bytes,seconds\n"
        "linear,0,16,65536,0.166\nlinear,0,16,65536,0.2\n"
        "two-tree,8192,16,65536,0.0075\nfancy,0,16,65536,1\n");
  const std::vector<std::string> call{"predict", "--preset", "frodo", "--against", "m"};
  const Finished finished = run(joined(call, {"--model", "loggp", "-o", "chart.svg"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out,
              HasSubstr("\nlinear           -     16   64 KiB  166.0 ms  83.0 ms  -50.0 %\n"));
  EXPECT_THAT(finished.out, HasSubstr("\ntwo-tree     8 KiB     16   64 KiB    7.5 ms   7.5 ms"));
  EXPECT_THAT(finished.out, HasSubstr("\nlinear         1               50.0 %  50.0 %\n"));
  const std::string svg = read("chart.svg");
  EXPECT_EQ(xml_fault(svg), "");
  for (const char* const text : {">broadcast among 16 ranks, measured and predicted<", ">linear<",
                                 ">linear, loggp<", ">two-tree/8 KiB<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  // Hockney's model has no formula for two trees.
  const Json report = run_json(joined(call, {"--json"}));
  EXPECT_NEAR(report.at("rows").at(0).at("hockney_error").get<double>(), -0.5, 0.02);
  EXPECT_TRUE(report.at("rows").at(1).at("hockney_s").is_null());
  EXPECT_NEAR(report.at("rows").at(1).at("loggp_error").get<double>(), 0, 0.02);
}

// `bench` counts what one rank sends to all, formulas what it sends to one. Flat trees are
// pairwise.
TEST_F(PredictCommand, ComparesMeasuredAlltoalls) {
  write("m", R"({"operation": "alltoall", "ranks": 16, "rows": [
    {"message_bytes": 1048576, "algorithm": "flat", "slice_bytes": 65536, "median_s": 0.1},
    {"message_bytes": 1048576, "algorithm": "optimal", "slice_bytes": 65536, "median_s": 0.1},
    {"message_bytes": 1048576, "algorithm": null, "slice_bytes": null, "median_s": 0.1}]})");
  const Json report = run_json(
      {"predict", "--operation", "alltoall", "--preset", "frodo", "--against", "m", "--json"});
  ASSERT_EQ(report.at("rows").size(), 1U);
  const Json& row = report.at("rows").at(0);
  EXPECT_EQ(row.at("algorithm"), "pairwise");
  EXPECT_EQ(row.at("message_bytes"), 65536);
  EXPECT_EQ(row.at("segment_bytes"), 0);
  const Json formula =
      run_json({"predict", "--operation", "alltoall", "--preset", "frodo", "--ranks", "16",
                "--message", "64KiB", "--algorithm", "pairwise", "--json"});
  EXPECT_EQ(row.at("loggp_s"), formula.at("rows").at(0).at("predicted_s"));
}

// Of operations with shares both count the whole message.
TEST_F(PredictCommand, ComparesMeasuredOperationsWithShares) {
  const std::vector<std::vector<std::string>> cases{
      {"allgather", "ring", "ring"},
      {"reduce-scatter", "recursive-doubling", "recursive-halving"},
      {"scatter", "flat", "linear"},
      {"gather", "binomial", "binomial"}};
  for (const auto& one : cases) {
    write("m", R"({"operation": ")" + one[0] +
                   R"(", "ranks": 16, "rows": [{"message_bytes": 65536, "algorithm": ")" + one[1] +
                   R"(", "slice_bytes": 8192, "median_s": 0.1}]})");
    const std::vector<std::string> how{"predict",  "--operation", one[0],
                                       "--preset", "frodo",       "--json"};
    const Json report = run_json(joined(how, {"--against", "m"}));
    ASSERT_EQ(report.at("rows").size(), 1U);
    const Json& row = report.at("rows").at(0);
    EXPECT_EQ(row.at("algorithm"), one[2]);
    EXPECT_EQ(row.at("message_bytes"), 65536);
    const Json formula =
        run_json(joined(how, {"--ranks", "16", "--message", "64KiB", "--algorithm", one[2]}));
    EXPECT_EQ(row.at("loggp_s"), formula.at("rows").at(0).at("predicted_s"));
  }
}

// One point has axes, too: a power of ten, and a message that is no power of two.
TEST_F(PredictCommand, DrawsASingleCase) {
  write("m", "algorithm,segment_bytes,ranks,message_bytes,seconds\nlinear,0,16,1000,0.01\n");
  const Finished finished = run(
      {"predict", "--preset", "frodo", "--model", "loggp", "--against", "m", "-o", "chart.svg"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string svg = read("chart.svg");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("nan")));
  for (const char* const label : {">512 B<", ">1 KiB<", ">0.01<"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
}

TEST_F(PredictCommand, DrawsTimesBySegmentSize) {
  const Finished finished = run(with({"--message", "1MiB", "-o", "segments.svg"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string svg = read("segments.svg");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">broadcast of 1 MiB among 16 ranks by loggp<"));
  EXPECT_THAT(svg, HasSubstr(">pipeline<"));
  EXPECT_THAT(svg, HasSubstr(">64 B<"));
}

TEST_F(PredictCommand, RefusesWrongComparisons) {
  write("m", "algorithm,segment_bytes,ranks,message_bytes,seconds\nfancy,0,16,65536,1\n");
  EXPECT_EQ(refusal_of(run({"predict", "--preset", "frodo", "--against", "m"})),
            "espalier: m: no measured time has a formula\n");
  EXPECT_EQ(refusal_of(run({"predict", "--preset", "frodo"})),
            "espalier: --ranks: missing; give the number of processes, or --against FILE\n");
  EXPECT_THAT(refusal_of(run(with({"--against", "m"}))), HasSubstr("--against"));
  EXPECT_EQ(refusal_of(run(with({"-o", "chart.svg"}))),
            "espalier: --message: a chart needs at least 2 bytes\n");
  EXPECT_EQ(refusal_of(run({"predict", "--preset", "frodo", "--ranks", "1", "--message", "8", "-o",
                            "chart.svg"})),
            "espalier: --ranks: a chart needs at least 2 ranks\n");
  EXPECT_EQ(refusal_of(run(with({"--operation", "alltoall", "--algorithm", "pairwise", "--message",
                                 "8", "-o", "chart.svg"}))),
            "espalier: no algorithm has segments, so there is no chart\n");
  EXPECT_EQ(refusal_of(run(with({"--message", "8", "-o", "chart.pdf"}))),
            "espalier: chart.pdf: the chart is SVG; name a file that ends in .svg\n");
}

TEST_F(PredictCommand, RefusesWhatItCannotPredict) {
  EXPECT_EQ(refusal_of(run({"predict", "--preset", "frodo", "--ranks", "0"})),
            "espalier: --ranks: 0 is not from 1 to 2147483647\n");
  EXPECT_THAT(refusal_of(run({"predict", "--preset", "frodo", "--ranks", "-3"})),
              HasSubstr("--ranks"));
  EXPECT_EQ(refusal_of(run({"predict", "--ranks", "4"})),
            "espalier: --preset: missing; give --preset NAME or --parameters FILE\n");
  EXPECT_EQ(refusal_of(run({"predict", "--preset", "frood", "--ranks", "4"})),
            "espalier: --preset: unknown preset 'frood'; did you mean 'frodo'? one of: boba, "
            "frodo\n");
  EXPECT_EQ(refusal_of(run(with({"--model", "logpg"}))),
            "espalier: --model: unknown model 'logpg'; did you mean 'logp'? one of: hockney, "
            "logp, loggp, plogp\n");
  EXPECT_EQ(refusal_of(run(with({"--operation", "exscan"}))),
            "espalier: --operation: unknown operation 'exscan'; one of: barrier, broadcast, "
            "reduce, allreduce, alltoall, allgather, reduce-scatter, scatter, gather\n");
  EXPECT_EQ(refusal_of(run(with({"--algorithm", "linear,two-tee"}))),
            "espalier: --algorithm: unknown algorithm of broadcast 'two-tee'; did you mean "
            "'two-tree'? one of: linear, pipeline, binomial, binary, split-binary, two-tree\n");
  EXPECT_EQ(refusal_of(run(with({"--segment", "0"}))),
            "espalier: --segment: must be at least one byte, or 'best'\n");
  EXPECT_THAT(refusal_of(run(with({"--segment", "bset"}))), HasSubstr("--segment: "));
  EXPECT_THAT(refusal_of(run(with({"--message", "-1"}))), HasSubstr("--message: "));
  EXPECT_EQ(refusal_of(run(with({"--compute", "0 B/s"}))),
            "espalier: --compute: must be above zero\n");
}

}  // namespace

}  // namespace espalier::cli::predict_test
