// Decision functions, and their loss against measurements.
#include "cost_models/decide/decision.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/cost_models/networks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::cost_models::decision_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

// CM, section 6.3: five broadcasts, uncut and with segments of 1 KiB and 8 KiB.
std::vector<Method> cm_methods(std::string_view model) {
  std::vector<const FormulaEntry*> entries;
  for (const char* name : {"linear", "pipeline", "binomial", "binary", "split-binary"}) {
    entries.push_back(&entry_of("broadcast", name, model));
  }
  const std::vector<Bytes> segments{{0}, {1024}, {8192}};
  return methods_of(entries, segments);
}

// Figure 6: 3 to 32 ranks, 1 byte to 8 MiB.
DecisionGrid cm_grid() {
  DecisionGrid grid;
  for (std::uint64_t ranks = 3; ranks <= 32; ++ranks) grid.ranks.push_back(ranks);
  for (std::uint64_t bytes = 1; bytes <= 8388608; bytes *= 2) grid.messages.push_back({bytes});
  return grid;
}

std::string name_of(const Prediction& best) {
  return std::string(best.entry->algorithm) + '/' + std::to_string(best.of.segment.value);
}

// The best methods for a number of ranks by ascending message size, without consecutive repeats.
std::vector<std::string> course(const DecisionFunction& decision, std::uint64_t ranks) {
  std::vector<std::string> names;
  for (const Prediction& best : decision.best) {
    if (best.of.ranks != ranks) continue;
    if (names.empty() || names.back() != name_of(best)) names.push_back(name_of(best));
  }
  return names;
}

TEST(Methods, AreEveryEntryWithEverySegment) {
  const std::vector<const FormulaEntry*> entries{&entry_of("alltoall", "linear", "loggp"),
                                                 &entry_of("alltoall", "pairwise", "loggp")};
  const std::vector<Bytes> segments{{0}, {1024}};
  const std::vector<Method> methods = methods_of(entries, segments);
  ASSERT_EQ(methods.size(), 3U);
  EXPECT_EQ(methods[1].segment.value, 1024U);
  EXPECT_EQ(methods[2].entry, entries[1]);  // does not cut
  EXPECT_EQ(methods[2].segment.value, 0U);
}

TEST(PredictEach, ListsIdenticalMethodsOnce) {
  const std::vector<Method> methods = cm_methods("loggp");
  EXPECT_EQ(predict_each(methods, frodo("loggp"), {8, {1024}, {}, {}}).size(), 5U);
  EXPECT_EQ(predict_each(methods, frodo("loggp"), {8, {1025}, {}, {}}).size(), 10U);
  EXPECT_EQ(predict_each(methods, frodo("loggp"), {8, {8193}, {}, {}}).size(), 15U);
}

TEST(Decide, ChoosesTheFastestMethodInEveryCell) {
  for (const std::string_view model : kModelNames) {
    const std::vector<Method> methods = cm_methods(model);
    const DecisionFunction decision = decide(methods, frodo(model), cm_grid());
    ASSERT_EQ(decision.best.size(), 30U * 24U);
    for (std::size_t cell = 0; cell < decision.best.size(); ++cell) {
      const Case of = decision.grid.case_of(cell);
      EXPECT_EQ(decision.best[cell].of.ranks, of.ranks);
      EXPECT_EQ(decision.best[cell].of.message, of.message);
      for (const Method& method : methods) {
        Case tried = of;
        tried.segment = method.segment;
        EXPECT_LE(decision.best[cell].time.value,
                  predict(*method.entry, frodo(model), tried).value * (1 + 1e-11))
            << model << ' ' << of.ranks << ' ' << of.message.value;
      }
    }
  }
}

