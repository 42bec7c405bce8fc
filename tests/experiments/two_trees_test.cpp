// TTC's experiment, small.
#include "experiments/two_trees.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/errors.hpp"
#include "tests/support/xml.hpp"

namespace espalier::experiments::two_trees_test {
namespace {

using ::testing::HasSubstr;

TwoTreeStudy small() {
  TwoTreeStudy study;
  study.processes = {4, 7};
  study.messages = {{65536}, {1 << 20}};
  return study;
}

std::vector<TwoTreeFigure> figures_of(const TwoTreeStudy& study, std::size_t jobs = 1) {
  return run_two_trees(study, jobs, [](std::size_t, std::size_t) {});
}

std::size_t method_named(std::string_view name) {
  const auto methods = two_tree_methods();
  return static_cast<std::size_t>(std::ranges::find(methods, name, &TwoTreeMethod::name) -
                                  methods.begin());
}

TEST(TwoTrees, GiveTheSameFilesWithAnyNumberOfThreads) {
  const TwoTreeStudy study = small();
  const std::vector<OutputFile> alone = two_tree_files(study, figures_of(study));
  const std::vector<OutputFile> by_three = two_tree_files(study, figures_of(study, 3));
  ASSERT_EQ(alone.size(), 2U + 3 * 2);  // a chart for each operation and size
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].name, by_three[i].name);
    EXPECT_EQ(alone[i].text, by_three[i].text) << alone[i].name;
  }
  EXPECT_EQ(alone[2].name, "broadcast-64KiB.svg");
  EXPECT_EQ(espalier::testing::xml_fault(alone[2].text), "");
  EXPECT_THAT(alone[1].text, HasSubstr("### allreduce, 1 MiB"));
  EXPECT_THAT(alone[1].text, HasSubstr("| C+C repaired |"));
}

// Every cell of every method that serves the operation: 6 broadcast, 6 reduce, 9 allreduce.
TEST(TwoTrees, HaveAFigureForEveryCell) {
  EXPECT_EQ(figures_of(small()).size(), (6U + 6 + 9) * 2 * 2);
}

// A chain of P hosts takes (P - 2 + N) (o + m G / N) + (P - 1) L. The search looks at few N, which
// is enough to come within 1 % of the best.
TEST(TwoTrees, FindAlmostTheBestNumberOfChunks) {
  TwoTreeStudy study = small();
  study.operations = {planner::Operation::kBroadcast};
  for (const TwoTreeFigure& figure : figures_of(study)) {
    if (figure.method != method_named("chain")) continue;
    const double bytes = static_cast<double>(figure.message.value);
    const double hosts = static_cast<double>(figure.processes);
    double best = std::numeric_limits<double>::infinity();
    for (double chunks = 1; chunks <= bytes / 1024; ++chunks) {
      const double segment = std::ceil(bytes / chunks);
      best = std::min(
          best, (hosts - 2 + chunks) * (study.overhead.value + segment / study.bandwidth.value) +
                    (hosts - 1) * study.latency.value);
    }
    EXPECT_GE(figure.makespan.value, best * 0.99);
    EXPECT_LE(figure.makespan.value, best * 1.01);
  }
}

// As printed, an even number of hosts makes one of them send three times its data.
TEST(TwoTrees, TheRepairedTreesAreFasterForAnEvenNumberOfHosts) {
  TwoTreeStudy study = small();
  study.operations = {planner::Operation::kAllreduce};
  study.processes = {20};
  study.messages = {{16 << 20}};
  double printed = 0;
  double repaired = 0;
  for (const TwoTreeFigure& figure : figures_of(study)) {
    if (figure.method == method_named("C+C")) printed = figure.makespan.value;
    if (figure.method == method_named("C+C repaired")) repaired = figure.makespan.value;
  }
  EXPECT_GT(printed, 1.2 * repaired);
}

TEST(TwoTrees, RefuseOneProcess) {
  TwoTreeStudy study = small();
  study.processes = {1};
  EXPECT_THROW(figures_of(study), InputError);
}

}  // namespace
}  // namespace espalier::experiments::two_trees_test
