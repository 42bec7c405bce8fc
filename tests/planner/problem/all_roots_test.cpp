// Allgather, reduce-scatter, and allreduce with free roots: against a flow LP that is built apart
// from the packing, and cases with known answers.
#include "planner/problem/all_roots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
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

using namespace espalier::testing;
using lp::Entry;
using platforms::Model;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The optimum from flows (Edmonds 1973: trees from a root can carry what a flow to each host
// alone can): for each block and host but its root a flow of the root's share, within what the
// block has on each path; all blocks together within the resources. The shares of an allreduce are
// variables.
class FlowOptimum {
 public:
  explicit FlowOptimum(const AllRoots& problem)
      : platform_(problem.platform()),
        plain_(platform_, problem.model(), problem.options()),
        paths_(all_host_paths(platform_)) {
    for (const HostPath& path : paths_) {
      unit_ = std::max(unit_, 1 / busiest(plain_.load_of(path.arcs)));
    }
    total_ = column(1);
    for (std::size_t r = 0; r < plain_.resources().size(); ++r) {
      rows_.push_back(program_.add_row({-lp::kInfinity, 1}));
    }
    const auto hosts = platform_.hosts();
    const bool is_free = problem.operation() == Operation::kAllreduce;
    std::vector<Entry> shares{{total_, -1.0}};
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const std::uint32_t share = column(0);
      if (is_free) {
        shares.push_back({share, 1.0});
      } else {
        program_.add_row({0, 0},
                         std::array{Entry{share, 1.0}, Entry{total_, -problem.shares()[i]}});
      }
      for (const BlockKind kind : {BlockKind::kCombine, BlockKind::kSpread}) {
        if (has_blocks_of(kind, problem.operation())) add_block(kind, hosts[i], share);
      }
    }
    if (is_free) program_.add_row({0, 0}, shares);
  }

  double solve() {
    lp::SimplexOptions options;
    options.scale = true;
    EXPECT_EQ(program_.solve(options), lp::LpStatus::kOptimal);
    return program_.objective() * unit_;
  }

 private:
  std::uint32_t column(double objective) {
    return program_.add_column({0, lp::kInfinity}, objective);
  }

  void add_block(BlockKind kind, platforms::NodeId root, std::uint32_t share) {
    std::vector<std::uint32_t> room;
    for (const HostPath& path : paths_) {
      const PlainModel::Load load = plain_.load_of(path.arcs);
      std::vector<Entry> entries;
      for (std::size_t r = 0; r < load.size(); ++r) {
        if (load[r] > 0) entries.push_back({rows_[r], load[r] * unit_});
      }
      room.push_back(program_.add_column({0, lp::kInfinity}, 0, entries));
    }
    for (const platforms::NodeId other : platform_.hosts()) {
      if (other == root) continue;
      const bool combines = kind == BlockKind::kCombine;
      add_flow(index_of(combines ? other : root), index_of(combines ? root : other), share, room);
    }
  }

  void add_flow(std::size_t from, std::size_t to, std::uint32_t share,
                const std::vector<std::uint32_t>& room) {
    std::vector<std::uint32_t> flow;
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      flow.push_back(column(0));
      program_.add_row({-lp::kInfinity, 0}, std::array{Entry{flow[p], 1.0}, Entry{room[p], -1.0}});
    }
    for (const platforms::NodeId host : platform_.hosts()) {
      std::vector<Entry> entries;
      const std::size_t at = index_of(host);
      if (at == from) entries.push_back({share, -1.0});
      if (at == to) entries.push_back({share, 1.0});
      for (std::size_t p = 0; p < paths_.size(); ++p) {
        if (paths_[p].from == at) entries.push_back({flow[p], 1.0});
        if (paths_[p].to == at) entries.push_back({flow[p], -1.0});
      }
      program_.add_row({0, 0}, entries);
    }
  }

  const platforms::Platform& platform_;
  PlainModel plain_;
  std::vector<HostPath> paths_;
  double unit_ = 0;  // bytes per second
  lp::LinearProgram program_{lp::Sense::kMaximise};
  std::uint32_t total_ = 0;
  std::vector<std::uint32_t> rows_;
};

// Every second time none; else unlike ones, of which one is 0.
std::vector<double> some_shares(Operation operation, std::size_t hosts, int time) {
  if (!has_parts(operation) || time % 2 == 0) return {};
  std::vector<double> shares;
  for (std::size_t i = 0; i < hosts; ++i) {
    shares.push_back(static_cast<double>((i + static_cast<std::size_t>(time)) % hosts * 3));
  }
  return shares;
}

