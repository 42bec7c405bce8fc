// Counts of the calls that are taken and that are left to MPI, with reasons.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "planner/plan/plan.hpp"

namespace espalier::preload {

enum class Reason : std::uint8_t {
  kBelowThreshold,
  kIntercommunicator,
  kFewRanks,
  kOtherWorld,
  kNoPlanFits,
  kPlanningFailed,
  kNotAlongTrees,
  kOneHost,
};
inline constexpr std::size_t kReasons = 8;
inline constexpr std::array<std::string_view, kReasons> kReasonTexts{
    "below the threshold",
    "on intercommunicators",
    "to one or two ranks",
    "to ranks of several MPI_COMM_WORLDs",
    "that no plan fits",
    "for which no plan could be made",
    "whose type or operation cannot use trees",
    "among ranks of one host",
};

// "from rank 2 to 4 ranks", "from 4 ranks to rank 2" or "from and to 4 ranks".
std::string ranks_text(planner::Operation operation, int root, std::size_t ranks);

// "MPI_Allgather(v)": the functions of MPI that are taken for an operation.
std::string_view functions_of(planner::Operation operation);

// Calls for one operation, each counted by its root (without one, by rank 0).
struct Tally {
  std::uint64_t taken = 0;
  std::uint64_t taken_bytes = 0;
  std::array<std::uint64_t, kReasons> left_to_mpi{};
};

// "5 MPI_Bcast taken (1 GiB), 3 left to MPI: 2 below the threshold, 1 that no plan fits"
std::string summary(std::string_view function, const Tally& tally);

}  // namespace espalier::preload
