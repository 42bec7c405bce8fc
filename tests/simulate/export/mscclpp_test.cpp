// MSCCL++ execution plans, run by an interpreter of its executor.
#include "simulate/export/mscclpp.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "support/errors.hpp"
#include "tests/simulate/export/deliveries.hpp"
#include "tests/simulate/export/mscclpp_interpreter.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::simulate::mscclpp_test {
namespace {

using espalier::testing::Chunk;
using espalier::testing::Contributions;
using espalier::testing::Mscclpp;
using planner::Operation;

Contributions only(std::size_t rank) {
  return Contributions{1} << rank;
}

// Before the call: every chunk of a buffer that a rank has something in.
void fill(Mscclpp& run, const planner::Plan& plan) {
  const std::size_t ranks = run.ranks();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<Chunk>& input = run.buffer(rank, 'i');
    std::vector<Chunk>& output = run.buffer(rank, 'o');
    if (plan.operation == Operation::kAllgather) {
      const std::size_t part = output.size() / ranks;
      for (std::size_t c = rank * part; c < (rank + 1) * part; ++c) output[c] = {c, only(rank)};
    } else {
      const bool differs = plan.operation == Operation::kAlltoall;  // input `to`, of rank
      for (std::size_t c = 0; c < input.size(); ++c) {
        input[c] = {differs ? rank * input.size() + c : c, only(rank)};
      }
    }
  }
}

void expect_results(Mscclpp& run, const planner::Plan& plan) {
  const std::size_t ranks = run.ranks();
  const Contributions all = only(ranks) - 1;
  const std::size_t root =
      plan.operation == Operation::kBroadcast ? planner::source_index(plan) : 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool in_output =
        plan.operation == Operation::kAllgather || plan.operation == Operation::kAlltoall;
    const std::vector<Chunk>& result = run.buffer(rank, in_output ? 'o' : 'i');
    const std::size_t part = result.size() / ranks;
    for (std::size_t c = 0; c < result.size(); ++c) {
      Chunk expected{c, all};
      if (plan.operation == Operation::kBroadcast) expected.data = only(root);
      if (plan.operation == Operation::kAllgather) expected.data = only(c / part);
      if (plan.operation == Operation::kAlltoall) {
        const std::size_t from = c / part;
        expected = {from * result.size() + rank * part + c % part, only(from)};
      }
      if (plan.operation == Operation::kReduceScatter && c / part != rank) continue;
      EXPECT_EQ(result[c], expected) << "chunk " << c << " of rank " << rank;
    }
  }
}

void expect_delivers(const planner::Plan& plan, const std::string& text) {
  for (const bool backwards : {false, true}) {
    Mscclpp run(text);
    fill(run, plan);
    run.run(backwards);
    expect_results(run, plan);
  }
}

std::string refusal(const planner::Plan& plan, Bytes message, Bytes segment) {
  return espalier::testing::refusal(
      [&] { mscclpp_plan(plan, transfers_of(plan, message, segment)); });
}

TEST(Mscclpp, DeliversEveryOperationThatItHas) {
  std::map<Operation, int> delivered;
  espalier::testing::for_every_operation([&](const planner::Plan& plan, const std::string& name) {
    SCOPED_TRACE(fmt::format("{}, {}", planner::name_of(plan.operation), name));
    const Bytes message{4096 * (planner::has_parts(plan.operation) ? plan.nodes.size() : 3)};
    std::string text;
    try {
      text = mscclpp_plan(plan, transfers_of(plan, message, {4096}));
    } catch (const InputError& error) {  // the limits of the executor; other operations
      const std::string line = error.what();
      EXPECT_TRUE(line.starts_with("--segment: ") || line.starts_with("/operation: ")) << line;
      return;
    }
    ++delivered[plan.operation];
    expect_delivers(plan, text);
  });
  for (const Operation operation :
       {Operation::kBroadcast, Operation::kAllreduce, Operation::kAllgather,
        Operation::kReduceScatter, Operation::kAlltoall}) {
    EXPECT_GT(delivered[operation], 1) << planner::name_of(operation);
  }
  EXPECT_EQ(delivered.size(), 5U);
}

TEST(Mscclpp, DeliversHalvesThatAreExchanged) {
  const planner::Plan plan = espalier::testing::exchanging_plan();
  expect_delivers(plan, mscclpp_plan(plan, transfers_of(plan, {8}, {1})));
}

TEST(Mscclpp, RefusesWhatItCannotSay) {
  EXPECT_EQ(refusal(planner::plan_of({"flat", Operation::kReduce, 3, 0, {1e9}}), {4}, {1}),
            "/operation: MSCCL++ has no reduce; it has broadcast, allreduce, allgather, "
            "reduce-scatter and alltoall");
  EXPECT_EQ(refusal(planner::plan_of({"chain", Operation::kBroadcast, 3, 0, {1e9}}), {32}, {1}),
            "--segment: 'rank0' needs 99 operations in a threadblock, and MSCCL++ has 64; give a "
            "larger --segment or a plan of fewer sends");
  EXPECT_EQ(refusal(planner::plan_of({"flat", Operation::kBroadcast, 18, 0, {1e9}}), {1}, {1}),
            "--segment: 'rank0' needs 17 channels in a threadblock, and MSCCL++ has 16; give a "
            "larger --segment or a plan of fewer sends");
}

}  // namespace
}  // namespace espalier::simulate::mscclpp_test
