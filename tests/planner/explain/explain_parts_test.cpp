// explain of operations with several roots, or with parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "planner/explain/explain.hpp"
#include "planner/problem/any_problem.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::planner::explain_parts_test {
namespace {

using espalier::testing::case_name;
using espalier::testing::for_each_platform;
using ::testing::SizeIs;

constexpr double kTolerance = 1e-5;

// The other operations: every answer is a proof of the changed platform.
class ExplainParts : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

TEST_P(ExplainParts, EveryAnswerIsThatOfTheChangedPlatform) {
  const auto& [operation, model_name] = GetParam();
  const platforms::Model model = platforms::parse_model(model_name);
  for_each_platform(Operation::kAllreduce, 2, 8, model, [&](const auto& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const std::size_t hosts = drawn.platform.hosts().size();
    std::vector<double> shares(operation == Operation::kAlltoall ? hosts * hosts : hosts, 1.0);
    shares[1] = 3;  // in any unit
    if (operation == Operation::kAllreduce) shares.clear();
    std::optional<platforms::NodeId> root;
    if (needs_root(operation)) root = drawn.source;
    on_problem(
        operation, drawn.platform, root, model, drawn.options, {shares, {}}, [&](const auto& one) {
          ExplainOptions options;
          options.top = 2;
          const Explanation found = explain(one, options);
          EXPECT_NEAR(found.reached.value / found.optimum.bound->value, 1, kTolerance);
          for (const auto* list : {&found.resources, &found.links, &found.sets}) {
            for (const Upgrade& upgrade : *list) {
              SCOPED_TRACE(upgrade.what.name);
              ASSERT_THAT(upgrade.outcomes, SizeIs(2));
              EXPECT_LE(upgrade.what.load, 1 + 1e-6);
              const WhatIf& twice = upgrade.outcomes.back();
              const auto changed =
                  platforms::faster(drawn.platform, upgrade.what.figures, twice.factor);
              const Outcome proof = on_problem(
                  operation, changed, root, model, drawn.options, {shares, {}},
                  [](const auto& problem) { return prove_optimum(problem, AlgorithmOptions{}); });
              EXPECT_NEAR(twice.optimum.value / proof.bound->value, 1, kTolerance);
            }
          }
        });
  });
}

INSTANTIATE_TEST_SUITE_P(
    Models, ExplainParts,
    ::testing::Combine(::testing::Values(Operation::kAllreduce, Operation::kAllgather,
                                         Operation::kReduceScatter, Operation::kScatter,
                                         Operation::kGather, Operation::kAlltoall),
                       ::testing::Values("one-port", "bounded-multi-port")),
    [](const auto& instance) {
      return case_name(std::get<0>(instance.param), std::get<1>(instance.param));
    });

}  // namespace
}  // namespace espalier::planner::explain_parts_test
