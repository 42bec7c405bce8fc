// Reads GOAL by the grammar of LogGOPSim's txt2bin.re and runs it by the rules of LogGOPSim
// (Hoefler, Schneider, Lumsdaine, HPDC 2010, doi:10.1145/1851476.1851564), without noise, one
// processor and one interface per rank, all messages eager and O = 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulate/export/deliveries.hpp"

namespace espalier::testing {

struct GoalOperation {
  enum class Type { kSend, kReceive, kCalculate };
  Type type = Type::kCalculate;
  std::uint64_t size = 0;  // bytes, or units of time
  std::uint32_t peer = 0;
  std::uint64_t tag = 0;
  std::vector<std::size_t> needs{};  // operations of the rank that are done first
  std::vector<std::size_t> needs_started{};
};

// The operations of each rank. Throws std::runtime_error, with the line, for anything else.
std::vector<std::vector<GoalOperation>> parse_goal(const std::string& text);

struct LogGOPS {
  double latency = 0;
  double overhead = 0;
  double gap = 0;
  double per_byte = 0;
};
// When each rank's processor has ended. Operations that never begin are failures of the test.
std::vector<double> run_goal(const std::vector<std::vector<GoalOperation>>& ranks,
                             const LogGOPS& parameters, Deliveries& deliveries);

}  // namespace espalier::testing