Plan plan_of(const AllRoots& problem) {
  return make_plan(problem, kOptimal, solve(problem, {}, Purpose::kPlan), Bytes{1 << 20});
}

// How far the flow LP may be off, relative: GLPK's tolerances, where rates are decades apart.
constexpr double kOfFlows = 1e-4;

class EveryRoot : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

TEST_P(EveryRoot, ReachesTheOptimumOfFlows) {
  const auto& [operation, name] = GetParam();
  const platforms::Model model = platforms::parse_model(name);
  int checked = 0;
  for_each_platform(Operation::kAllreduce, draws(10), 5, model,
                    [&](const DrawnPlatform& drawn, const auto& trace) {
                      SCOPED_TRACE(trace);
                      const AllRoots problem(
                          operation, drawn.platform, model, drawn.options,
                          some_shares(operation, drawn.platform.hosts().size(), checked++));
                      const double optimum = FlowOptimum(problem).solve();
                      const lp::PackingProblem whole = problem.parts().problem();
                      EXPECT_GE(lp::plain_bound(whole).rate / optimum, 1 - kOfFlows);
                      const Plan made = plan_of(problem);
                      EXPECT_NEAR(made.throughput.value / optimum, 1, kOfFlows);
                      ASSERT_TRUE(made.optimum);
                      EXPECT_NEAR(made.optimum->value / optimum, 1, kOfFlows);
                      const std::string text = to_json(made);
                      const Plan plan = parse_plan(text, "plan.json", Roots::kAny);
                      EXPECT_EQ(to_json(plan), text);
                      ASSERT_NO_THROW(check_structure(plan));
                      const VerifyReport report = verify(plan, drawn.platform);
                      EXPECT_THAT(report.faults, IsEmpty());
                      EXPECT_NEAR(report.throughput.value / optimum, 1, kOfFlows);
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

// Every host receives, or sends, 3/4 of the message through one port of 10 B/s; in an allreduce it
// does so twice.
double best_of_four_equal(Operation operation) {
  return 10 * 4.0 / 3 / (operation == Operation::kAllreduce ? 2 : 1);
}

TEST(AllRoots, FillEveryPortOfEqualHosts) {
  const platforms::Platform platform = complete_platform(4, 10);
  for (const Operation operation : kOperationsOfAllRoots) {
    const AllRoots problem(operation, platform, platforms::Model::kOnePort);
    EXPECT_NEAR(plan_of(problem).throughput.value, best_of_four_equal(operation), 1e-4)
        << name_of(operation);
  }
}

// A chain from each host is a ring: it is optimal, where links along it are.
TEST(AllRoots, ChainsAreARing) {
  const platforms::Platform platform = complete_platform(4, 10);
  for (const Operation operation : kOperationsOfAllRoots) {
    const AllRoots problem(operation, platform, platforms::Model::kOnePort);
    const Algorithm chain = find_algorithm("chain", operation);
    EXPECT_NEAR(throughput_of(run(chain, problem, {})).value, best_of_four_equal(operation), 1e-9);
  }
}

// On a ring of links of 4 B/s in one direction, the chain to a root and that from it have all links
// but two in common. With a third of the message for each root, a link is in four of the six
// chains.
TEST(AllRoots, FreeRootsMayBeBetterThanAnyOne) {
  const platforms::Platform platform =
      small_platform({"a", "b", "c"}, {{"a", "b", 0.25}, {"b", "c", 0.25}, {"c", "a", 0.25}});
  const AllRoots problem(Operation::kAllreduce, platform, platforms::Model::kOnePort);
  const Plan free = plan_of(problem);
  EXPECT_NEAR(free.throughput.value, 3, 1e-6);
  EXPECT_EQ(free.blocks.size(), 6U);
  for (const platforms::NodeId root : platform.hosts()) {
    const Collective rooted(Operation::kAllreduce, platform, root, platforms::Model::kOnePort);
    EXPECT_NEAR(prove_optimum(rooted, {}).bound->value, 2, 1e-5);
  }
}

// Where one root is enough, the plan is of the kind that every command takes.
TEST(AllRoots, OneRootIsWrittenAsOne) {
  const platforms::Platform platform = small_platform(
      {"a", "b", "c"}, {{"a", "b", 10}, {"b", "a", 10}, {"b", "c", 10}, {"c", "b", 10}});
  const AllRoots problem(Operation::kAllreduce, platform, platforms::Model::kOnePort);
  const Plan plan = plan_of(problem);
  ASSERT_TRUE(plan.has_one_root());
  EXPECT_NO_THROW(check_structure(plan));
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
}

// Where one host has everything, an allgather is a broadcast from there.
TEST(AllRoots, OneHostMayHaveEverything) {
  const platforms::Platform platform = complete_platform(4, 10);
  const AllRoots problem(Operation::kAllgather, platform, platforms::Model::kOnePort, {},
                         {0, 7, 0, 0});
  const Plan plan = plan_of(problem);
  ASSERT_EQ(plan.blocks.size(), 1U);
  EXPECT_EQ(plan.blocks[0].root, 1U);
  EXPECT_EQ(plan.blocks[0].share, 1);
  EXPECT_NEAR(plan.throughput.value, 10, 1e-6);
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
}

TEST(AllRoots, RefusesSharesThatCannotBe) {
  const platforms::Platform platform = complete_platform(3, 10);
  const auto fault = [&](Operation operation, const std::vector<double>& shares) {
    return refusal([&] {
      return AllRoots(operation, platform, platforms::Model::kOnePort, {}, shares).shares().size();
    });
  };
  EXPECT_THAT(fault(Operation::kAllgather, {1, 2}), HasSubstr("2 shares; expected 3"));
  EXPECT_THAT(fault(Operation::kAllgather, {0, 0, 0}), HasSubstr("no finite sum above 0"));
  EXPECT_THAT(fault(Operation::kAllgather, {1, -1, 1}), HasSubstr("at least 0, not -1"));
  EXPECT_THAT(fault(Operation::kAllreduce, {1, 1, 1}), HasSubstr("has no shares of hosts"));
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

// What is wrong with the plan after the change.
template <class Change>
std::string fault_after(Plan plan, const Change& change) {
  change(plan);
  return refusal([&] {
    check_structure(plan);
    return 0;
  });
}

TEST(Blocks, AreCheckedAsAWhole) {
  const platforms::Platform platform = complete_platform(3, 10);
  const AllRoots problem(Operation::kAllgather, platform, platforms::Model::kOnePort);
  const Plan good = plan_of(problem);
  const auto fault = [&](auto change) { return fault_after(good, change); };
  EXPECT_THAT(fault([](Plan&) {}), "(not refused)");
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks.pop_back(); }),
              HasSubstr("the shares of blocks that spread sum to"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].root = 0; }),
              HasSubstr("'n0' is the root of two blocks"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].kind = BlockKind::kCombine; }),
              HasSubstr("/blocks/1/kind: an allgather has no blocks that combine"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].share = 0.5; }),
              HasSubstr("/blocks: the shares of blocks that spread sum to"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].trees[0].rate.value *= 2; }),
              HasSubstr("/blocks/1/trees"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].after = 0; }), HasSubstr("/blocks/1/after"));
}

