// Every row with round parameters, calculated by hand from the table: P = 5, m = 33, ms = 11.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cost_models/formulas/predict.hpp"
#include "tests/cost_models/networks.hpp"

namespace espalier::cost_models::printed_rows_test {
namespace {

// ns = 3, ceil(ns / 2) = 2, gamma ms = 22, (ms - 1) G = 10, ceil(log2 P) = ceil(log2 (P + 1)) = 3.
const Case kCase{5, {33}, {11}, {2}};
// Of operations with shares: those are of 8 bytes.
const Case kShares{5, {40}, {11}, {2}};
const Hockney kHockney{100, 2};
const LogGP kLogGP{{1000}, {100}, {120}, {1}};
const PLogP kPLogP{{1000}, 30, 50, 60};

struct Row {
  const char* operation;
  const char* algorithm;
  double hockney;  // 0: the table has no such row
  double loggp;
  double plogp;
};

const std::vector<Row> kRows{
    {"barrier", "flat-tree", 5 * 100, 3 * 120 + 2 * 1200, 5 * 60 + 2 * 1000},
    {"barrier", "flat-tree-worst", 0, 3 * 220 + 2 * 1200, 5 * 110 + 2 * 950},
    {"barrier", "double-ring", 10 * 100, 10 * 1220, 10 * 1060},
    {"barrier", "recursive-doubling", 4 * 100, 4 * 1220, 4 * 1060},
    {"barrier", "bruck", 3 * 100, 3 * 1220, 3 * 1060},
    {"broadcast", "linear", 12 * 122, 1080 + 12 * 130, 1000 + 12 * 60},
    {"broadcast", "pipeline", 6 * 122, 4 * 1210 + 2 * 130, 4 * 1060 + 2 * 60},
    {"broadcast", "binomial", 9 * 122, 3 * (1210 + 2 * 130), 3 * 1180},
    {"broadcast", "binary", 4 * 222, 2 * 1340 + 4 * 130, 2 * 1120 + 2 * 140},
    {"broadcast", "split-binary", 3 * 222 + 134, 2 * 1340 + 2 * 130 + 1216, 2 * 1120 + 140 + 1060},
    {"broadcast", "two-tree", 0, 1300 + 33 + 3 * (1300 + 5.5) + 3 * 120, 0},
    {"reduce", "flat-tree", 12 * 144, 1110 + 3 * 528, 1000 + 12 * 72},
    {"reduce", "pipeline", 6 * 144, 4 * 1232 + 2 * 232, 4 * 1072 + 2 * 102},
    {"reduce", "binomial", 9 * 144, 3 * (1100 + 3 * 132), 3 * (1000 + 3 * 102)},
    {"reduce", "binary", 8 * 144, 2 * 1354 + 2 * 354, 2 * 1144 + 2 * 174},
    {"reduce", "two-tree", 0, 1300 + 33 + 3 * (1300 + 5.5) + 3 * 120 + 66 + 3 * 22, 0},
    {"allreduce", "two-tree", 0, 2 * (1300 + 33 + 3 * (1300 + 5.5) + 3 * 120) + 66 + 3 * 22, 0},
    {"alltoall", "linear", 54 * 122, 5 * 1200 + 54 * 130, 5 * 1000 + 54 * 60},
    {"alltoall", "pairwise", 4 * 166, 4 * 1252, 4 * 1060},
    // Messages of 8 bytes; or of 8, 32 and, among 4 of the ranks, of which one has 16, 16 and 24;
    // or of 8, 16 and 8. An odd number of ranks has no pairs of neighbours.
    {"allgather", "ring", 4 * 116, 4 * 1207, 4 * 1060},
    {"allgather", "recursive-doubling", 116 + 164 + 132 + 148, 1207 + 1231 + 1215 + 1223, 4 * 1060},
    {"allgather", "bruck", 116 + 132 + 116, 1207 + 1215 + 1207, 3 * 1060},
    {"allgather", "neighbor-exchange", 4 * 116, 4 * 1207, 4 * 1060},
    {"reduce-scatter", "ring", 4 * 132, 4 * 1223, 4 * 1066},
    {"reduce-scatter", "recursive-halving", 116 + 164 + 132 + 148 + 160,
     1207 + 1231 + 1215 + 1223 + 160, 4 * 1050 + 160},
    {"reduce-scatter", "pairwise", 4 * 132, 4 * (1227 + 16), 4 * 1066},
    {"scatter", "linear", 4 * 116, 1080 + 4 * 127, 1000 + 4 * 60},
    {"scatter", "binomial", 116 + 132 + 116, 1207 + 1215 + 1207, 3 * 1060},
    {"gather", "linear", 4 * 116, 1080 + 4 * 127, 1000 + 4 * 60},
    {"gather", "binomial", 116 + 132 + 116, 1207 + 1215 + 1207, 3 * 1060},
};

double by_hand(const FormulaEntry& entry) {
  for (const Row& row : kRows) {
    if (entry.operation != row.operation || entry.algorithm != row.algorithm) continue;
    return entry.model() == "hockney" ? row.hockney
           : entry.model() == "loggp" ? row.loggp
                                      : row.plogp;
  }
  return 0;
}

TEST(PrintedRows, AreWhatTheFormulasSay) {
  const std::vector<Parameters> networks{kHockney, kLogGP, kPLogP};
  for (const FormulaEntry& entry : formulas()) {
    const Case& of = entry.has_shares() ? kShares : kCase;
    EXPECT_DOUBLE_EQ(predict(entry, networks.at(entry.formula.index()), of).value, by_hand(entry))
        << name_of(entry);
  }
}

// The other operand of each max{}: a gap that is longer than the work.
TEST(PrintedRows, AGapLongerThanTheWorkCounts) {
  const LogGP loggp{{1000}, {100}, {700}, {1}};
  const PLogP plogp{{1000}, 30, 50, 200};
  const auto at = [](const char* algorithm, const Parameters& network) {
    return predict(entry_of("reduce", algorithm, kModelNames.at(network.index())), network, kCase)
        .value;
  };
  EXPECT_DOUBLE_EQ(at("flat-tree", loggp), 1110 + 3 * 700);
  EXPECT_DOUBLE_EQ(at("pipeline", loggp), 4 * 1232 + 2 * 700);
  EXPECT_DOUBLE_EQ(at("binomial", loggp), 3 * (1100 + 3 * 710));
  EXPECT_DOUBLE_EQ(at("binary", loggp), 2 * 1354 + 2 * 710);
  EXPECT_DOUBLE_EQ(at("flat-tree", plogp), 1000 + 12 * 200);
  EXPECT_DOUBLE_EQ(at("pipeline", plogp), 4 * 1200 + 2 * 230);
  EXPECT_DOUBLE_EQ(at("binomial", plogp), 3 * (1000 + 3 * 200));
  EXPECT_DOUBLE_EQ(at("binary", plogp), 2 * 1400 + 2 * 430);
  EXPECT_DOUBLE_EQ(predict(entry_of("broadcast", "binary", "plogp"), plogp, kCase).value,
                   2 * 1400 + 2 * 400);
}

TEST(PrintedRows, APartialLastSegmentCountsAsAFullOne) {
  const FormulaEntry& pipeline = entry_of("broadcast", "pipeline", "hockney");
  EXPECT_EQ(segments_of({5, {34}, {11}, {}}), 4U);
  EXPECT_DOUBLE_EQ(predict(pipeline, kHockney, {5, {34}, {11}, {}}).value, 7 * 122);
}

TEST(PrintedRows, RecursiveDoublingSavesTwoStepsOnPowersOfTwo) {
  const FormulaEntry& doubling = entry_of("barrier", "recursive-doubling", "hockney");
  EXPECT_DOUBLE_EQ(predict(doubling, kHockney, {8, {}, {}, {}}).value, 300);
  EXPECT_DOUBLE_EQ(predict(doubling, kHockney, {9, {}, {}, {}}).value, 500);
}

// Frodo, 16 ranks, 64 KiB: 61.22 + 16.4 - 23.8 + 15 (65535 x 0.084 + 23.8) us.
TEST(PrintedRows, FrodosLinearBroadcast) {
  EXPECT_NEAR(
      predict(entry_of("broadcast", "linear", "loggp"), frodo("loggp"), {16, {65536}, {}, {}})
          .value,
      82984.92e-6, 1e-12);
}

}  // namespace
}  // namespace espalier::cost_models::printed_rows_test
