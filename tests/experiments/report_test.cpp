// Summaries against values calculated by hand, the tables, the charts.
#include "experiments/report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/experiments/small_study.hpp"
#include "tests/support/xml.hpp"

namespace espalier::experiments::report_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

// Two algorithms, one model, hosts 6 and 9, densities 0.3 and 0.6, two draws each. The second
// algorithm failed on the first instance.
//
//            6, 0.3        6, 0.6        9, 0.3        9, 0.6
//   first    1.0  0.8      0.5  0.7      0.6  0.4      0.2  0.2
//   second   -    0.5      0.5  0.5      0.5  0.5      0.5  0.5
struct ByHand {
  Study study = small_study("grow,chain");
  Results results;

  ByHand() {
    study.models = {platforms::Model::kOnePort};
    const std::vector<double> first{1.0, 0.8, 0.5, 0.7, 0.6, 0.4, 0.2, 0.2};
    for (std::size_t unit = 0; unit < first.size(); ++unit) {
      Result result{.nodes = study.cases[unit].nodes, .arcs = 10, .source = "n0", .rows = {}};
      result.bound_Bps = 100;
      result.seconds = 0.25;
      result.rows.push_back({.trees = 1,
                             .throughput_Bps = 100 * first[unit],
                             .relative = first[unit],
                             .depth = 2,
                             .seconds = 0.5});
      result.rows.push_back(
          {.trees = 1, .throughput_Bps = 50, .relative = 0.5, .depth = 3, .seconds = 0.125});
      results[unit] = result;
    }
    results[0].rows[1] = {.error = "limit reached, no figure"};
  }

  [[nodiscard]] SummaryRow row(std::optional<std::size_t> nodes, std::optional<double> density,
                               std::size_t algorithm) const {
    const std::vector<SummaryRow> rows = summarise(study, results);
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const SummaryRow& candidate) {
      return candidate.nodes == nodes && candidate.density == density &&
             candidate.algorithm == algorithm;
    });
    EXPECT_NE(found, rows.end());
    return *found;
  }
};

TEST(Summarise, EqualsTheCalculationByHand) {
  const ByHand hand;
  // Over all, by nodes, by density, by both; two algorithms each.
  EXPECT_EQ(summarise(hand.study, hand.results).size(), 2U * (1 + 2 + 2 + 4));
  const SummaryRow all = hand.row({}, {}, 0);
  EXPECT_EQ(all.relative.count, 8U);
  EXPECT_DOUBLE_EQ(all.relative.mean, 0.55);
  EXPECT_DOUBLE_EQ(all.relative.least, 0.2);
  const SummaryRow six = hand.row(6, {}, 0);
  EXPECT_DOUBLE_EQ(six.relative.mean, 0.75);
  // Squares 0.0625 + 0.0025 + 0.0625 + 0.0025 = 0.13, over 3.
  EXPECT_DOUBLE_EQ(six.relative.deviation, std::sqrt(0.13 / 3));
  EXPECT_DOUBLE_EQ(six.relative.least, 0.5);
  const SummaryRow sparse = hand.row({}, 0.3, 0);
  EXPECT_DOUBLE_EQ(sparse.relative.mean, 0.7);
  EXPECT_DOUBLE_EQ(sparse.relative.least, 0.4);
  const SummaryRow cell = hand.row(9, 0.6, 0);
  EXPECT_EQ(cell.relative.count, 2U);
  EXPECT_DOUBLE_EQ(cell.relative.mean, 0.2);
  EXPECT_DOUBLE_EQ(cell.relative.deviation, 0);
  EXPECT_EQ(cell.failed, 0U);
}

TEST(Summarise, CountsWhatFailed) {
  const ByHand hand;
  const SummaryRow six = hand.row(6, {}, 1);
  EXPECT_EQ(six.failed, 1U);
  EXPECT_EQ(six.relative.count, 3U);
  EXPECT_DOUBLE_EQ(six.relative.mean, 0.5);
  EXPECT_EQ(hand.row(9, {}, 1).failed, 0U);
}

