// Ways of running plans, with which every test of collective_test.cpp is repeated: mode x shape of
// the plan x size.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/api/reduction.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing {

struct Case {
  std::string name;
  planner::Operation operation = planner::Operation::kBroadcast;
  runtime::CollectiveOptions options{};
  // A plan for a broadcast, of which a reduction uses the trees.
  std::function<planner::Plan(std::uint32_t nodes, std::uint32_t source, std::uint64_t segment)>
      broadcast;

  [[nodiscard]] bool reduces() const { return planner::reduces(operation); }
  // Sizes are counted in these: bytes of a broadcast, doubles of a reduction.
  [[nodiscard]] std::uint64_t unit() const { return reduces() ? sizeof(double) : 1; }
  // segment: in units. A reduction's segments need not be whole elements.
  [[nodiscard]] planner::Plan plan(std::uint32_t nodes, std::uint32_t source,
                                   std::uint64_t segment) const {
    planner::Plan plan = broadcast(nodes, source, segment * unit() + unit() / 2);
    if (operation == planner::Operation::kReduce) return reduce_plan(std::move(plan));
    return reduces() ? allreduce_plan(plan, plan) : plan;
  }
  [[nodiscard]] runtime::Collective on(MPI_Comm comm, std::uint32_t source,
                                       std::uint64_t segment) const {
    return {comm, plan(size_of(comm), source, segment), options};
  }
};

inline std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name;
}

inline std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

// Runs message number `message` of `size` units and checks the result; a reduction also in place.
inline void check(runtime::Collective& collective, MPI_Comm comm, std::size_t size,
                  std::uint64_t message) {
  if (!planner::reduces(collective.operation())) {
    return check_run(collective, comm, size, message);
  }
  check_sum(collective, comm, size, message);
  check_sum(collective, comm, size, message + 1000, InPlace::kYes);
}

class Collectives : public ::testing::TestWithParam<Case> {};
// Those that have further properties: streams and comparisons of sizes.
class Broadcasts : public ::testing::TestWithParam<Case> {};

}  // namespace espalier::testing
