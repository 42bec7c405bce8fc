// Scatter, gather and alltoall: against a flow LP that is built apart from the packing, and cases
// with known answers.
#include "planner/problem/routing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lp/solver/linear_program.hpp"
#include "planner/check/verify.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::routing_test {
namespace {

using namespace espalier::testing;
using lp::Entry;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// How far the flow LP may be off, relative: GLPK's tolerances, where rates are decades apart.
constexpr double kOfFlows = 1e-4;
constexpr std::array kRoutedOperations{Operation::kScatter, Operation::kGather,
                                       Operation::kAlltoall};

std::optional<platforms::NodeId> root_for(Operation operation, const platforms::Platform& platform,
                                          std::size_t which) {
  if (!needs_root(operation)) return std::nullopt;
  const auto hosts = platform.hosts();
  return hosts[which % hosts.size()];
}

// A flow for every part, along paths between hosts, all of them together within the resources.
// unit: bytes per second, of the magnitude of the result, without which GLPK's tolerances matter
// where rates are decades apart.
double flow_optimum(const Routing& problem, double unit) {
  const platforms::Platform& platform = problem.platform();
  const PlainModel plain(platform, problem.model(), problem.options());
  const std::vector<HostPath> paths = all_host_paths(platform);
  lp::LinearProgram program{lp::Sense::kMaximise};
  const std::uint32_t total = program.add_column({0, lp::kInfinity}, 1);
  std::vector<std::uint32_t> rows;
  for (std::size_t r = 0; r < plain.resources().size(); ++r) {
    rows.push_back(program.add_row({-lp::kInfinity, 1}));
  }
  const auto hosts = platform.hosts();
  const auto add_part = [&](std::size_t from, std::size_t to, double share) {
    std::vector<std::uint32_t> flow;
    for (const HostPath& path : paths) {
      std::vector<Entry> entries;
      const PlainModel::Load load = plain.load_of(path.arcs);
      for (std::size_t r = 0; r < load.size(); ++r) {
        if (load[r] > 0) entries.push_back({rows[r], load[r] * unit});
      }
      flow.push_back(program.add_column({0, lp::kInfinity}, 0, entries));
    }
    for (const platforms::NodeId host : hosts) {
      const std::size_t at = index_of(host);
      std::vector<Entry> entries;
      if (at == from) entries.push_back({total, -share});
      if (at == to) entries.push_back({total, share});
      for (std::size_t p = 0; p < paths.size(); ++p) {
        if (paths[p].from == at) entries.push_back({flow[p], 1.0});
        if (paths[p].to == at) entries.push_back({flow[p], -1.0});
      }
      program.add_row({0, 0}, entries);
    }
  };
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      const double share = problem.share(from, to);
      if (share > 0) add_part(index_of(hosts[from]), index_of(hosts[to]), share);
    }
  }
  lp::SimplexOptions options;
  options.scale = true;
  EXPECT_EQ(program.solve(options), lp::LpStatus::kOptimal);
  return program.objective() * unit;
}

// Every second time none; else unlike ones, of which one is 0.
std::vector<double> some_shares(Operation operation, std::size_t hosts, std::size_t time) {
  std::vector<double> shares;
  if (time % 2 == 0) return shares;
  const std::size_t count = operation == Operation::kAlltoall ? hosts * hosts : hosts;
  for (std::size_t i = 0; i < count; ++i) {
    shares.push_back(i == 2 ? 0 : 1 + static_cast<double>((i * 7 + time) % 4));
  }
  return shares;
}

Plan plan_of(const Routing& problem) {
  return make_plan(problem, kOptimal, prove_optimum(problem, {}), Bytes{1 << 20});
}

class EveryRoute : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

TEST_P(EveryRoute, ReachesTheOptimumOfFlows) {
  const auto& [operation, name] = GetParam();
  const platforms::Model model = platforms::parse_model(name);
  std::size_t checked = 0;
  for_each_platform(Operation::kAllreduce, draws(10), 5, model,
                    [&, operation = operation](const DrawnPlatform& drawn, const auto& trace) {
                      SCOPED_TRACE(trace);
                      const std::size_t hosts = drawn.platform.hosts().size();
                      const Routing problem(operation, drawn.platform,
                                            root_for(operation, drawn.platform, checked), model,
                                            drawn.options, some_shares(operation, hosts, checked));
                      ++checked;
                      const Plan made = plan_of(problem);
                      const double optimum = flow_optimum(problem, made.throughput.value);
                      EXPECT_NEAR(made.throughput.value / optimum, 1, kOfFlows);
                      ASSERT_TRUE(made.optimum);
                      EXPECT_NEAR(made.optimum->value / optimum, 1, kOfFlows);
                      const std::string text = to_json(made);
                      const Plan plan = parse_plan(text, "plan.json", Roots::kAny);
                      EXPECT_EQ(to_json(plan), text);
                      EXPECT_EQ(plan.source, made.source);
                      ASSERT_NO_THROW(check_structure(plan));
                      const VerifyReport report = verify(plan, drawn.platform);
                      EXPECT_THAT(report.faults, IsEmpty());
                      EXPECT_NEAR(report.throughput.value / optimum, 1, kOfFlows);
                    });
  EXPECT_GE(checked, 5U);
}

