// What a plan's file and a plan are refused for.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "planner/plan/plan.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/planner/plan/plans.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::plan_faults_test {
namespace {

using ::testing::HasSubstr;

struct Refusal {
  std::string from;  // the part of the good file that is replaced
  std::string to;
  std::string place;
  std::string reason;
};

// The text of the plan is refused, by the reader or as a structural fault.
void expect_refusal(const std::string& text, const Refusal& refusal) {
  const auto& [from, to, place, reason] = refusal;
  try {
    check_structure(parse_plan(text, "p.json"), "p.json");
    FAIL() << "accepted\n" << text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                ::testing::StartsWith("p.json: " + (place.empty() ? place : place + ": ")));
    EXPECT_THAT(error.what(), HasSubstr(reason));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

std::string fault_of(const Plan& plan) {
  return espalier::testing::refusal([&] {
    check_structure(plan);
    return 0;
  });
}

class PlanRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(PlanRefusal, NamesFilePlaceAndReason) {
  expect_refusal(replaced(to_json(two_chains()), GetParam().from, GetParam().to), GetParam());
}

class ReductionRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(ReductionRefusal, NamesFilePlaceAndReason) {
  expect_refusal(replaced(to_json(allreduce_chains()), GetParam().from, GetParam().to), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ReductionRefusal,
    ::testing::Values(
        Refusal{"allreduce", "reduce", "/broadcast_trees",
                "a plan for a reduce has no broadcast trees"},
        Refusal{"allreduce", "broadcast", "/reduce_trees",
                "a plan for a broadcast has no reduce trees"},
        Refusal{"[[2, 0], [1, 2]]", "[[2, 0], [0, 2]]", "/reduce_trees/0/edges/1",
                "edge out of the source 'a'"},
        Refusal{"[[2, 0], [1, 2]]", "[[2, 0], [2, 1]]", "/reduce_trees/0/edges/1",
                "'c' has two parents, 'a' and 'b'"},
        Refusal{"[[2, 0], [1, 2]]", "[[2, 0]]", "/reduce_trees/0/edges",
                "'b' is missing: no edge leads from it"},
        Refusal{"[[2, 0], [1, 2]]", "[[2, 1], [1, 2]]", "/reduce_trees/0/edges", "cycle"},
        Refusal{"[[2, 0], [1, 2]]", "[[2, 0], 7]", "/reduce_trees/0/edges/1", "[child, parent]"},
        Refusal{"\"2-1\"", "\"1-2\"", "/reduce_trees/1/via/1-2", "no such edge"},
        Refusal{"60000000", "50000000", "/throughput_Bps", "reduce trees' rates sum"}));

class ScheduleRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(ScheduleRefusal, NamesFilePlaceAndReason) {
  expect_refusal(replaced(to_json(scheduled_chains()), GetParam().from, GetParam().to), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ScheduleRefusal,
    ::testing::Values(
        Refusal{"\"period_s\": 0.5,", "", "/schedule", "period_s"},
        Refusal{"period_s", "period", "/schedule", "period_s"},
        Refusal{"0.5", "-0.5", "/schedule/period_s", "finite and positive, not -0.5"},
        Refusal{"0.5", "0", "/schedule/period_s", "finite and positive, not 0"},
        Refusal{"0.5", "0.49", "/schedule/throughput_Bps", "carry"},
        Refusal{"6291456", "6291476", "/schedule/throughput_Bps", "carry 6291456, not 6291476"},
        Refusal{"6291456", "null", "/schedule/throughput_Bps", "number"},
        Refusal{"[2, 1],\n    \"sends", "[2],\n    \"sends", "/schedule/slices",
                "1 counts for 2 trees"},
        Refusal{"[2, 1],\n    \"sends", "[0, 0],\n    \"sends", "/schedule/slices",
                "at least one segment"},
        Refusal{"[2, 1],\n    \"sends", "[1, 2],\n    \"sends", "/schedule/sends",
                "edge 0 -> 2 of tree 0 carries 2097152 bytes per period, but its 1 segment has "
                "1048576"},
        Refusal{"[2, 1],\n    \"sends", "[2.5, 1],\n    \"sends", "/schedule/slices/0", "whole"},
        Refusal{"[0, 0, 2, 0, ", "[0, 0, 2, ", "/schedule/sends/0", "expected [tree, sender"},
        Refusal{"[0, 0, 2, 0, ", "[2, 0, 2, 0, ", "/schedule/sends/0/0",
                "2 is out of range: the plan has 2 trees"},
        Refusal{"[0, 0, 2, 0, ", "[0, 3, 2, 0, ", "/schedule/sends/0/1",
                "3 is out of range: the plan has 3 nodes"},
        Refusal{"[0, 0, 2, 0, ", "[0, 0, 4294967298, 0, ", "/schedule/sends/0/2", "out of range"},
        Refusal{"[0, 0, 2, 0, ", "[0, 0, 1, 0, ", "/schedule/sends/0", "tree 0 has no edge 0 -> 1"},
        Refusal{"[0, 0, 2, 0, ", "[0, 0, 2, -0.1, ", "/schedule/sends/0",
                "starts at 0 or later, not at -0.1"},
        Refusal{"0, 0.2, 2097152", "0, 0, 2097152", "/schedule/sends/0",
                "time is finite and positive, not 0"},
        Refusal{"2097152", "0", "/schedule/sends/0", "bytes are finite and positive, not 0"},
        Refusal{"2097152", "2097252", "/schedule/sends", "edge 0 -> 2 of tree 0 carries 2097252"},
        Refusal{"[1, 0, 1, 0.2, 0.1", "[1, 0, 1, 0.3, 0.1", "/schedule/sends/3",
                "it starts at 0.25 s, before the send"},
        Refusal{"0.375, 0.125", "0.375, 0.126", "/schedule/sends/4",
                "ends at 0.501 s, after the period of 0.5 s"},
        Refusal{",\n      [0, 2, 1, 0.375, 0.125, 786432]", "", "/schedule/sends",
                "edge 2 -> 1 of tree 0 carries 1310720 bytes per period, but its 2 segments have "
                "2097152"}));

INSTANTIATE_TEST_SUITE_P(
    Faults, PlanRefusal,
    ::testing::Values(
        Refusal{"espalier-plan", "espalier-platform", "/format", "espalier-plan"},
        Refusal{"\"version\": 1", "\"version\": 3", "/version", "versions 1 and 2, not 3"},
        Refusal{"\"version\": 1", "\"version\": \"1\"", "/version", ""},
        Refusal{"broadcast\",", "gather\",", "/operation", "got \"gather\""},
        Refusal{"broadcast\",", "reduce\",", "", "reduce_trees"},
        Refusal{"broadcast\",", "allreduce\",", "", "reduce_trees"},
        Refusal{"\"broadcast_trees\"", "\"reduce_trees\"", "", "broadcast_trees"},
        Refusal{"\"platform\": \"two racks\",", "", "", "platform"},
        Refusal{"\"platform\"", "\"platfrom\"", "", "platform"},
        Refusal{"\"model\": \"one-port\"", "\"model\": 7", "/model", "string"},
        Refusal{"\"model\"", "\"source\": \"b\", \"model\"", "", "source"},
        Refusal{"[\"a\", \"b\", \"c\"]", "[\"a\", 2, \"c\"]", "/nodes/1", "string"},
        Refusal{"[\"a\", \"b\", \"c\"]", "[\"a\", \"b\", \"b\"]", "/nodes/2", "already /nodes/1"},
        Refusal{"[\"a\", \"b\", \"c\"]", "[\"a\", \"b\", \"\"]", "/nodes/2", "empty"},
        Refusal{"\"source\": \"a\"", "\"source\": \"d\"", "/source", "'d'"},
        Refusal{"1048576", "0", "/slice_bytes", "at least one byte"},
        Refusal{"1048576", "-1", "/slice_bytes", ""}, Refusal{"1048576", "1.5", "/slice_bytes", ""},
        Refusal{"1048576", "1e400", "", ""},
        Refusal{"\"optimum_Bps\": 91000000", "\"optimum_Bps\": NaN", "", ""},
        Refusal{"\"optimum_Bps\": 91000000", "\"optimum_Bps\": 0", "/optimum_Bps", "positive"},
        Refusal{"\"throughput_Bps\": 91000000", "\"throughput_Bps\": null", "/throughput_Bps", ""},
        Refusal{"\"throughput_Bps\": 91000000", "\"throughput_Bps\": 91000100", "/throughput_Bps",
                "sum"},
        Refusal{"60000000", "0", "/broadcast_trees/0/rate_Bps", "positive"},
        Refusal{"60000000", "-60000000", "/broadcast_trees/0/rate_Bps", "positive"},
        Refusal{"60000000", "\"60 MB/s\"", "/broadcast_trees/0/rate_Bps", "number"},
        Refusal{"[0, 2]", "[0, 3]", "/broadcast_trees/0/edges/0/1", "3 is out of range"},
        Refusal{"[0, 2]", "[0, 4294967296]", "/broadcast_trees/0/edges/0/1", "out of range"},
        Refusal{"[0, 2]", "[-1, 2]", "/broadcast_trees/0/edges/0/0", ""},
        Refusal{"[0, 2]", "[0.5, 2]", "/broadcast_trees/0/edges/0/0", ""},
        Refusal{"[0, 2]", "[0, 2, 1]", "/broadcast_trees/0/edges/0", "pair"},
        Refusal{"[0, 2]", "5", "/broadcast_trees/0/edges/0", "pair"},
        Refusal{"[[0, 2], [2, 1]]", "{}", "/broadcast_trees/0/edges", "array"},
        Refusal{"1-2", "0-2", "/broadcast_trees/1/via/0-2", "no such edge"},
        Refusal{"1-2", "1-02", "/broadcast_trees/1/via", "is not an edge"},
        Refusal{"1-2", "1", "/broadcast_trees/1/via", "is not an edge"},
        Refusal{"1-2", "1-3", "/broadcast_trees/1/via", "out of range"},
        Refusal{"[\"sw\"]", "\"sw\"", "/broadcast_trees/1/via/1-2", "array"},
        Refusal{"{\"1-2\": [\"sw\"]}", "[]", "/broadcast_trees/1/via", "object"},
        Refusal{"\"via\"", "\"vai\"", "/broadcast_trees/1", "via"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": [0]", "/broadcast_trees/0/colors",
                "1 colors for 2 edges"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": [0, 1, 0]", "/broadcast_trees/0/colors",
                "3 colors for 2 edges"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": [0, 2]", "/broadcast_trees/0/colors/1",
                "a color is 0 or 1"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": [-1, 0]", "/broadcast_trees/0/colors/0",
                "a color is 0 or 1"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": [\"0\", 0]", "/broadcast_trees/0/colors/0",
                "a color is 0 or 1"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": 0", "/broadcast_trees/0/colors", "array"},
        Refusal{"[2, 1]]", "[2, 1]], \"colors\": [0, 1]", "/broadcast_trees/1",
                "either all trees have colors or none"},
        Refusal{"[2, 1]]", "[2, 1]], \"exchange\": [[1, 2]]", "/broadcast_trees/0/exchange/0",
                "no edge [1, 2]"},
        Refusal{"[2, 1]]", "[2, 1]], \"exchange\": [[2, 1], [2, 1]]",
                "/broadcast_trees/0/exchange/1", "edge [2, 1] is named twice"},
        Refusal{"[2, 1]]", "[2, 1]], \"exchange\": [[2, 3]]", "/broadcast_trees/0/exchange/0/1",
                "3 is out of range"},
        Refusal{"[2, 1]]", "[2, 1]], \"exchange\": [2, 1]", "/broadcast_trees/0/exchange/0",
                "pair"},
        Refusal{"[2, 1]]", "[2, 1]], \"exchange\": {}", "/broadcast_trees/0/exchange", "array"},
        Refusal{"[2, 1]]", "[2, 1]], \"latencies_s\": [0]", "/broadcast_trees/0/latencies_s",
                "1 latencies for 2 edges"},
        Refusal{"[2, 1]]", "[2, 1]], \"latencies_s\": [0, -1]", "/broadcast_trees/0/latencies_s/1",
                "a latency is finite and not negative, not -1"},
        Refusal{"[2, 1]]", "[2, 1]], \"latencies_s\": [0, \"1 ms\"]",
                "/broadcast_trees/0/latencies_s/1", "number"},
        Refusal{"[2, 1]]", "[2, 1]], \"latencies_s\": 1", "/broadcast_trees/0/latencies_s",
                "array"}));

TEST(PlanJson, EveryTruncationIsRefused) {
  const std::string text = to_json(scheduled_chains());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_THROW((void)parse_plan(text.substr(0, length), "p.json"), InputError) << length;
  }
}

TEST(PlanJson, ADamagedByteNeverCrashesOrPassesUnnoticed) {
  std::mt19937 random(11);
  const std::string good = to_json(scheduled_chains());
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    text[random() % text.size()] = static_cast<char>(random());
    try {
      const Plan plan = parse_plan(text, "p.json");
      check_structure(plan);
      EXPECT_EQ(depth_of(plan.broadcast_trees[0], source_index(plan)), 2U) << text;
    } catch (const InputError&) {
    }
  }
}

TEST(ReadPlan, RefusesAStructuralFaultByFileAndPlace) {
  const std::string file = ::testing::TempDir() + "cycle.json";
  Plan plan = two_chains();
  plan.broadcast_trees[1].edges = {{2, 1}, {1, 2}};
  plan.broadcast_trees[1].via.clear();
  write_text(file, to_json(plan));
  EXPECT_EQ(espalier::testing::refusal([&] { return read_plan(file); }),
            file + ": /broadcast_trees/1/edges: cycle b -> c -> b");
  EXPECT_THROW((void)read_plan(file + ".absent"), InputError);
  std::remove(file.c_str());
}

// --- structural faults ---

struct Fault {
  std::string name;
  std::function<void(Plan&)> damage;
  std::string place;
  std::string reason;
};

class StructuralFault : public ::testing::TestWithParam<Fault> {};

TEST_P(StructuralFault, IsFound) {
  Plan plan = two_chains();
  plan.nodes.push_back("d");
  plan.broadcast_trees[0].edges.push_back({0, 3});
  plan.broadcast_trees[1].edges.push_back({2, 3});
  ASSERT_NO_THROW(check_structure(plan));
  GetParam().damage(plan);
  const std::string fault = fault_of(plan);
  EXPECT_THAT(fault, ::testing::StartsWith(GetParam().place + ": "));
  EXPECT_THAT(fault, HasSubstr(GetParam().reason));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    Each, StructuralFault,
    ::testing::Values(Fault{"NoNodes", [](Plan& p) { p.nodes.clear(); }, "/nodes", "at least one"},
                      Fault{"NoTrees", [](Plan& p) { p.broadcast_trees.clear(); },
                            "/broadcast_trees", "at least one"},
                      Fault{"MissingNode", [](Plan& p) { p.broadcast_trees[1].edges.pop_back(); },
                            "/broadcast_trees/1/edges",
                            "'d' is missing: no edge leads to it (2 edges, 3 needed)"},
                      Fault{"TwoParents",
                            [](Plan& p) {
                              p.broadcast_trees[0].edges.push_back({3, 1});
                            },
                            "/broadcast_trees/0/edges/3", "'b' has two parents, 'c' and 'd'"},
                      Fault{"RepeatedEdge",
                            [](Plan& p) {
                              p.broadcast_trees[0].edges.push_back({2, 1});
                            },
                            "/broadcast_trees/0/edges/3", "two parents"},
                      Fault{"IntoTheSource",
                            [](Plan& p) {
                              p.broadcast_trees[0].edges[2] = {3, 0};
                            },
                            "/broadcast_trees/0/edges/2", "into the source 'a'"},
                      Fault{"Loop",
                            [](Plan& p) {
                              p.broadcast_trees[0].edges[2] = {3, 3};
                            },
                            "/broadcast_trees/0/edges/2", "from 'd' to itself"},
                      Fault{"Cycle",
                            [](Plan& p) {
                              p.broadcast_trees[0].edges = {{3, 1}, {1, 2}, {2, 3}};
                            },
                            "/broadcast_trees/0/edges", "cycle b -> c -> d -> b"},
                      Fault{"OutOfRange",
                            [](Plan& p) {
                              p.broadcast_trees[0].edges[0] = {0, 9};
                            },
                            "/broadcast_trees/0/edges/0", "9 is out of range"},
                      Fault{"ColorBeyondOne",
                            [](Plan& p) {
                              p.broadcast_trees[0].colors = {0, 1, 2};
                            },
                            "/broadcast_trees/0/colors/2", "a color is 0 or 1, not 2"},
                      Fault{"ExchangeOfAnotherTreesEdge",
                            [](Plan& p) {
                              p.broadcast_trees[0].exchange = {{0, 1}};
                            },
                            "/broadcast_trees/0/exchange/0", "this tree has no edge [0, 1]"},
                      Fault{"ExchangeOutOfRange",
                            [](Plan& p) {
                              p.broadcast_trees[0].exchange = {{0, 9}};
                            },
                            "/broadcast_trees/0/exchange/0", "this tree has no edge [0, 9]"},
                      Fault{"NanRate", [](Plan& p) { p.broadcast_trees[0].rate.value = kNan; },
                            "/broadcast_trees/0/rate_Bps", "finite"},
                      Fault{"InfiniteRate",
                            [](Plan& p) { p.broadcast_trees[1].rate.value = INFINITY; },
                            "/broadcast_trees/1/rate_Bps", "finite"},
                      Fault{"NanThroughput", [](Plan& p) { p.throughput.value = kNan; },
                            "/throughput_Bps", "finite"},
                      Fault{"SumTooLow", [](Plan& p) { p.throughput.value *= 1 + 3e-6; },
                            "/throughput_Bps", "sum"},
                      Fault{"SumTooHigh", [](Plan& p) { p.throughput.value *= 1 - 3e-6; },
                            "/throughput_Bps", "sum"}),
    [](const auto& test) { return test.param.name; });

TEST(StructuralFaults, ABarrierHasNoSchedule) {
  Plan plan = scheduled_chains();
  plan.operation = Operation::kBarrier;
  plan.broadcast_trees.pop_back();
  plan.broadcast_trees[0].rate = plan.throughput;
  plan.reduce_trees = plan.broadcast_trees;
  EXPECT_EQ(fault_of(plan),
            "/schedule: only a broadcast, a reduce or an allreduce with one root has a schedule");
}

TEST(StructuralFaults, AnAllreducesScheduleCarriesAsMuchBothWays) {
  Plan plan = scheduled_chains();
  plan.operation = Operation::kAllreduce;
  plan.reduce_trees = plan.broadcast_trees;
  EXPECT_EQ(fault_of(plan), "/schedule/slices: 2 counts for 4 trees");
  plan.schedule->segments = {2, 1, 1, 1};
  EXPECT_EQ(fault_of(plan),
            "/schedule/slices: the reduce trees carry 3145728 bytes per period, but the broadcast "
            "trees 2097152");
  plan.schedule->segments = {2, 1, 1, 2};
  EXPECT_EQ(fault_of(plan),
            "/schedule/sends: edge 0 -> 2 of tree 2 carries 0 bytes per period, but its 1 segment "
            "has 1048576");
}

// Along the same trees the data goes to the root: the file names the sender first.
TEST(StructuralFaults, AReducesScheduleNamesTheSenderFirst) {
  Plan plan = scheduled_chains();
  plan.operation = Operation::kReduce;
  plan.reduce_trees = std::exchange(plan.broadcast_trees, {});
  EXPECT_THAT(to_json(plan), ::testing::HasSubstr("[0, 2, 0, 0, 0.2, 2097152]"));
  EXPECT_EQ(parse_plan(to_json(plan), "p.json").schedule, plan.schedule);
  plan.schedule->sends[0].bytes = 1;
  EXPECT_THAT(fault_of(plan), ::testing::StartsWith("/schedule/sends: edge 2 -> 0 of tree 0"));
}

TEST(StructuralFaults, ASumWithinRoundingIsAccepted) {
  Plan plan = two_chains();
  plan.throughput.value *= 1 + 5e-7;
  EXPECT_NO_THROW(check_structure(plan));
}

TEST(StructuralFaults, ASingleHostHasATreeWithoutEdges) {
  Plan plan = two_chains();
  plan.nodes = {"a"};
  plan.broadcast_trees = {{{1.0}, {}, {}}};
  plan.throughput = {1.0};
  EXPECT_NO_THROW(check_structure(plan));
  EXPECT_EQ(depth_of(plan.broadcast_trees[0], 0), 0U);
  EXPECT_EQ(out_degree_of(plan.broadcast_trees[0]), 0U);
}

}  // namespace
}  // namespace espalier::planner::plan_faults_test
