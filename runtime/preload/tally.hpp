// Counts of the calls that are taken and that are left to MPI, with reasons.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "planner/plan/plan.hpp"
#include "runtime/preload/size_classes.hpp"

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
  kTrial,
  kFaster,
  kVaryingParts,
  kNonBlocking,
  kNotLearnt,
  kDecided,
  kByRules,
};
inline constexpr std::size_t kReasons = 15;
inline constexpr std::array<std::string_view, kReasons> kReasonTexts{
    "below the threshold",
    "on intercommunicators",
    "to one or two ranks",
    "to ranks of several MPI_COMM_WORLDs",
    "that no plan fits",
    "for which no plan could be made",
    "whose type or operation cannot use trees",
    "among ranks of one host",
    "to measure MPI's own",
    "for which MPI's own was faster",
    "with parts of sizes that other ranks do not know",
    "non-blocking",
    "before the network was known",
    "by the decision table",
    "by TAC's rules",
};

// On stderr, after the library's name.
void print_line(std::string_view line);

// "from rank 2 to 4 ranks", "from 4 ranks to rank 2" or "from and to 4 ranks".
std::string ranks_text(planner::Operation operation, int root, std::size_t ranks);

// "MPI_Allgather(v)": the functions of MPI that are taken for an operation.
std::string functions_of(planner::Operation operation);

// Calls for one operation, each counted by its root (without one, by rank 0). Numbers of one type,
// so that ranks can add them up at once.
struct Tally {
  std::uint64_t taken = 0;
  std::uint64_t taken_bytes = 0;
  std::array<std::uint64_t, kReasons> left_to_mpi{};
  bool operator==(const Tally&) const = default;
};

// Calls of about one size (size_class) and operation, likewise.
struct SizeTally {
  double taken = 0;  // numbers as well as times, so that ranks can add them up at once
  double taken_s = 0;
  double left_to_mpi = 0;
  double left_to_mpi_s = 0;  // without those of non-blocking calls
  double saved_s = 0;        // by those that were taken, as far as that was measured
  double is_known = 0;       // above 0: it was
};
using SizeTallies =
    std::array<std::array<SizeTally, kSizeClasses>, planner::kEveryOperation.size()>;

// A table with a row for each operation and size of which there were calls, and one for their sum.
std::string table_of(const SizeTallies& tallies);

// "5 MPI_Bcast taken (1 GiB), 3 left to MPI: 2 below the threshold, 1 that no plan fits"
std::string summary(std::string_view function, const Tally& tally);

}  // namespace espalier::preload
