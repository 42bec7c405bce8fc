// Running units: the same results with any number of threads, and failures in their rows.
#include "experiments/experiment.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "planner/problem/any_problem.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/experiments/small_study.hpp"

namespace espalier::experiments::experiment_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

// A platform  a -> b : from the source `b` no other host can be reached.
Case one_way(const std::string& source) {
  return {.platform = "one way", .nodes = 2, .density = {}, .source = source, .make = [] {
            platforms::PlatformBuilder builder("one way");
            const platforms::NodeId a = builder.node_named("a");
            const platforms::NodeId b = builder.node_named("b");
            builder.add_arc({a, b, {1e6}, {}, {}});
            return std::make_shared<const platforms::Platform>(std::move(builder).build());
          }};
}

// Two draws of five hosts. An allreduce has free roots.
void expect_figures_of_planner(planner::Operation operation) {
  SCOPED_TRACE(planner::name_of(operation));
  Study study = small_study("optimal,grow,ring");
  study.operation = operation;
  study.any_root = planner::goes_both_ways(operation);
  study.cases = families().front().cases({.nodes = {5}, .densities = {0.6}, .draws = 2, .seed = 3});
  for (const auto& [unit, result] : results_of(study, 1)) {
    const auto platform = study.case_of(unit).make();
    std::optional<platforms::NodeId> root;
    if (planner::needs_root(operation)) root = platform->hosts().front();
    EXPECT_EQ(result.source, root ? "n0" : "");
    EXPECT_FALSE(result.gap_open);
    planner::on_problem(
        operation, *platform, root, study.model_of(unit), {}, {}, [&](const auto& problem) {
          const double optimum = planner::prove_optimum(problem, {}).bound->value;
          EXPECT_NEAR(result.bound_Bps / optimum, 1, 2e-6);
          ASSERT_EQ(result.rows.size(), 3U);
          for (std::size_t a = 0; a < 3; ++a) {
            const Row& row = result.rows[a];
            const planner::Outcome outcome = planner::run(study.algorithms[a], problem, {});
            EXPECT_EQ(row.error, "");
            EXPECT_EQ(row.throughput_Bps, planner::throughput_of(outcome).value);
            EXPECT_LE(row.relative, 1);
            EXPECT_DOUBLE_EQ(row.relative, std::min(1.0, row.throughput_Bps / result.bound_Bps));
            EXPECT_EQ(row.trees, planner::tree_count(outcome));
            EXPECT_GE(row.depth, 1U);
          }
          EXPECT_NEAR(result.rows[0].relative, 1, 1e-5);
        });
  }
}

TEST(RunUnits, GivesTheSameBytesWithAnyNumberOfThreads) {
  const Study study = small_study("all");
  const std::string alone = instances_csv(study, results_of(study, 1));
  for (const std::size_t jobs : {2U, 7U}) {
    EXPECT_EQ(instances_csv(study, results_of(study, jobs)), alone) << jobs << " jobs";
  }
}

TEST(RunUnits, GivesTheResultsOfTheAlgorithms) {
  const Study study = small_study("optimal,lp-grow,grow");
  for (const auto& [unit, result] : results_of(study, 2)) {
    const std::shared_ptr<const platforms::Platform> platform = study.case_of(unit).make();
    const planner::Instance instance(*platform, platform->hosts().front(), study.model_of(unit));
    EXPECT_EQ(result.nodes, platform->hosts().size());
    EXPECT_EQ(result.arcs, platform->arcs().size());
    EXPECT_EQ(result.source, "n0");
    const double optimum = planner::prove_optimum(instance, {}).bound->value;
    EXPECT_NEAR(result.bound_Bps / optimum, 1, 2e-6);
    ASSERT_EQ(result.rows.size(), 3U);
    EXPECT_NEAR(result.rows[0].relative, 1, 1e-5);
    const planner::Outcome grown = planner::find_algorithm("grow").run(instance, {});
    const Row& row = result.rows[study.algorithms[1].name == "grow" ? 1 : 2];
    EXPECT_EQ(row.throughput_Bps, grown.trees[0].rate.value);
    EXPECT_DOUBLE_EQ(row.relative, std::min(1.0, row.throughput_Bps / result.bound_Bps));
    EXPECT_EQ(row.trees, 1U);
    EXPECT_GE(row.depth, 1U);
    EXPECT_LT(row.depth, result.nodes);
  }
}

// A study of reductions has the figures of the same trees as `plan --operation`.
TEST(RunUnits, StudiesTheOtherOperations) {
  for (const auto operation : {planner::Operation::kReduce, planner::Operation::kAllreduce}) {
    Study study = small_study("optimal,grow");
    study.operation = operation;
    study.cases.resize(2);
    for (const auto& [unit, result] : results_of(study, 1)) {
      const auto platform = study.case_of(unit).make();
      const planner::Collective collective(operation, *platform, platform->hosts().front(),
                                           study.model_of(unit));
      const double optimum = planner::prove_optimum(collective, {}).bound->value;
      EXPECT_NEAR(result.bound_Bps / optimum, 1, 2e-6);
      ASSERT_EQ(result.rows.size(), 2U);
      for (std::size_t a = 0; a < 2; ++a) {
        const planner::Outcome outcome = planner::run(study.algorithms[a], collective, {});
        const double alone = planner::throughput_of(outcome).value;
        EXPECT_NEAR(result.rows[a].throughput_Bps / alone, 1, 1e-5) << study.algorithms[a].name;
        EXPECT_NEAR(result.rows[a].relative, result.rows[a].throughput_Bps / result.bound_Bps,
                    1e-9);
        EXPECT_GE(result.rows[a].trees, operation == planner::Operation::kAllreduce ? 2U : 1U);
      }
    }
  }
}