TEST(SummaryTables, ShowMeanDeviationAndWorst) {
  const ByHand hand;
  const std::vector<SummaryRow> rows = summarise(hand.study, hand.results);
  const std::string text = summary_markdown(hand.study, rows);
  EXPECT_THAT(text, HasSubstr("### one-port, 8 instances\n"));
  EXPECT_THAT(text,
              HasSubstr("| algorithm        | 6 nodes            | 9 nodes            | all "));
  EXPECT_THAT(text, HasSubstr("| grow             | 0.75 ± 0.21 (0.50) | 0.35 ± 0.19 (0.20) |"));
  EXPECT_THAT(text, HasSubstr("| density 0.30       | density 0.60       | all "));
  EXPECT_THAT(text, HasSubstr("\n1 figures are missing"));
  const std::string csv = summary_csv(hand.study, rows);
  EXPECT_THAT(csv,
              StartsWith("model,nodes,density,algorithm,instances,mean,deviation,worst,failed\n"
                         "one-port,,,grow,8,0.55,"));
  EXPECT_THAT(csv, HasSubstr("\none-port,9,0.6,grow,2,0.2,0,0.2,0\n"));
  EXPECT_THAT(csv, HasSubstr("\none-port,6,0.3,chain,1,0.5,,0.5,1\n"));
}

TEST(InstancesCsv, HasARowPerAlgorithmAndNoTimings) {
  ByHand hand;
  const std::string csv = instances_csv(hand.study, hand.results);
  EXPECT_EQ(count_of(csv, "\n"), 1U + 8 * 2);
  const std::string seed = std::to_string(hand.study.cases[1].seed);
  EXPECT_THAT(csv, StartsWith("family,platform,nodes,arcs,density,draw,seed,model,source,algorithm,"
                              "trees,throughput_Bps,bound_Bps,relative,depth,error,"
                              "bound_final\n"));
  EXPECT_THAT(
      csv, HasSubstr("\nrandom,,6,10,0.3,2," + seed + ",one-port,n0,grow,1,80,100,0.8,2,,true\n"));
  EXPECT_THAT(csv, HasSubstr(",chain,,,100,,,\"limit reached, no figure\",true\n"));
  hand.results.begin()->second.gap_open = true;
  EXPECT_EQ(count_of(instances_csv(hand.study, hand.results), ",false\n"), 2U);
  const std::string timings = timings_csv(hand.study, hand.results);
  EXPECT_THAT(timings, HasSubstr("\nrandom,,6,10,0.3,2," + seed + ",one-port,n0,packing,0.25\n"));
  EXPECT_THAT(timings, HasSubstr("\nrandom,,6,10,0.3,2," + seed + ",one-port,n0,grow,0.5\n"));
}

TEST(Charts, HaveALinePerAlgorithm) {
  const Study study = small_study("all");
  std::size_t charts = 0;
  for (const OutputFile& file : output_files(study, results_of(study, 2))) {
    EXPECT_TRUE(is_output(file.name)) << file.name;
    if (!file.name.ends_with(".svg")) continue;
    ++charts;
    SCOPED_TRACE(file.name);
    EXPECT_EQ(xml_fault(file.text), "");
    EXPECT_EQ(count_of(file.text, "class=\"series\""), study.algorithms.size());
    EXPECT_EQ(count_of(file.text, "class=\"legend\""), study.algorithms.size());
    EXPECT_THAT(file.text, Not(HasSubstr("nan")));
    for (const planner::Algorithm& algorithm : study.algorithms) {
      EXPECT_EQ(count_of(file.text, ">" + algorithm.name + "</text>"), 1U);
    }
  }
  EXPECT_EQ(charts, 4U);
}

TEST(Charts, NeedTwoPointsToDrawALine) {
  Study study = small_study();
  std::erase_if(study.cases, [](const Case& drawn) { return drawn.nodes == 9; });
  std::vector<std::string> names;
  for (const OutputFile& file : output_files(study, results_of(study, 1))) {
    names.push_back(file.name);
  }
  EXPECT_THAT(
      names, ElementsAre("instances.csv", "timings.csv", "summary.csv", "summary.md",
                         "relative-vs-density-one-port.svg", "relative-vs-density-multi-port.svg"));
}

TEST(Outputs, AreRecognisedByName) {
  EXPECT_TRUE(is_output("study.json"));
  EXPECT_TRUE(is_output("relative-vs-nodes-one-port.svg"));
  EXPECT_FALSE(is_output("notes.txt"));
  EXPECT_FALSE(is_output("done.jsonl"));
  EXPECT_FALSE(is_output("chart.svg"));
}

}  // namespace
}  // namespace espalier::experiments::report_test
