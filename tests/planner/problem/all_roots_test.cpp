// Allgather and reduce-scatter: against a flow LP that is built apart from the packing, and cases
// with known answers.
#include "planner/problem/all_roots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "lp/solver/linear_program.hpp"
#include "planner/check/verify.hpp"
#include "planner/problem/collective.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::all_roots_test {
namespace {

using espalier::testing::all_host_paths;
using espalier::testing::busiest;
using espalier::testing::case_name;
using espalier::testing::complete_platform;
using espalier::testing::DrawnPlatform;
using espalier::testing::draws;
using espalier::testing::for_each_platform;
using espalier::testing::HostPath;
using espalier::testing::model_names;
using espalier::testing::PlainModel;
using espalier::testing::refusal;
using espalier::testing::small_platform;
using lp::Entry;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::array kOperationsOfAllRoots{Operation::kAllgather, Operation::kReduceScatter};

// The optimum from flows (Edmonds 1973: trees from a root can carry what a flow to each host
// alone can): for each root and other host a flow of the root's share, within what the root's block
// has on each path; all blocks together within the resources.
double flow_optimum(const AllRoots& problem) {
  const platforms::Platform& platform = problem.platform();
  const PlainModel plain(platform, problem.model(), problem.options());
  const std::vector<HostPath> paths = all_host_paths(platform);
  double unit = 0;  // bytes per second
  for (const HostPath& path : paths) unit = std::max(unit, 1 / busiest(plain.load_of(path.arcs)));
  lp::LinearProgram program(lp::Sense::kMaximise);
  const std::uint32_t total = program.add_column({0, lp::kInfinity}, 1);
  std::vector<std::uint32_t> rows;
  for (std::size_t r = 0; r < plain.resources().size(); ++r) {
    rows.push_back(program.add_row({-lp::kInfinity, 1}));
  }
  const auto hosts = platform.hosts();
  const bool combines = problem.operation() == Operation::kReduceScatter;
  for (const platforms::NodeId root : hosts) {
    std::vector<std::uint32_t> room;
    for (const HostPath& path : paths) {
      const PlainModel::Load load = plain.load_of(path.arcs);
      std::vector<Entry> entries;
      for (std::size_t r = 0; r < load.size(); ++r) {
        if (load[r] > 0) entries.push_back({rows[r], load[r] * unit});
      }
      room.push_back(program.add_column({0, lp::kInfinity}, 0, entries));
    }
    for (const platforms::NodeId other : hosts) {
      if (other == root) continue;
      std::vector<std::uint32_t> flow;
      for (std::size_t p = 0; p < paths.size(); ++p) {
        flow.push_back(program.add_column({0, lp::kInfinity}, 0));
        program.add_row({-lp::kInfinity, 0}, std::array{Entry{flow[p], 1.0}, Entry{room[p], -1.0}});
      }
      const auto from = index_of(combines ? other : root);
      const auto to = index_of(combines ? root : other);
      for (const platforms::NodeId host : hosts) {
        std::vector<Entry> entries;
        const std::size_t at = index_of(host);
        const double share = 1 / static_cast<double>(hosts.size());
        if (at == from) entries.push_back({total, -share});
        if (at == to) entries.push_back({total, share});
        for (std::size_t p = 0; p < paths.size(); ++p) {
          if (paths[p].from == at) entries.push_back({flow[p], 1.0});
          if (paths[p].to == at) entries.push_back({flow[p], -1.0});
        }
        program.add_row({0, 0}, entries);
      }
    }
  }
  lp::SimplexOptions options;
  options.scale = true;
  EXPECT_EQ(program.solve(options), lp::LpStatus::kOptimal);
  return program.objective() * unit;
}

Plan plan_of(const AllRoots& problem) {
  return make_plan(problem, kOptimal, solve(problem, {}, Purpose::kPlan), Bytes{1 << 20});
}

class EveryRoot : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

TEST_P(EveryRoot, ReachesTheOptimumOfFlows) {
  const auto& [operation, name] = GetParam();
  const platforms::Model model = platforms::parse_model(name);
  int checked = 0;
  for_each_platform(Operation::kAllreduce, draws(10), 5, model,
                    [&](const DrawnPlatform& drawn, const auto& trace) {
                      SCOPED_TRACE(trace);
                      ++checked;
                      const AllRoots problem(operation, drawn.platform, model, drawn.options);
                      const double optimum = flow_optimum(problem);
                      const Plan made = plan_of(problem);
                      EXPECT_NEAR(made.throughput.value / optimum, 1, 1e-5);
                      ASSERT_TRUE(made.optimum);
                      EXPECT_NEAR(made.optimum->value / optimum, 1, 1e-5);
                      const std::string text = to_json(made);
                      const Plan plan = parse_plan(text, "plan.json", Roots::kAny);
                      EXPECT_EQ(to_json(plan), text);
                      ASSERT_NO_THROW(check_structure(plan));
                      const VerifyReport report = verify(plan, drawn.platform);
                      EXPECT_THAT(report.faults, IsEmpty());
                      EXPECT_NEAR(report.throughput.value / optimum, 1, 1e-5);
                    });
  EXPECT_GE(checked, 5);
}

// The trees of each root by itself, at equal rates.
TEST_P(EveryRoot, EveryAlgorithmStaysWithinTheBound) {
  const auto& [operation, name] = GetParam();
  const platforms::Model model = platforms::parse_model(name);
  for_each_platform(Operation::kAllreduce, draws(1), 5, model,
                    [&, operation = operation](const DrawnPlatform& drawn, const auto& trace) {
                      SCOPED_TRACE(trace);
                      const AllRoots problem(operation, drawn.platform, model, drawn.options);
                      const double bound = solve(problem, {}, Purpose::kProof).bound->value;
                      for (const AlgorithmEntry& entry : algorithms()) {
                        if (!entry.does(operation) || entry.exponential) continue;
                        SCOPED_TRACE(std::string(entry.name));
                        const Algorithm algorithm = find_algorithm(entry.name, operation);
                        if (!is_for(algorithm, problem)) continue;
                        const Plan plan = make_plan(problem, entry.name,
                                                    run(algorithm, problem, {}), Bytes{1 << 20});
                        ASSERT_NO_THROW(check_structure(plan));
                        const VerifyReport report = verify(plan, drawn.platform, {.prove = false});
                        EXPECT_THAT(report.faults, IsEmpty());
                        EXPECT_NEAR(report.throughput.value / plan.throughput.value, 1, 1e-6);
                        EXPECT_LE(plan.throughput.value, bound * (1 + 1e-5));
                        EXPECT_NEAR(report.busiest_load, 1, 1e-6);  // no rate could be higher
                      }
                    });
}

INSTANTIATE_TEST_SUITE_P(Models, EveryRoot,
                         ::testing::Combine(::testing::ValuesIn(kOperationsOfAllRoots),
                                            ::testing::ValuesIn(model_names())),
                         [](const auto& drawn) {
                           return case_name(name_of(std::get<0>(drawn.param))) + "_" +
                                  case_name(std::get<1>(drawn.param));
                         });

// Every host receives, or sends, 3/4 of the message through one port of 10 B/s.
TEST(AllRoots, FillEveryPortOfEqualHosts) {
  const platforms::Platform platform = complete_platform(4, 10);
  for (const Operation operation : kOperationsOfAllRoots) {
    const AllRoots problem(operation, platform, platforms::Model::kOnePort);
    EXPECT_NEAR(plan_of(problem).throughput.value, 10 * 4.0 / 3, 1e-4) << name_of(operation);
  }
}

// A chain from each host is a ring: it is optimal, where links along it are.
TEST(AllRoots, ChainsAreARing) {
  const platforms::Platform platform = complete_platform(4, 10);
  for (const Operation operation : kOperationsOfAllRoots) {
    const AllRoots problem(operation, platform, platforms::Model::kOnePort);
    const Algorithm chain = find_algorithm("chain", operation);
    EXPECT_NEAR(throughput_of(run(chain, problem, {})).value, 10 * 4.0 / 3, 1e-9);
  }
}

TEST(AllRoots, NeedsPathsBothWays) {
  const platforms::Platform platform = small_platform({"a", "b"}, {{"a", "b", 1}});
  try {
    const AllRoots problem(Operation::kAllgather, platform, platforms::Model::kOnePort);
    ADD_FAILURE() << "not refused";
  } catch (const InfeasibleError& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("'b' cannot reach 'a'"));
  }
}

