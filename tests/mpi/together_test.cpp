// Several plans at a time, and one after the other, on one communicator; errors of one rank alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/mpi/refusals.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing::together_test {
namespace {

using runtime::Collective;
using ::testing::HasSubstr;

void check_in_turns(std::vector<Collective>& broadcasts, std::vector<Collective>& reductions) {
  std::uint64_t message = 0;
  for (const std::size_t size : {30'000, 1, 0, 12'345}) {
    for (int turn = 0; turn < 2; ++turn) {
      for (Collective& one : broadcasts) check_run(one, MPI_COMM_WORLD, size, ++message);
      for (Collective& one : reductions) check_sum(one, MPI_COMM_WORLD, size / 8, ++message);
    }
  }
}

// Plans with different roots, trees and segments, bound to what `of` is.
template <class Comm>
void run_in_turns(const Comm& comm, bool direct_copies) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  runtime::CollectiveOptions options;
  options.direct_copies = direct_copies;
  options.check_sizes = false;  // so that ranks may be in different calls
  std::vector<Collective> broadcasts;
  std::vector<Collective> reductions;
  for (std::uint32_t root = 0; root < ranks; root += 1 + ranks / 4) {
    const auto chain = plan_shaped(Shape::kChain, ranks, root, 1000);
    const auto flat = plan_shaped(Shape::kFlat, ranks, root, 777);
    broadcasts.emplace_back(comm, chain, options);
    broadcasts.emplace_back(comm, flat, options);
    reductions.emplace_back(comm, reduce_plan(flat), options);
    reductions.emplace_back(comm, allreduce_plan(chain, flat), options);
  }
  check_in_turns(broadcasts, reductions);
}

TEST(Together, PlansWithCommunicatorsOfTheirOwn) {
  run_in_turns(MPI_COMM_WORLD, true);
  run_in_turns(MPI_COMM_WORLD, false);
}

TEST(Together, PlansThatShareACommunicator) {
  const runtime::OwnedComm comm(MPI_COMM_WORLD);
  run_in_turns(comm, true);
  run_in_turns(comm, false);
}

TEST(Together, NothingRunsOnASharedCommunicatorAfterAFailure) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const runtime::OwnedComm comm(MPI_COMM_WORLD);
  const auto plan = plan_shaped(Shape::kChain, ranks, 0, 1000);
  Collective first(comm, plan, {});
  Collective second(comm, plan, {});
  std::vector<std::byte> buffer(100);
  EXPECT_THROW(first.run(buffer.data(), std::numeric_limits<std::size_t>::max(), MPI_DOUBLE),
               InputError);
  EXPECT_TRUE(comm.is_abandoned());
  EXPECT_THROW(second.run(buffer.data(), 100, MPI_BYTE), std::logic_error);
}

// --- threads ---

TEST(Threads, ASecondCallAtTheSameTimeIsRefused) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::vector<std::byte> buffer(100'000);
  Collective* self = nullptr;
  std::string refusal;
  runtime::CollectiveOptions options;
  options.on_progress = [&](std::uint64_t) {
    if (refusal.empty()) refusal = refusal_of(*self, buffer, buffer.size());
  };
  Collective broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 1000), options);
  self = &broadcast;
  broadcast.run(buffer.data(), buffer.size(), MPI_BYTE);
  if (ranks > 1) {
    EXPECT_THAT(refusal, HasSubstr("a call of this collective is in progress"));
  }
  self->run(buffer.data(), buffer.size(), MPI_BYTE);
}

TEST(Threads, OneThatMayNotCallMpiIsRefused) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return;
  std::string refusal;
  std::thread([&] {
    refusal = refusal_of(plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 1000));
  }).join();
  EXPECT_THAT(refusal, HasSubstr("initialise MPI with MPI_THREAD_SERIALIZED"));
}

// --- errors of one rank: the others must not wait for it ---

// Rank 0's error on all ranks.
template <class Fault>
std::string error_of(const Fault& fault) {
  try {
    runtime::collective_try(MPI_COMM_WORLD, [&] {
      if (rank_in(MPI_COMM_WORLD) == 0) throw fault;
    });
  } catch (const runtime::MpiError&) {
    return "an MPI error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kInternalFault);
    return error.what();
  }
  return "none";
}

TEST(OneRank, WhateverItThrowsIsThrownOnAll) {
  EXPECT_THAT(error_of(std::runtime_error("odd")), ::testing::MatchesRegex("rank 0 on .*: odd"));
  EXPECT_THAT(error_of(std::bad_alloc()), HasSubstr(": out of memory"));
  EXPECT_THAT(error_of(42), HasSubstr(": unknown internal error"));
}

// One rank's call is refused, the last one's.
std::string refusal_beside(std::size_t count, MPI_Datatype type) {
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  const bool is_wrong = rank_in(MPI_COMM_WORLD) == ranks - 1;
  Collective broadcast(MPI_COMM_WORLD,
                       plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 1 << 20), {});
  std::vector<std::byte> buffer(1000);
  return espalier::testing::refusal([&] {
    broadcast.run(buffer.data(), is_wrong ? count : buffer.size(), is_wrong ? type : MPI_BYTE);
  });
}

TEST(OneRank, IsRefusedOnAllWhereItsCallIsWrong) {
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  const bool is_wrong = rank_in(MPI_COMM_WORLD) == ranks - 1;
  const std::string others = "another rank refused this call";
  EXPECT_THAT(refusal_beside(std::numeric_limits<std::size_t>::max() / 4, MPI_DOUBLE),
              HasSubstr(is_wrong ? "exceed the address space" : others));
  EXPECT_THAT(refusal_beside(1, MPI_DATATYPE_NULL),
              HasSubstr(is_wrong ? "MPI_DATATYPE_NULL is not a type" : others));
#ifndef __SANITIZE_ADDRESS__  // which ends the program where there is no memory
  MPI_Datatype holes = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 8, &holes);
  MPI_Type_commit(&holes);
  // No memory to pack it, or, where the system promises any amount, the sizes differ.
  const std::string refusal = refusal_beside(std::size_t{1} << 36U, holes);
  MPI_Type_free(&holes);
  if (ranks > 1) {
    EXPECT_THAT(refusal, ::testing::AnyOf(HasSubstr(is_wrong ? "no memory to pack" : others),
                                          HasSubstr("disagree on the size")));
  }
#endif
}

}  // namespace
}  // namespace espalier::testing::together_test
