#include "runtime/preload/tally.hpp"

#include <fmt/format.h>

#include <numeric>

#include "support/quantities.hpp"

namespace espalier::preload {

std::string ranks_text(planner::Operation operation, int root, std::size_t ranks) {
  switch (operation) {
    case planner::Operation::kBroadcast:
    case planner::Operation::kScatter:
      return fmt::format("from rank {} to {}", root, counted(ranks, "rank"));
    case planner::Operation::kReduce:
    case planner::Operation::kGather:
      return fmt::format("from {} to rank {}", counted(ranks, "rank"), root);
    case planner::Operation::kAllreduce:
    case planner::Operation::kAllgather:
    case planner::Operation::kReduceScatter:
    case planner::Operation::kAlltoall:
      break;
  }
  return "from and to " + counted(ranks, "rank");
}

std::string_view functions_of(planner::Operation operation) {
  switch (operation) {
    case planner::Operation::kReduce:
      return "MPI_Reduce";
    case planner::Operation::kAllreduce:
      return "MPI_Allreduce";
    case planner::Operation::kAllgather:
      return "MPI_Allgather(v)";
    case planner::Operation::kReduceScatter:
      return "MPI_Reduce_scatter(_block)";
    case planner::Operation::kScatter:
      return "MPI_Scatter";
    case planner::Operation::kGather:
      return "MPI_Gather";
    case planner::Operation::kAlltoall:
      return "MPI_Alltoall";
    case planner::Operation::kBroadcast:
      break;
  }
  return "MPI_Bcast";
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
