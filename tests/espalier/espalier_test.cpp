// The library as other programs use it.
#include "espalier/espalier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/refusal.hpp"

namespace espalier::espalier_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

std::string sample(const std::string& name) {
  return ESPALIER_SOURCE_DIR "/platforms/data/" + name;
}

struct OfRoot {
  Operation operation;
  std::string root;  // empty: several
};

class Operations : public ::testing::TestWithParam<OfRoot> {};
INSTANTIATE_TEST_SUITE_P(
    Library, Operations,
    ::testing::Values(OfRoot{Operation::kBroadcast, "P0"}, OfRoot{Operation::kReduce, "P0"},
                      OfRoot{Operation::kAllreduce, "P0"}, OfRoot{Operation::kAllreduce, ""},
                      OfRoot{Operation::kAllgather, ""}, OfRoot{Operation::kReduceScatter, ""},
                      OfRoot{Operation::kScatter, "P0"}, OfRoot{Operation::kGather, "P0"},
                      OfRoot{Operation::kAlltoall, ""}));

TEST_P(Operations, ArePlannedCheckedWrittenAndReadAgain) {
  const auto& [operation, root] = GetParam();
  const Platform network = read_platform(sample("seed-sketch.json"));
  const Plan plan = make_plan(network, {.operation = operation, .root = root});
  EXPECT_EQ(plan.operation, operation);
  if (!root.empty()) {
    EXPECT_EQ(plan.source, root);
  }
  const VerifyReport report = verify(plan, network);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_GE(plan.throughput.value, (1 - 2e-6) * report.bound.value().value);

  const auto file = std::filesystem::path(::testing::TempDir()) /
                    ("espalier_test_" + std::string(planner::name_of(operation)) + root + ".json");
  write_plan(file.string(), plan);
  EXPECT_EQ(planner::to_json(read_plan(file.string())), planner::to_json(plan));
  std::filesystem::remove(file);
}

TEST(Library, TakesTheOptionsOfAPlan) {
  const Platform network = read_platform(sample("seed-sketch.json"));
  const Plan shallow = make_plan(network, {.root = "P0",
                                           .model = Model::kMultiPort,
                                           .segment = Bytes{4096},
                                           .max_trees = 1,
                                           .max_depth = 3});
  EXPECT_EQ(shallow.model, "multi-port");
  EXPECT_EQ(shallow.segment.value, 4096U);
  ASSERT_EQ(shallow.broadcast_trees.size(), 1U);
  EXPECT_LE(planner::depth_of(shallow.broadcast_trees[0], planner::source_index(shallow)), 3U);
  EXPECT_EQ(make_plan(network, {.root = "P0", .algorithm = "chain"}).algorithm, "chain");
}

TEST(Library, RefusesWhatThereIsNot) {
  const Platform network = read_platform(sample("seed-sketch.json"));
  EXPECT_THAT(refusal([&] { return make_plan(network, {.root = "P00"}); }), HasSubstr("'P00'"));
  EXPECT_THAT(refusal([&] { return make_plan(network, {.root = "P0", .algorithm = "optimum"}); }),
              HasSubstr("did you mean 'optimal'?"));
  EXPECT_THAT(refusal([&] {
                return make_plan(network, {.root = "P0", .algorithm = "chain", .max_depth = 2});
              }),
              HasSubstr("'chain' cannot limit the depth; use 'optimal'"));
  EXPECT_THAT(refusal([&] { return make_plan(network, {.root = "P0", .segment = Bytes{0}}); }),
              HasSubstr("a segment has at least one byte"));
  EXPECT_THAT(refusal([&] {
                return make_plan(network, {.operation = Operation::kAllgather, .root = "P0"});
              }),
              HasSubstr("an allgather has no root"));
  EXPECT_THAT(refusal([&] {
                return make_plan(network, {.operation = Operation::kAllreduce, .max_trees = 1});
              }),
              HasSubstr("cannot limit trees and depth yet"));
  EXPECT_THAT(refusal([&] { return parse_operation("al-reduce"); }),
              HasSubstr("did you mean 'allreduce'?"));
}

}  // namespace
}  // namespace espalier::espalier_test
