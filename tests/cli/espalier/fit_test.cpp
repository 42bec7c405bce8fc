// fit: recovers known parameters, in tables and files; refusals.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::fit_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class FitCommand : public CliTest {
 protected:
  // Writes the predictions of `decide` for Frodo as measured times.
  void write_times(const std::string& file, const std::vector<std::string>& more) const {
    const Finished finished = run(joined(
        {"decide", "--preset", "frodo", "--every", "--csv", "--ranks", "3,8,16,21,32"}, more));
    ASSERT_EQ(finished.status, 0) << finished.err;
    write(file, finished.out);
  }
};

TEST_F(FitCommand, FindsTheParametersAndDecideReadsThem) {
  write_times("barrier.csv", {"--operation", "barrier"});
  write_times("times.csv", {"--algorithm", "linear,binomial,pipeline", "--sizes", "1..8MiB:8"});
  const std::string barrier = read("barrier.csv");
  write("both.csv", read("times.csv") + barrier.substr(barrier.find('\n') + 1));
  const Finished finished = run({"fit", "both.csv", "-o", "frodo.json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, StartsWith("parameter          value  standard error\n"));
  EXPECT_THAT(finished.out, HasSubstr("latency_s       61.22 us "));
  EXPECT_THAT(finished.out, HasSubstr("gap_per_byte_s  0.084 us "));
  const Json parameters = Json::parse(read("frodo.json"));
  EXPECT_THAT(keys_of(parameters),
              ElementsAre("model", "latency_s", "overhead_s", "gap_s", "gap_per_byte_s"));
  EXPECT_NEAR(parameters.at("overhead_s").get<double>(), 8.2e-6, 1e-10);
  EXPECT_NEAR(parameters.at("gap_s").get<double>(), 23.8e-6, 1e-10);
  EXPECT_EQ(run({"decide", "--parameters", "frodo.json"}).out,
            run({"decide", "--preset", "frodo"}).out);
}

// Reduces are fitted with what combining costs, and the file keeps it, for `predict` and `decide`.
TEST_F(FitCommand, TakesTheCostOfCombiningFromParameters) {
  write("probe.json", R"({"model": "loggp", "latency_s": 1, "overhead_s": 1, "gap_s": 1,
                          "gap_per_byte_s": 1, "computation_s_per_byte": 2e-9})");
  write_times("times.csv",
              {"--operation", "reduce", "--sizes", "1..8MiB:8", "--compute", "500MB/s"});
  const std::vector<std::string> fit = {"fit", "times.csv", "--operation", "reduce"};
  EXPECT_EQ(run(joined(fit, {"--parameters", "probe.json", "-o", "net.json"})).status, 0);
  const Json parameters = Json::parse(read("net.json"));
  EXPECT_EQ(parameters.at("computation_s_per_byte"), 2e-9);
  EXPECT_NEAR(parameters.at("gap_per_byte_s").get<double>(), 8.4e-8, 1e-12);
  EXPECT_EQ(run(joined(fit, {"--compute", "500MB/s", "-o", "given.json"})).status, 0);
  EXPECT_EQ(read("given.json"), read("net.json"));
  write("without.json", R"({"model": "hockney", "alpha_s": 1, "beta_s_per_byte": 1})");
  EXPECT_EQ(refusal_of(run(joined(fit, {"--parameters", "without.json"}))),
            "espalier: without.json: has no computation_s_per_byte; give --compute RATE instead\n");
}

// From barriers in one file and broadcasts in another; decide reads the tables.
TEST_F(FitCommand, FindsPLogPsTables) {
  write_times("barrier.csv", {"--operation", "barrier", "--model", "plogp"});
  write_times("times.csv", {"--algorithm", "linear,binomial,pipeline", "--sizes", "64KiB..8MiB:8",
                            "--segments", "1KiB,8KiB", "--model", "plogp"});
  const Finished finished =
      run({"fit", "times.csv", "barrier.csv", "--model", "plogp", "-o", "net.json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("latency_s                      53.82 us"));
  EXPECT_THAT(finished.out, HasSubstr("gap_s at 1 B                    23.8 us"));
  EXPECT_THAT(finished.out, HasSubstr("send_overhead_s at 1 KiB           0 us    undetermined"));
  const Json parameters = Json::parse(read("net.json"));
  EXPECT_EQ(parameters.at("model"), "plogp");
  EXPECT_EQ(parameters.at("gap_s").size(), 3U);
  EXPECT_EQ(parameters.at("gap_s").at(1).at(0), 1024);
  EXPECT_NEAR(parameters.at("gap_s").at(1).at(1).get<double>(), 109.732e-6, 1e-9);
  const Json report = run_json({"fit", "times.csv", "barrier.csv", "--model", "plogp", "--json"});
  EXPECT_EQ(report.at("parameters"), parameters);
  EXPECT_EQ(report.at("standard_errors").at("gap_s").size(), 3U);
  EXPECT_EQ(run({"decide", "--parameters", "net.json", "--segments", "1KiB,8KiB"}).status, 0);
}

TEST_F(FitCommand, ReportsUndeterminedParameters) {
  write_times("times.csv", {"--algorithm", "pipeline,binomial"});
  EXPECT_THAT(run({"fit", "times.csv"}).out, HasSubstr("undetermined"));
  const Json report = run_json({"fit", "times.csv", "--json"});
  EXPECT_THAT(keys_of(report),
              ElementsAre("parameters", "standard_errors", "not_told_apart", "rows"));
  EXPECT_THAT(report.at("not_told_apart"), ElementsAre("latency_s", "overhead_s"));
  EXPECT_TRUE(report.at("standard_errors").at("latency_s").is_null());
  EXPECT_EQ(report.at("rows").at(0).at("algorithm"), "pipeline");
  EXPECT_LT(report.at("rows").at(0).at("worst_error"), 1e-5);
}

TEST_F(FitCommand, CountsOutliersAndRowsLeftOut) {
  write("times.csv",
        "algorithm,segment_bytes,ranks,message_bytes,seconds\n"
        "linear,0,2,1000000,1.010\nlinear,0,2,2000000,2.010\nlinear,0,2,4000000,4.010\n"
        "linear,0,3,1000000,2.020\nlinear,0,3,2000000,4.020\nlinear,0,3,4000000,40\n"
        "linear,0,1,4000000,40\nours,0,3,4000000,40\n");
  const Finished finished = run({"fit", "times.csv", "--model", "hockney"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  // 1 MB/s and 10 ms.
  EXPECT_THAT(finished.out, HasSubstr("alpha_s          10000 us"));
  EXPECT_THAT(finished.out, HasSubstr("beta_s_per_byte      1 us"));
  EXPECT_THAT(finished.out, HasSubstr("broadcast  linear        6         1        0.00 %"));
  EXPECT_THAT(finished.err, HasSubstr("1 rows are left out: no formula for 'broadcast ours'"));
  EXPECT_THAT(finished.err, HasSubstr("'one rank'"));
}

TEST_F(FitCommand, RefusesWhatItCannotFit) {
  EXPECT_EQ(refusal_of(run({"fit"})), "espalier: fit: file is required\n");
  EXPECT_EQ(
      refusal_of(run({"fit", "t.csv", "--model", "logp"})),
      "espalier: --model: unknown model 'logp'; did you mean 'loggp'? one of: hockney, loggp, "
      "plogp\n");
  EXPECT_THAT(refusal_of(run({"fit", "no.csv"})), HasSubstr("no.csv"));
  write("t.csv", "algorithm,segment_bytes,ranks,message_bytes,seconds\nlinear,0,4,1,1\n");
  EXPECT_EQ(refusal_of(run({"fit", "t.csv"})),
            "espalier: t.csv: 1 measured times are too few for 4 parameters\n");
  write("t.csv", "algorithm,segment_bytes,ranks,message_bytes,seconds\nlinear,0,0,1,1\n");
  EXPECT_EQ(refusal_of(run({"fit", "t.csv"})),
            "espalier: t.csv: ranks 0 is not from 1 to 2147483647\n");
  EXPECT_THAT(refusal_of(run({"fit", "t.csv", "-o", "nowhere/p.json"})), HasSubstr("nowhere"));
}

}  // namespace

}  // namespace espalier::cli::fit_test
