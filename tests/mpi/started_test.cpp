// Calls that begin without waiting for their end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <random>
#include <vector>

#include "runtime/api/collective.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/errors.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::started_test {
namespace {

using planner::Operation;
using runtime::Collective;
using ::testing::HasSubstr;
using Ints = std::vector<int>;

int here() {
  return rank_in(MPI_COMM_WORLD);
}
int ranks() {
  return static_cast<int>(size_of(MPI_COMM_WORLD));
}

planner::Plan plan_of(Operation operation, std::uint32_t root) {
  std::mt19937_64 random(7);
  const std::uint32_t count = size_of(MPI_COMM_WORLD);
  if (planner::routes(operation)) {
    return routes_plan(operation, count, root, Paths::kTwo, 128, random);
  }
  if (planner::has_parts(operation)) return parts_plan(operation, count, 128, 2, random);
  const planner::Plan chain = plan_shaped(Shape::kChain, count, root, 128);
  if (operation == Operation::kReduce) return reduce_plan(chain);
  return operation == Operation::kAllreduce ? allreduce_plan(chain, chain) : chain;
}

// A call, its buffers, and what is expected in `received` at the end.
struct Started {
  Started(Operation operation, int with_root, int with_length)
      : collective(MPI_COMM_WORLD, plan_of(operation, static_cast<std::uint32_t>(with_root))),
        root(with_root),
        length(with_length),
        sent(at(ranks() * length)),
        received(at(ranks() * length), -1),
        expected(received) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = here() * 1000 + static_cast<int>(i) / length * 100 + static_cast<int>(i) % 97;
    }
  }
  static std::size_t at(int place) { return static_cast<std::size_t>(place); }
  // What rank `from` has as element `i` of its part for rank `to`.
  [[nodiscard]] int value(int from, int to, int i) const {
    return from * 1000 + to * 100 + (to * length + i) % 97;
  }
  // Expects the parts of `senders` for rank `to`, from place 0 on.
  void expect_parts(const Ints& senders, int to) {
    for (std::size_t k = 0; k < senders.size(); ++k) {
      for (int i = 0; i < length; ++i) {
        expected[k * at(length) + at(i)] = value(senders[k], to, i);
      }
    }
  }
  void expect_sum(int of_part) {
    for (int i = 0; i < length; ++i) {
      int sum = 0;
      for (int from = 0; from < ranks(); ++from) sum += value(from, of_part, i);
      expected[at(i)] = sum;
    }
  }
  void start();

  Collective collective;
  int root;
  int length;
  Ints sent;
  Ints received;
  Ints expected;
};

void Started::start() {
  // Lists of counts need not outlive the call that begins.
  collective.start([&](Collective& one) {
    const std::vector<std::size_t> counts(at(ranks()), at(length));
    Ints everyone(at(ranks()));
    std::iota(everyone.begin(), everyone.end(), 0);
    const std::size_t count = at(length);
    switch (one.operation()) {
      case Operation::kBroadcast:
        if (here() == root) std::copy_n(sent.begin(), count, received.begin());
        one.run(received.data(), count, MPI_INT);
        return expect_parts({root}, 0);
      case Operation::kReduce:
      case Operation::kAllreduce:
        one.run(sent.data(), received.data(), count, MPI_INT, MPI_SUM);
        if (here() == root || one.operation() == Operation::kAllreduce) expect_sum(0);
        return;
      case Operation::kAllgather:
        one.allgather(sent.data(), received.data(), counts, {}, MPI_INT);
        return expect_parts(everyone, 0);
      case Operation::kReduceScatter:
        one.reduce_scatter(sent.data(), received.data(), counts, MPI_INT, MPI_SUM);
        return expect_sum(here());
      case Operation::kScatter:
        one.scatter(sent.data(), received.data(), counts, {}, MPI_INT);
        return expect_parts({root}, here());
      case Operation::kGather:
        one.gather(sent.data(), received.data(), counts, {}, MPI_INT);
        if (here() == root) expect_parts(everyone, 0);
        return;
      case Operation::kBarrier:  // barrier_test.cpp
        break;
      case Operation::kAlltoall:
        one.alltoall(sent.data(), received.data(), count, MPI_INT);
        return expect_parts(everyone, here());
    }
  });
}

class StartedCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "a plan has parts for others";
  }
};

// Each rank looks after them in an order of its own.
TEST_F(StartedCalls, OfEveryOperationAtOnce) {
  std::vector<std::unique_ptr<Started>> calls;
  for (const Operation operation : planner::kEveryOperation) {
    calls.push_back(std::make_unique<Started>(operation, ranks() - 1, 1000));
  }
  for (int turn = 0; turn < 3; ++turn) {
    for (const auto& call : calls) {
      std::ranges::fill(call->received, -1);
      call->start();
    }
    std::mt19937_64 random(static_cast<unsigned>(here()));
    std::vector<std::size_t> open(calls.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    while (!open.empty()) {
      std::ranges::shuffle(open, random);
      std::erase_if(open, [&](std::size_t i) { return calls[i]->collective.test(); });
    }
    for (const auto& call : calls) {
      EXPECT_EQ(call->received, call->expected)
          << planner::name_of(call->collective.operation()) << ", turn " << turn;
      EXPECT_TRUE(call->collective.test());
    }
  }
}

TEST_F(StartedCalls, MayBeWaitedForInAnyOrder) {
  Started first(Operation::kAlltoall, 0, 300);
  Started second(Operation::kAllreduce, 0, 3000);
  first.start();
  second.start();
  (here() % 2 == 0 ? first : second).collective.wait();
  (here() % 2 == 0 ? second : first).collective.wait();
  EXPECT_EQ(first.received, first.expected);
  EXPECT_EQ(second.received, second.expected);
}

TEST_F(StartedCalls, RefuseAnotherOneMeanwhile) {
  Started call(Operation::kAllgather, 0, 500);
  const std::vector<std::size_t> counts(static_cast<std::size_t>(ranks()), 1);
  call.start();
  const auto again = [&](Collective& one) {
    one.allgather(call.sent.data(), call.received.data(), counts, {}, MPI_INT);
  };
  EXPECT_THAT([&] { again(call.collective); },
              ::testing::ThrowsMessage<InputError>(HasSubstr("is in progress")));
  EXPECT_THAT([&] { call.collective.start(again); },
              ::testing::ThrowsMessage<InputError>(HasSubstr("is in progress")));
  call.collective.wait();
  EXPECT_EQ(call.received, call.expected);
  again(call.collective);
}

TEST_F(StartedCalls, ErrorsAreThrownAtOnce) {
  Started call(Operation::kAllreduce, 0, 10);
  EXPECT_THROW(call.collective.start([&](Collective& one) {
    one.run(call.sent.data(), call.received.data(), 10, MPI_DATATYPE_NULL, MPI_SUM);
  }),
               InputError);
  EXPECT_TRUE(call.collective.test());
}

}  // namespace
}  // namespace espalier::testing::started_test
