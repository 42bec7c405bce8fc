#include "cost_models/decide/refinement.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>

namespace espalier::cost_models::refinement_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Method i takes a_i + b_i 2^cell.
using Line = std::pair<double, double>;
Seconds time_by(const Line& line, std::size_t cell) {
  return {line.first + line.second * std::ldexp(1.0, static_cast<int>(cell))};
}

// Cells 0 to 15, whose times follow one line by the model, and another one when measured.
struct Trial {
  std::vector<Line> modelled;
  std::vector<Line> measured;
  std::vector<std::size_t> unmodelled{};
  double within = 1.25;
  bool every = false;
  std::map<std::size_t, std::vector<std::size_t>> timed{};  // methods by cell

  std::vector<RefinedCell> run() {
    RefinementCase of;
    of.unmodelled = unmodelled;
    of.within = within;
    of.every = every;
    for (std::size_t cell = 0; cell < 16; ++cell) {
      auto& row = of.predicted.emplace_back();
      for (const Line& line : modelled) row.emplace_back(time_by(line, cell));
      row.resize(measured.size());
    }
    return refine(of, [&](std::size_t cell, std::span<const std::size_t> methods) {
      EXPECT_FALSE(timed.contains(cell));
      std::vector<Seconds> times;
      for (const std::size_t method : methods) {
        timed[cell].push_back(method);
        times.push_back(time_by(measured[method], cell));
      }
      return times;
    });
  }
};

std::vector<std::size_t> choices(const std::vector<RefinedCell>& cells) {
  std::vector<std::size_t> all;
  for (const RefinedCell& cell : cells) all.push_back(cell.chosen);
  return all;
}

// The lines cross between cells 6 and 7.
const std::vector<Line> kCrossing{{1, 1}, {65, 0.25}};

TEST(Refinement, TimesOnlyTheEndsAndTheSwitchingPointOfATrueModel) {
  Trial trial{kCrossing, kCrossing};
  EXPECT_THAT(choices(trial.run()), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  // At the ends one method is predicted to be far better.
  EXPECT_THAT(trial.timed, UnorderedElementsAre(std::pair(0, std::vector<std::size_t>{0}),
                                                std::pair(6, std::vector<std::size_t>{0, 1}),
                                                std::pair(7, std::vector<std::size_t>{1, 0}),
                                                std::pair(15, std::vector<std::size_t>{1})));
}

// Measured, the first method is better up to cell 11.
TEST(Refinement, MovesASwitchingPoint) {
  Trial trial{kCrossing, {{1, 1}, {2049, 0.25}}};
  const std::vector<RefinedCell> cells = trial.run();
  EXPECT_THAT(choices(cells), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(cells[9].modelled, 1U);
  EXPECT_LT(trial.timed.size(), 9U);  // of 16, by bisection
  for (const auto& [cell, methods] : trial.timed) EXPECT_THAT(cells[cell].timed, Not(IsEmpty()));
}

TEST(Refinement, TimesWhatHasNoModelWhereverAnythingIsTimed) {
  Trial trial{kCrossing, {{1, 1}, {65, 0.25}, {0.1, 0.1}}, {2}};
  const std::vector<RefinedCell> cells = trial.run();
  EXPECT_THAT(choices(cells), ::testing::Each(2));
  EXPECT_EQ(cells[0].modelled, 0U);
  EXPECT_EQ(trial.timed.size(), 4U);
}

TEST(Refinement, KeepsTheModelsChoiceAmongEquallyGoodMethods) {
  Trial trial{{{1, 1}, {1.001, 1}}, {{1, 1.01}, {1, 1}}};
  EXPECT_THAT(choices(trial.run()), ::testing::Each(0));
  Trial clear{{{1, 1}, {1.001, 1}}, {{1, 1.1}, {1, 1}}};
  EXPECT_THAT(choices(clear.run()), ::testing::Contains(1));
}

TEST(Refinement, TimesNoMoreMethodsThanItMay) {
  Trial trial{std::vector<Line>(9, {1, 1}), std::vector<Line>(9, {1, 1})};
  trial.run();
  for (const auto& [cell, methods] : trial.timed) EXPECT_EQ(methods.size(), 6U);
}

TEST(Refinement, TimesEverythingOnRequest) {
  Trial trial{kCrossing, {{1, 1}, {2049, 0.25}}, {}, 1, true};
  EXPECT_THAT(choices(trial.run()), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(trial.timed.size(), 16U);
  for (const auto& [cell, methods] : trial.timed) EXPECT_THAT(methods, UnorderedElementsAre(0, 1));
}

TEST(Refinement, ServesOneCell) {
  RefinementCase of;
  of.predicted = {{Seconds{1}, std::nullopt, Seconds{0.9}}};
  const auto cells = refine(of, [](std::size_t, std::span<const std::size_t> methods) {
    EXPECT_THAT(methods, ElementsAre(2, 0));
    return std::vector<Seconds>{{3}, {2}};
  });
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].modelled, 2U);
  EXPECT_EQ(cells[0].chosen, 0U);
}

}  // namespace
}  // namespace espalier::cost_models::refinement_test