TEST(Blocks, AreCheckedAsAWhole) {
  const platforms::Platform platform = complete_platform(3, 10);
  const AllRoots problem(Operation::kAllgather, platform, platforms::Model::kOnePort);
  const Plan good = plan_of(problem);
  const auto fault = [&](auto change) {
    Plan plan = good;
    change(plan);
    return refusal([&] {
      check_structure(plan);
      return 0;
    });
  };
  EXPECT_THAT(fault([](Plan&) {}), "(not refused)");
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks.pop_back(); }),
              HasSubstr("'n2' is the root of no block"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].root = 0; }),
              HasSubstr("'n0' is the root of two blocks"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].kind = BlockKind::kCombine; }),
              HasSubstr("\"spread\", not \"combine\""));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].share = 0.5; }),
              HasSubstr("the shares sum to"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].trees[0].rate.value *= 2; }),
              HasSubstr("/blocks/1/trees"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].after = 0; }), HasSubstr("/blocks/1/after"));
}

TEST(Blocks, AreRefusedByReadersOfPlansWithOneRoot) {
  const platforms::Platform platform = complete_platform(3, 10);
  const AllRoots problem(Operation::kReduceScatter, platform, platforms::Model::kOnePort);
  const std::string text = to_json(plan_of(problem));
  EXPECT_THAT(refusal([&] { return parse_plan(text, "plan.json"); }),
              HasSubstr("does not take plans for a reduce-scatter"));
}

}  // namespace
}  // namespace espalier::planner::all_roots_test
