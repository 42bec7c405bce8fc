// Properties of every formula of the registry.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "cost_models/formulas/predict.hpp"
#include "support/errors.hpp"
#include "tests/cost_models/networks.hpp"

namespace espalier::cost_models::properties_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class EveryFormula : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const FormulaEntry& entry() const { return formulas()[GetParam()]; }
  [[nodiscard]] double at(const Case& of) const {
    return predict(entry(), frodo(entry().model()), of).value;
  }
  [[nodiscard]] std::string refusal(const Case& of) const {
    try {
      (void)at(of);
    } catch (const InputError& fault) {
      return fault.what();
    }
    return "accepted";
  }
};

TEST_P(EveryFormula, OneRankHasNothingToDo) {
  EXPECT_EQ(at({1, {1 << 20}, {1024}, {}}), 0);
  EXPECT_EQ(at({1, {0}, {}, {}}), 0);
}

TEST_P(EveryFormula, GrowsWithTheMessage) {
  for (const std::uint64_t segment : {0U, 1000U, 8192U}) {
    double before = 0;
    for (std::uint64_t message = 0; message < 50'000; message += 333) {
      const double now = at({12, {message}, {segment}, {1e-9}});
      EXPECT_GE(now, before) << message << ' ' << segment;
      EXPECT_GT(now, 0);
      before = now;
    }
  }
}

// Recursive doubling and halving take two more steps if the number of ranks is not a power of two,
// and an odd number has no pairs of neighbours; therefore these are checked on powers of two only.
TEST_P(EveryFormula, GrowsWithTheRanks) {
  const bool doubling =
      entry().algorithm.starts_with("recursive-") || entry().algorithm == "neighbor-exchange";
  for (const std::uint64_t segment : {0U, 1000U}) {
    double before = 0;
    for (std::uint64_t ranks = 1; ranks < 300; ranks = doubling ? 2 * ranks : ranks + 1) {
      const double now = at({ranks, {20'000}, {segment}, {1e-9}});
      EXPECT_GE(now, before) << ranks << ' ' << segment;
      before = now;
    }
  }
}

TEST_P(EveryFormula, OneSegmentIsTheWholeMessage) {
  for (const std::uint64_t message : {0U, 1U, 999U, 65536U}) {
    const double whole = at({16, {message}, {0}, {1e-9}});
    EXPECT_EQ(at({16, {message}, {message}, {1e-9}}), whole);
    EXPECT_EQ(at({16, {message}, {message + 1}, {1e-9}}), whole);
    EXPECT_EQ(at({16, {message}, {UINT64_MAX}, {1e-9}}), whole);
  }
}

// The segment size changes the time exactly if the registry says that the formula uses it.
TEST_P(EveryFormula, SegmentsMatterAsTheRegistrySays) {
  EXPECT_EQ(at({16, {65536}, {1024}, {}}) != at({16, {65536}, {0}, {}}), entry().segments);
}

TEST_P(EveryFormula, RefusesInvalidCases) {
  EXPECT_EQ(refusal({0, {1}, {}, {}}), "ranks: must be from 1 to 2147483647, not 0");
  EXPECT_EQ(refusal({kMaxRanks + 1, {1}, {}, {}}),
            "ranks: must be from 1 to 2147483647, not 2147483648");
  EXPECT_EQ(refusal({4, {1}, {}, {kNaN}}),
            "computation: must be finite and at least 0 s per byte, not nan");
  EXPECT_EQ(refusal({4, {1}, {}, {-1.0}}),
            "computation: must be finite and at least 0 s per byte, not -1");
}

TEST_P(EveryFormula, AcceptsTheLargestCase) {
  EXPECT_GT(at({kMaxRanks, {UINT64_MAX}, {1}, {}}), 0);
}

TEST_P(EveryFormula, RefusesATimeThatOverflows) {
  const LogGP slow{{1e308}, {1e307}, {1e307}, {1e307}};
  const PLogP slow_plogp{{1e308}, 1e307, 1e307, 1e308};
  const Parameters parameters = entry().model() == "hockney" ? Parameters(Hockney{1e308, 1e308})
                                : entry().model() == "plogp" ? Parameters(slow_plogp)
                                                             : Parameters(slow);
  EXPECT_THROW(predict(entry(), parameters, {1000, {1 << 20}, {}, {}}), InputError);
}

TEST_P(EveryFormula, NamesItsSource) {
  EXPECT_THAT(std::string(entry().source),
              ::testing::MatchesRegex("(CM table [1-4], .*|TTC .*|Thakur 2005, .*|Chen .*)"));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFormula,
                         ::testing::Range<std::size_t>(0, formulas().size()), [](const auto& of) {
                           std::string name = name_of(formulas()[of.param]);
                           for (char& letter : name) {
                             if (letter == ' ' || letter == '-') letter = '_';
                           }
                           return name;
                         });

TEST(Registry, NamesEachFormulaOnce) {
  std::set<std::string> names;
  for (const FormulaEntry& entry : formulas()) EXPECT_TRUE(names.insert(name_of(entry)).second);
  EXPECT_THAT(operation_names(),
              ::testing::ElementsAre("barrier", "broadcast", "reduce", "allreduce", "alltoall",
                                     "allgather", "reduce-scatter", "scatter", "gather"));
  EXPECT_THAT(algorithm_names("broadcast", "loggp"),
              ::testing::ElementsAre("linear", "pipeline", "binomial", "binary", "split-binary",
                                     "two-tree"));
  EXPECT_THAT(algorithm_names("reduce", "hockney"),
              ::testing::ElementsAre("flat-tree", "pipeline", "binomial", "binary"));
}

}  // namespace
}  // namespace espalier::cost_models::properties_test