// CM, section 6.3, of figure 6 (c): "non-segmented versions of linear, binomial, and binary
// algorithms for small messages. For intermediate size messages, depending on communicator size,
// either splitted-binary with 1KB segments or pipeline with 1KB segments [...]. For really large
// messages, pipeline with 8KB segments".
TEST(Decide, LogGPsBroadcastIsAsCmDescribesIt) {
  const DecisionFunction decision = decide(cm_methods("loggp"), frodo("loggp"), cm_grid());
  std::size_t split = 0;
  for (std::uint64_t ranks = 3; ranks <= 32; ++ranks) {
    const std::vector<std::string> names = course(decision, ranks);
    EXPECT_THAT(names.front(), AnyOf("linear/0", "binomial/0", "binary/0")) << ranks;
    ASSERT_GE(names.size(), 3U) << ranks;
    EXPECT_EQ(names[names.size() - 2], "pipeline/1024") << ranks;
    EXPECT_EQ(names.back(), "pipeline/8192") << ranks;
    split += names[names.size() - 3] == "split-binary/1024" ? 1 : 0;
  }
  EXPECT_EQ(split, 27U);  // from 6 ranks on
  EXPECT_THAT(course(decision, 12),
              ElementsAre("binary/0", "binomial/0", "split-binary/0", "split-binary/1024",
                          "pipeline/1024", "pipeline/8192"));
  EXPECT_THAT(course(decision, 32),
              ElementsAre("binomial/0", "split-binary/1024", "pipeline/1024", "pipeline/8192"));
}

// PLogP's parameters are converted from LogGP's, and its formulas then give the same times.
TEST(Decide, PLogPsBroadcastEqualsLogGPs) {
  const DecisionFunction loggp = decide(cm_methods("loggp"), frodo("loggp"), cm_grid());
  const DecisionFunction plogp = decide(cm_methods("plogp"), frodo("plogp"), cm_grid());
  for (std::size_t cell = 0; cell < loggp.best.size(); ++cell) {
    EXPECT_EQ(name_of(loggp.best[cell]), name_of(plogp.best[cell])) << cell;
  }
}

// CM of figure 6 (b): binomial for small messages, then split-binary with 1 KB around 10 KB and
// with 8 KB above.
TEST(Decide, HockneysBroadcastGoesFromBinomialToSplitBinary) {
  const DecisionFunction decision = decide(cm_methods("hockney"), frodo("hockney"), cm_grid());
  EXPECT_THAT(course(decision, 16),
              ElementsAre("binomial/0", "split-binary/1024", "split-binary/8192"));
  EXPECT_THAT(course(decision, 32),
              ElementsAre("binomial/0", "split-binary/1024", "split-binary/8192"));
}

TEST(Decide, ChoosesOnlyAmongKeptMethods) {
  const auto only_large_segments = [](const Prediction& one) {
    return one.of.segment.value == 8192;
  };
  const DecisionFunction decision = decide(cm_methods("loggp"), frodo("loggp"),
                                           {{4, 8}, {{4096}, {1048576}}, {}}, only_large_segments);
  EXPECT_EQ(decision.best[0].entry, nullptr);
  EXPECT_EQ(decision.best[0].of.ranks, 4U);
  EXPECT_EQ(name_of(decision.best[1]), "pipeline/8192");
  EXPECT_EQ(decision.best[2].entry, nullptr);
}

TEST(Decide, RefusesEmptyInputs) {
  const Parameters network = frodo("loggp");
  const std::vector<Method> methods = cm_methods("loggp");
  EXPECT_EQ(refusal([&] { return decide({}, network, cm_grid()); }),
            "no algorithms to choose from");
  EXPECT_EQ(refusal([&] {
              return decide(methods, network, {{}, {{1}}, {}});
            }),
            "no numbers of ranks");
  EXPECT_EQ(refusal([&] { return decide(methods, network, {{4}, {}, {}}); }), "no message sizes");
}

