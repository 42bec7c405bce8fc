// What an exported plan does with the data: the interpreters of all formats report sends and
// receives here, segment by segment, and it says whether every rank has its result in the end.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/plan/plan.hpp"
#include "simulate/export/transfers.hpp"
#include "tests/simulate/every_operation.hpp"

namespace espalier::testing {

// Which ranks' data a segment has in it, as bits; at most 64 ranks.
using Contributions = std::uint64_t;

class Deliveries {
 public:
  // Only the parts of the message are taken from `transfers`: who has which, and who needs it,
  // comes from the plan.
  Deliveries(const planner::Plan& plan, const simulate::Transfers& transfers);

  // What leaves. A segment that does not have the data that it should is a failure of the test.
  Contributions sent(std::uint32_t rank, std::uint64_t tag);
  // What is added up or stored. Data that comes twice, where it is added up, is a failure, too.
  void received(std::uint32_t rank, std::uint64_t tag, std::uint64_t bytes, Contributions data);
  // At the end of the run.
  void expect_complete();

 private:
  struct Part {
    std::uint32_t block;
    std::uint64_t bytes;
  };
  Contributions& data(std::uint32_t rank, std::uint64_t tag);

  const planner::Plan& plan_;
  std::vector<planner::PlanTrees> blocks_;
  std::uint64_t segments_;
  std::map<std::uint64_t, Part> parts_;  // of each tag
  std::map<std::pair<std::uint32_t, std::uint64_t>, Contributions> data_;
};

// Calls check(plan, name) for plans of every operation on small random platforms, with one tree and
// with several: each operation has every third family of platforms, so that all occur.
template <class Check>
void for_every_operation(Check check) {
  using planner::Operation;
  constexpr Bytes kSegment{4096};
  std::size_t drawn_so_far = 0;
  for (const Operation operation : planner::kEveryOperation) {
    for (const bool has_one_root : {true, false}) {
      if (has_one_root ? !planner::may_have_root(operation) : planner::needs_root(operation)) {
        continue;
      }
      for_each_platform(1, 6, platforms::Model::kOnePort,
                        [&](const DrawnPlatform& drawn, const std::string& trace) {
                          if (drawn_so_far++ % 3 != 0) return;
                          for (const char* algorithm : {"optimal", "binomial"}) {
                            const auto plan =
                                plan_for({operation, has_one_root}, drawn,
                                         platforms::Model::kOnePort, algorithm, kSegment);
                            if (plan) check(*plan, trace + ", " + algorithm);
                          }
                        });
    }
  }
}

// A broadcast to 7 equal hosts by split-binary, whose halves are exchanged in the end.
planner::Plan exchanging_plan();

// Interpreter(plan, transfers, deliveries).run() interprets the plan's export.
template <class Interpreter>
void expect_delivers(const planner::Plan& plan, Bytes message) {
  const simulate::Transfers transfers = simulate::transfers_of(plan, message, {4096});
  Deliveries deliveries(plan, transfers);
  Interpreter(plan, transfers, deliveries).run();
  deliveries.expect_complete();
}

template <class Interpreter>
void expect_delivers_every_operation() {
  for_every_operation([](const planner::Plan& plan, const std::string& name) {
    SCOPED_TRACE(fmt::format("{}, {}", planner::name_of(plan.operation), name));
    expect_delivers<Interpreter>(plan, {40'000});
  });
}

}  // namespace espalier::testing
