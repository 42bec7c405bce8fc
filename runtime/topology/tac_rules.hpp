// The rules by which TAC's report chooses a topology-aware algorithm, measured on its cluster:
// sections 2 to 5 (docs/study.md).
#pragma once

#include <cstddef>
#include <cstdint>
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

// Alltoalls go by leaders from so many ranks per host on, as long as the elements that a rank sends
// are fewer than TAC's 2,000,000, here taken for numbers of 8 bytes.
inline constexpr std::size_t kTacRanksPerHost = 4;
inline constexpr Bytes kTacAlltoall{std::uint64_t{8} * 2'000'000};

// The algorithm for a message of this operation among so many ranks on so many hosts (at least
// one). Unset: TAC has none, or MPI's own algorithm is to run.
std::optional<std::string_view> tac_choice(planner::Operation operation, std::size_t ranks,
                                           std::size_t hosts, Bytes message);

// Whether alltoalls go by leaders (AlltoallByLeaders) among so many ranks on so many hosts, where
// each rank sends less than kTacAlltoall.
bool tac_leaders_send(std::size_t ranks, std::size_t hosts);

}  // namespace espalier::runtime