TEST_P(EveryRoute, EveryAlgorithmStaysWithinTheBound) {
  const auto& [operation, name] = GetParam();
  const platforms::Model model = platforms::parse_model(name);
  for_each_platform(
      Operation::kAllreduce, draws(1), 5, model,
      [&, operation = operation](const DrawnPlatform& drawn, const auto& trace) {
        SCOPED_TRACE(trace);
        const Routing problem(operation, drawn.platform, root_for(operation, drawn.platform, 1),
                              model, drawn.options);
        const double bound = prove_optimum(problem, {}).bound->value;
        for (const AlgorithmEntry& entry : algorithms()) {
          if (!entry.does(operation)) continue;
          SCOPED_TRACE(std::string(entry.name));
          const Algorithm algorithm = find_algorithm(entry.name, operation);
          if (!is_for(algorithm, problem)) continue;
          const Plan plan =
              make_plan(problem, entry.name, run(algorithm, problem, {}), Bytes{1 << 20});
          ASSERT_NO_THROW(check_structure(plan));
          const VerifyReport report = verify(plan, drawn.platform, {.prove = false});
          EXPECT_THAT(report.faults, IsEmpty());
          EXPECT_NEAR(report.throughput.value / plan.throughput.value, 1, 1e-6);
          EXPECT_LE(plan.throughput.value, bound * (1 + 1e-5));
          EXPECT_NEAR(report.busiest_load, 1, 1e-6);  // no rate could be higher
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Models, EveryRoute,
                         ::testing::Combine(::testing::ValuesIn(kRoutedOperations),
                                            ::testing::ValuesIn(model_names())),
                         [](const auto& drawn) {
                           return case_name(name_of(std::get<0>(drawn.param))) + "_" +
                                  case_name(std::get<1>(drawn.param));
                         });

// Of four equal hosts, a port of 10 B/s carries 3/4 of the message; with the message of an alltoall
// the same, at all ports at once.
TEST(Routing, FillsThePortsOfEqualHosts) {
  const platforms::Platform platform = complete_platform(4, 10);
  for (const Operation operation : kRoutedOperations) {
    const Routing problem(operation, platform, root_for(operation, platform, 2),
                          platforms::Model::kOnePort);
    const Plan plan = plan_of(problem);
    EXPECT_NEAR(plan.throughput.value, 10 * 4.0 / 3, 1e-6) << name_of(operation);
    EXPECT_EQ(plan.blocks.size(), operation == Operation::kAlltoall ? 12U : 3U);
    EXPECT_EQ(plan.source, operation == Operation::kAlltoall ? "" : "n2");
    const Algorithm flat = find_algorithm("flat", operation);
    EXPECT_NEAR(throughput_of(run(flat, problem, {})).value, 10 * 4.0 / 3, 1e-6);
  }
}

// The part of c goes through b where the direct link is slow: 1/3 of the message crosses a-b for
// each of them, and a's port carries both.
TEST(Routing, PartsGoThroughOtherHosts) {
  const platforms::Platform platform = small_platform(
      {"a", "b", "c"},
      {{"a", "b", 0.1}, {"b", "c", 0.1}, {"a", "c", 10}, {"c", "a", 1}, {"b", "a", 1}});
  const Routing scatter(Operation::kScatter, platform, platform.find_node("a"),
                        platforms::Model::kOnePort);
  const Plan plan = plan_of(scatter);
  EXPECT_NEAR(plan.throughput.value, flow_optimum(scatter, 1), 1e-6);
  EXPECT_GT(plan.throughput.value, 14.9);  // 15 without the direct link
  const std::vector<double> shares = shares_of(plan);
  ASSERT_EQ(shares.size(), 3U);
  for (const double share : shares) EXPECT_NEAR(share, 1.0 / 3, 1e-12);
}

TEST(Routing, SharesOfAnAlltoallAreAMatrix) {
  const platforms::Platform platform = complete_platform(3, 10);
  const Routing problem(Operation::kAlltoall, platform, std::nullopt, platforms::Model::kOnePort,
                        {}, {1, 2, 0, 0, 1, 2, 2, 0, 1});
  const Plan plan = plan_of(problem);
  EXPECT_EQ(plan.blocks.size(), 3U);
  const std::vector<double> shares = shares_of(plan);
  const std::vector<double> expected{1, 2, 0, 0, 1, 2, 2, 0, 1};
  ASSERT_EQ(shares.size(), expected.size());
  for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], expected[i] / 3, 1e-12);
  EXPECT_NEAR(plan.throughput.value, 15, 1e-6);  // a port of 10 B/s carries 2/3 of the message
}

TEST(Routing, Refusals) {
  const platforms::Platform platform = complete_platform(3, 10);
  const auto fault = [&](Operation operation, const std::vector<double>& shares) {
    return refusal([&] {
      return Routing(operation, platform, root_for(operation, platform, 0),
                     platforms::Model::kOnePort, {}, shares)
          .carried();
    });
  };
  EXPECT_THAT(fault(Operation::kScatter, {1, 0, 0}), HasSubstr("nothing goes to another host"));
  EXPECT_THAT(fault(Operation::kAlltoall, {1, 1, 1}), HasSubstr("3 shares; expected 9"));
  EXPECT_THAT(fault(Operation::kGather, {1, -1, 1}), HasSubstr("at least 0, not -1"));
  const platforms::Platform one_way = small_platform({"a", "b"}, {{"a", "b", 1}});
  const auto on_one_way = [&](Operation operation) {
    return Routing(operation, one_way, root_for(operation, one_way, 0), platforms::Model::kOnePort)
        .carried();
  };
  EXPECT_NEAR(on_one_way(Operation::kScatter), 0.5, 1e-12);
  for (const Operation operation : {Operation::kGather, Operation::kAlltoall}) {
    EXPECT_THAT(refusal<InfeasibleError>([&] { return on_one_way(operation); }),
                HasSubstr("'b' cannot reach 'a'"));
  }
}

// What `check_structure` says after a change of a plan with two-edge paths.
TEST(Routing, FaultsOfBlocksAreNamed) {
  const platforms::Platform platform = complete_platform(3, 10);
  const auto fault = [&](Operation operation, const std::function<void(Plan&)>& change) {
    const Routing problem(operation, platform, root_for(operation, platform, 0),
                          platforms::Model::kOnePort);
    Plan plan = make_plan(problem, "chain", run(find_algorithm("chain", operation), problem, {}),
                          Bytes{1 << 20});
    change(plan);
    return refusal([&] { check_structure(plan, "p"); });
  };
  const auto of_scatter = [&](const std::function<void(Plan&)>& change) {
    return fault(Operation::kScatter, change);
  };
  EXPECT_EQ(of_scatter([](Plan&) {}), "(not refused)");
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].to = 0; }),
              HasSubstr("/blocks/1/members: the root itself is none of them"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].to = 1; }),
              HasSubstr("/blocks/1/members: a second block from 'n0' to 'n1'"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].to.reset(); }),
              HasSubstr("/blocks/1/members: expected the node"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].to = 7; }),
              HasSubstr("node 7 is out of range"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].root = 1; }),
              HasSubstr("/blocks/1/root: all parts of a scatter come from the same node"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].share = 0.9; }),
              HasSubstr("to more than 1"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].kind = BlockKind::kSpread; }),
              HasSubstr("a scatter has no blocks that spread"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].trees[0].edges.pop_back(); }),
              HasSubstr("edges: the path ends at 'n1', not at 'n2'"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].trees[0].edges[1].parent = 0; }),
              HasSubstr("edges/1: the path is at 'n1', not at 'n0'"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks[1].trees[0].edges[1].child = 0; }),
              HasSubstr("edges/1: the path comes to 'n0' twice"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.source = "n1"; }),
              HasSubstr("/source: it is 'n1', and the blocks' root 'n0'"));
  EXPECT_THAT(of_scatter([](Plan& plan) { plan.blocks.clear(); }),
              HasSubstr("expected a block for each part"));
  EXPECT_THAT(fault(Operation::kGather, [](Plan& plan) { plan.blocks[1].to = 1; }),
              HasSubstr("/blocks/1/members: "));
}

// What verify must find, although the plan alone is sound.
TEST(Routing, AnOverloadIsAFault) {
  const platforms::Platform platform = complete_platform(3, 10);
  const Routing problem(Operation::kAlltoall, platform, std::nullopt, platforms::Model::kOnePort);
  Plan plan = plan_of(problem);
  for (PlanBlock& block : plan.blocks) {
    for (PlanTree& path : block.trees) path.rate.value *= 1.5;
  }
  plan.throughput.value *= 1.5;
  plan.optimum = plan.throughput;
  const VerifyReport report = verify(plan, platform, {.prove = false});
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_THAT(report.faults.front(), HasSubstr("of its capacity"));
}

}  // namespace
}  // namespace espalier::planner::routing_test
