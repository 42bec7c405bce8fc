#include "planner/plan/decision_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "tests/planner/plan/decision_rows.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::decision_table_test {
namespace {

using testing::decision_row;
using testing::decision_rows;
using testing::refusal;

Decisions some() {
  return parse_decisions(
      decision_rows(
          {decision_row(32, 1024, "linear", 0), decision_row(4, 1 << 20, "pipeline", 8192),
           decision_row(4, 1024, "binomial", 0), decision_row(4, 0, "linear", 0),
           decision_row(4, 65536, "pipeline", 1024), decision_row(9, 1024, "split-binary", 0)}),
      "t.json");
}

std::string choice(const Decisions& decisions, const Among& among, std::uint64_t bytes) {
  const Decision& decision = decision_for(decisions, among, bytes);
  return fmt::format("{} {} {}/{}", decision.ranks, decision.message_bytes, decision.algorithm,
                     decision.segment_bytes);
}

std::string choice(std::uint32_t ranks, std::uint64_t bytes) {
  static const Decisions decisions = some();
  return choice(decisions, {ranks, 1}, bytes);
}

TEST(Decisions, UseTheNearestRanksByRatioThenTheNearestMessage) {
  EXPECT_EQ(choice(4, 1024), "4 1024 binomial/0");
  EXPECT_EQ(choice(1, 1024), "4 1024 binomial/0");
  EXPECT_EQ(choice(6, 1024), "4 1024 binomial/0");  // 4 * 1.5 = 6; 6 * 1.5 = 9: equally near
  EXPECT_EQ(choice(7, 1), "9 1024 split-binary/0");
  EXPECT_EQ(choice(5, 1024), "4 1024 binomial/0");
  EXPECT_EQ(choice(16, 7), "9 1024 split-binary/0");
  EXPECT_EQ(choice(17, 7), "32 1024 linear/0");  // 17/9 > 32/17
  EXPECT_EQ(choice(4'000'000'000, 7), "32 1024 linear/0");
  EXPECT_EQ(choice(4, 0), "4 0 linear/0");
  EXPECT_EQ(choice(4, 22), "4 0 linear/0");  // between half a byte and 1024 the midpoint is 22.6
  EXPECT_EQ(choice(4, 23), "4 1024 binomial/0");
  EXPECT_EQ(choice(4, 8192), "4 1024 binomial/0");  // equally near
  EXPECT_EQ(choice(4, 8193), "4 65536 pipeline/1024");
  EXPECT_EQ(choice(4, std::numeric_limits<std::uint64_t>::max()), "4 1048576 pipeline/8192");
}

TEST(Decisions, UseTheNearestNumberOfRanksPerHostFirst) {
  const auto with = [](int per_host, std::uint64_t ranks, std::string_view algorithm) {
    return decision_row(ranks, 1024, algorithm, 0, 1e-3,
                        fmt::format(R"("ranks_per_host": {}, )", per_host));
  };
  const Decisions decisions = parse_decisions(
      decision_rows({with(1, 8, "linear"), with(4, 8, "pipeline"), with(4, 64, "library"),
                     with(16, 64, "hierarchical-two-tree")}),
      "t.json");
  EXPECT_EQ(choice(decisions, {64, 1}, 1024), "8 1024 linear/0");
  EXPECT_EQ(choice(decisions, {64, 2}, 1024), "8 1024 linear/0");  // equally near
  EXPECT_EQ(choice(decisions, {64, 3}, 1024), "64 1024 library/0");
  EXPECT_EQ(choice(decisions, {7, 8}, 1024), "8 1024 pipeline/0");
  EXPECT_EQ(choice(decisions, {7, 9}, 1024), "64 1024 hierarchical-two-tree/0");
}

TEST(Decisions, AreWrittenAsTheyAreRead) {
  Decisions decisions = some();
  for (Decision& cell : decisions.cells) cell.ranks_per_host = 2;
  decisions.cells[1].measured = Seconds{0.5};
  decisions.cells[2].algorithm = kLibrary;
  const std::string text = decisions_json(decisions);
  const Decisions again = parse_decisions(text, "again.json");
  EXPECT_EQ(decisions_json(again), text);
  EXPECT_EQ(again.cells[1].time(), Seconds{0.5});
  EXPECT_EQ(again.cells[2].time(), Seconds{1e-3});
}

TEST(Decisions, NewCellsReplaceThoseOfTheSameCase) {
  Decisions decisions = some();
  const std::size_t before = decisions.cells.size();
  merge(decisions, std::vector<Decision>{{0, 4, 1024, "binary", 0, {1e-3}},
                                         {0, 5, 1024, "linear", 0, {1e-3}}});
  EXPECT_EQ(decisions.cells.size(), before + 1);
  EXPECT_EQ(choice(decisions, {4, 1}, 1024), "4 1024 binary/0");
  EXPECT_EQ(choice(decisions, {5, 1}, 1024), "5 1024 linear/0");
}

TEST(Decisions, NameShapes) {
  const auto hierarchy = decided_shape(Operation::kReduce, "hierarchical-pipeline");
  ASSERT_TRUE(hierarchy);
  EXPECT_TRUE(hierarchy->is_hierarchical);
  EXPECT_EQ(hierarchy->formula.shape, "chain");
  EXPECT_FALSE(decided_shape(Operation::kBroadcast, "hierarchical-split-binary"));
  EXPECT_FALSE(decided_shape(Operation::kBroadcast, kLibrary));
  EXPECT_FALSE(decided_shape(Operation::kScatter, "pipeline"));
}

TEST(Decisions, BadTablesAreRefused) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { return parse_decisions(text, "t.json"); });
  };
  EXPECT_EQ(refused(decision_rows({}, "alltoall")),
            "t.json: /operation: 'alltoall' has no plans; use a table for broadcast, reduce or "
            "allreduce");
  EXPECT_EQ(refused(decision_rows({})), "t.json: /rows: the table is empty");
  EXPECT_EQ(refused(decision_rows({decision_row(4, 1, "lineer", 0)})),
            "t.json: /rows/0/algorithm: unknown algorithm 'lineer'; did you mean 'linear'? one of: "
            "linear, pipeline, binomial, binary, split-binary, two-tree, library");
  EXPECT_EQ(refused(decision_rows({decision_row(4, 1, "split-binary", 0)}, "reduce")),
            "t.json: /rows/0/algorithm: unknown algorithm 'split-binary'; one of: flat-tree, "
            "pipeline, binomial, binary, two-tree, library");
  EXPECT_EQ(refused(decision_rows({decision_row(0, 1, "linear", 0)})),
            "t.json: /rows/0/ranks: 0 is not in 1 to 2147483647");
  EXPECT_EQ(refused(decision_rows({decision_row(4, 1, "linear", 0, -1)})),
            "t.json: /rows/0/predicted_s: a time must not be negative");
  EXPECT_EQ(
      refused(decision_rows({decision_row(4, 1, "linear", 0), decision_row(5, 1, "linear", 0),
                             decision_row(4, 1, "binomial", 0)})),
      "t.json: /rows/2: 1 bytes on 4 ranks appear twice; write the table with espalier decide "
      "without --every");
  EXPECT_EQ(refused(R"({"operation": "broadcast", "rows": [{"ranks": 4}]})"),
            "t.json: /rows/0: the key 'message_bytes' is missing");
  EXPECT_EQ(refused(decision_rows({decision_row(4, 1, "linear", 0, 1, R"("ranks_per_host": 1, )"),
                                   decision_row(4, 2, "linear", 0)})),
            "t.json: /rows/1: all rows have ranks_per_host, or none");
}

}  // namespace
}  // namespace espalier::planner::decision_table_test
