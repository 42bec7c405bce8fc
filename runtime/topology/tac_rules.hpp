// The rules by which TAC's report chooses a topology-aware algorithm, measured on its cluster:
// sections 2 to 5 (docs/study.md). Its alltoall that gathers at leaders is not among them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

// As ESPALIER_ALGORITHM.
inline constexpr std::string_view kTacRules = "tac";

// From here on messages are long (2,048 KB).
inline constexpr Bytes kTacLong{2048U << 10U};
// More hosts are many.
inline constexpr std::size_t kTacHosts = 13;

// The algorithm for a message of this operation among so many ranks on so many hosts (at least
// one). Unset: TAC has none, or MPI's own algorithm is to run.
std::optional<std::string_view> tac_choice(planner::Operation operation, std::size_t ranks,
                                           std::size_t hosts, Bytes message);

}  // namespace espalier::runtime