// The decision for 16 ranks and 1 MiB: pipeline with segments of 8 KiB.
DecisionFunction one_cell() {
  DecisionFunction decision = decide(cm_methods("loggp"), frodo("loggp"), {{16}, {{1048576}}, {}});
  EXPECT_EQ(name_of(decision.best.front()), "pipeline/8192");
  return decision;
}
Measurement measured(const std::string& algorithm, std::uint64_t segment, double seconds) {
  return {algorithm, {segment}, 16, {1048576}, {seconds}};
}

TEST(Penalties, AreTheChoicesTimeOverTheBestMeasured) {
  const std::vector<Measurement> times{measured("pipeline", 1024, 0.10),
                                       measured("pipeline", 8192, 0.15),
                                       measured("pipeline", 8192, 0.13),  // the least counts
                                       measured("binomial", 8192, 0.20)};
  const auto penalty = penalties(one_cell(), times).front();
  ASSERT_TRUE(penalty && penalty->loss());
  EXPECT_EQ(penalty->best.algorithm, "pipeline");
  EXPECT_EQ(penalty->best.segment.value, 1024U);
  EXPECT_DOUBLE_EQ(penalty->chosen->value, 0.13);
  EXPECT_NEAR(*penalty->loss(), 0.3, 1e-12);
}

TEST(Penalties, CountAlgorithmsWithoutAFormula) {
  const std::vector<Measurement> times{measured("pipeline", 8192, 0.15),
                                       measured("scatter-allgather", 0, 0.05)};
  const auto penalty = penalties(one_cell(), times).front();
  ASSERT_TRUE(penalty && penalty->loss());
  EXPECT_EQ(penalty->best.algorithm, "scatter-allgather");
  EXPECT_NEAR(*penalty->loss(), 2, 1e-12);
}

TEST(Penalties, AreUnknownWhereTheChoiceWasNotMeasured) {
  const auto other = penalties(one_cell(), std::vector{measured("pipeline", 1024, 0.1)}).front();
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->loss());
  Measurement elsewhere = measured("pipeline", 8192, 0.1);
  elsewhere.ranks = 17;
  EXPECT_FALSE(penalties(one_cell(), std::vector{elsewhere}).front());
}

// The choice for 32 ranks and one byte is binomial, not cut.
TEST(Penalties, CountASegmentAsLargeAsTheMessageAsUncut) {
  const DecisionFunction decision = decide(cm_methods("loggp"), frodo("loggp"), {{32}, {{1}}, {}});
  const std::vector<Measurement> times{{"binomial", {1024}, 32, {1}, {2e-4}},
                                       {"linear", {0}, 32, {1}, {1e-4}}};
  const auto penalty = penalties(decision, times).front();
  ASSERT_TRUE(penalty && penalty->loss());
  EXPECT_NEAR(*penalty->loss(), 1, 1e-12);
}

// With the predictions themselves as measurements, no decision has a loss.
TEST(Penalties, OfAModelAgainstItselfAreZero) {
  const std::vector<Method> methods = cm_methods("plogp");
  const DecisionFunction decision = decide(methods, frodo("plogp"), cm_grid());
  std::vector<Measurement> times;
  for (std::size_t cell = 0; cell < decision.grid.cells(); ++cell) {
    for (const Prediction& one :
         predict_each(methods, frodo("plogp"), decision.grid.case_of(cell))) {
      times.push_back({std::string(one.entry->algorithm), one.of.segment, one.of.ranks,
                       one.of.message, one.time});
    }
  }
  for (const auto& penalty : penalties(decision, times)) {
    ASSERT_TRUE(penalty && penalty->loss());
    EXPECT_NEAR(*penalty->loss(), 0, 1e-11);
  }
}

TEST(Penalties, RefuseInvalidTimes) {
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal([&] {
                  return penalties(one_cell(), std::vector{measured("linear", 0, 1),
                                                           measured("linear", 0, seconds)});
                }),
                HasSubstr("/1: a time of "));
  }
}

}  // namespace
}  // namespace espalier::cost_models::decision_test