// A study of an operation with several roots, or whose parts are routed, has the figures of
// `compare`.
TEST(RunUnits, StudiesOperationsWithBlocks) {
  for (const auto operation : planner::kEveryOperation) {
    if (planner::routes(operation) || !planner::needs_root(operation)) {
      expect_figures_of_planner(operation);
    }
  }
}

TEST(RunUnits, RecordsOperationsWithBlocksThatHaveNoSolution) {
  Study study = small_study();
  study.cases = {one_way("")};
  for (const auto operation : {planner::Operation::kAllgather, planner::Operation::kAlltoall}) {
    study.operation = operation;
    for (const auto& [unit, result] : results_of(study, 1)) {
      EXPECT_EQ(result.source, "");
      EXPECT_TRUE(std::isnan(result.bound_Bps));
      ASSERT_EQ(result.rows.size(), study.algorithms.size());
      for (const Row& row : result.rows) EXPECT_THAT(row.error, HasSubstr("'b'"));
    }
  }
}

// Without `optimal` the bound is proven all the same.
TEST(RunUnits, ProvesTheBoundOfBlocksForAnyAlgorithms) {
  Study study = small_study("grow");
  study.cases.resize(1);
  study.operation = planner::Operation::kAllgather;
  Study with = small_study("optimal,grow");
  with.cases.resize(1);
  with.operation = study.operation;
  const Results alone = results_of(study, 1);
  for (const auto& [unit, result] : results_of(with, 1)) {
    const Result& other = alone.at(unit);
    EXPECT_FALSE(other.gap_open);
    EXPECT_NEAR(other.bound_Bps / result.bound_Bps, 1, 2e-6);
    EXPECT_EQ(other.rows[0].throughput_Bps, result.rows[1].throughput_Bps);
  }
}

// HBT compares multi-port trees with the optimum of its one-port linear program.
TEST(RunUnits, DividesByTheOptimumOfTheModelNamed) {
  Study study = small_study("optimal,lp-grow");
  study.cases.resize(3);
  const Results own = results_of(study, 1);
  study.relative_to = platforms::Model::kOnePort;
  bool exceeds = false;
  for (const auto& [unit, result] : results_of(study, 1)) {
    const Result& alone = own.at(unit);
    const Result& one_port = own.at(unit - unit % 2);  // the same case under one-port
    EXPECT_DOUBLE_EQ(result.bound_Bps, one_port.bound_Bps);
    for (std::size_t a = 0; a < 2; ++a) {
      EXPECT_EQ(result.rows[a].throughput_Bps, alone.rows[a].throughput_Bps);
      EXPECT_NEAR(result.rows[a].relative, alone.rows[a].throughput_Bps / one_port.bound_Bps, 1e-9);
      exceeds = exceeds || result.rows[a].relative > 1.01;
    }
  }
  EXPECT_TRUE(exceeds) << "multi-port never exceeded the one-port optimum";
}

TEST(RunUnits, RecordsUnitsWithoutASolution) {
  Study study = small_study();
  study.cases = {one_way("a"), one_way("b")};
  const Results results = results_of(study, 2);
  for (const Row& row : results.at(0).rows) EXPECT_NEAR(row.relative, 1, 1e-6);
  for (const std::size_t unit : {2U, 3U}) {
    const Result& result = results.at(unit);
    EXPECT_TRUE(std::isnan(result.bound_Bps));
    ASSERT_EQ(result.rows.size(), study.algorithms.size());
    for (const Row& row : result.rows) {
      EXPECT_THAT(row.error, HasSubstr("'a'"));
      EXPECT_TRUE(std::isnan(row.relative));
    }
  }
}

TEST(RunUnits, StopsAtTheFirstException) {
  Study study = small_study();
  study.cases[3].make = []() -> std::shared_ptr<const platforms::Platform> {
    throw std::runtime_error("no such platform");
  };
  for (const std::size_t jobs : {1U, 3U}) {
    EXPECT_THROW(results_of(study, jobs), std::runtime_error);
  }
  // An exception of `report` stops it as well, and no further unit is reported.
  const Study whole = small_study();
  const std::vector<std::size_t> units{0, 1, 2, 3, 4, 5};
  std::size_t reports = 0;
  EXPECT_THROW(run_units(whole, units, 3,
                         [&](std::size_t /*unit*/, Result&& /*result*/) {
                           ++reports;
                           throw std::runtime_error("disk full");
                         }),
               std::runtime_error);
  EXPECT_EQ(reports, 1U);
}

}  // namespace
}  // namespace espalier::experiments::experiment_test
