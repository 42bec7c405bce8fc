#include "runtime/preload/tally.hpp"

#include <fmt/format.h>

#include <numeric>

#include "support/quantities.hpp"

namespace espalier::preload {

std::string ranks_text(planner::Operation operation, int root, std::size_t ranks) {
  switch (operation) {
    case planner::Operation::kBroadcast:
      return fmt::format("from rank {} to {}", root, counted(ranks, "rank"));
    case planner::Operation::kReduce:
      return fmt::format("from {} to rank {}", counted(ranks, "rank"), root);
    case planner::Operation::kAllreduce:
    case planner::Operation::kAllgather:
    case planner::Operation::kReduceScatter:
    case planner::Operation::kScatter:
    case planner::Operation::kGather:
    case planner::Operation::kAlltoall:
      break;
  }
  return "from and to " + counted(ranks, "rank");
}

std::string summary(std::string_view function, const Tally& tally) {
  const std::uint64_t left_to_mpi =
      std::accumulate(tally.left_to_mpi.begin(), tally.left_to_mpi.end(), std::uint64_t{0});
  std::string text = fmt::format("{} {} taken ({}), {} left to MPI", tally.taken, function,
                                 format_size({tally.taken_bytes}), left_to_mpi);
  std::string_view separator = ": ";
  for (std::size_t i = 0; i < kReasons; ++i) {
    if (tally.left_to_mpi[i] == 0) continue;
    text += fmt::format("{}{} {}", separator, tally.left_to_mpi[i], kReasonTexts[i]);
    separator = ", ";
  }
  return text;
}

}  // namespace espalier::preload