// Each root of an allreduce combines a share, and spreads the same one after it.
TEST(Blocks, OfAnAllreduceComeInPairs) {
  const platforms::Platform platform =
      small_platform({"a", "b", "c"}, {{"a", "b", 0.25}, {"b", "c", 0.25}, {"c", "a", 0.25}});
  const AllRoots problem(Operation::kAllreduce, platform, platforms::Model::kOnePort);
  const Plan good = plan_of(problem);
  ASSERT_GT(good.blocks.size(), 2U);
  const auto fault = [&](auto change) { return fault_after(good, change); };
  EXPECT_THAT(fault([](Plan&) {}), "(not refused)");
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].after.reset(); }),
              HasSubstr("/blocks/1/after: expected the block before it that combines at"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[0].after = 1; }), HasSubstr("/blocks/0/after"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks[1].share /= 2; }), HasSubstr("/blocks/1/share"));
  EXPECT_THAT(fault([](Plan& plan) { std::swap(plan.blocks[0], plan.blocks[1]); }),
              HasSubstr("/blocks/0/after"));
  EXPECT_THAT(fault([](Plan& plan) { plan.blocks.pop_back(); }),
              HasSubstr("the shares of blocks that spread sum to"));
  EXPECT_THAT(fault([](Plan& plan) { plan.operation = Operation::kBroadcast; }),
              HasSubstr("a broadcast has one block"));
  EXPECT_THAT(fault([](Plan& plan) { plan.operation = Operation::kReduce; }),
              HasSubstr("has trees, not blocks"));
  const std::string text = to_json(good);
  EXPECT_THAT(refusal([&] { return parse_plan(text, "plan.json"); }),
              HasSubstr("does not take plans for an allreduce with several roots yet"));
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
