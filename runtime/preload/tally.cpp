#include "runtime/preload/tally.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include "runtime/api/library_reduction.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {

void print_line(std::string_view line) {
  fmt::print(stderr, "espalier-pmpi: {}\n", line);
}

std::string ranks_text(planner::Operation operation, int root, std::size_t ranks) {
  using planner::Operation;
  const std::string all = counted(ranks, "rank");
  if (!planner::needs_root(operation)) return "from and to " + all;
  return operation == Operation::kBroadcast || operation == Operation::kScatter
             ? fmt::format("from rank {} to {}", root, all)
             : fmt::format("from {} to rank {}", all, root);
}

std::string functions_of(planner::Operation operation) {
  std::string name(runtime::library_function(operation));
  if (operation == planner::Operation::kReduceScatter) return name + "(_block)";
  if (name.back() == 'v') name.replace(name.size() - 1, 1, "(v)");
  return name;
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

namespace {

std::string row_of(std::string_view function, const std::string& size, const SizeTally& tally) {
  const auto time = [](double seconds) { return seconds > 0 ? format_duration({seconds}) : "-"; };
  std::string saved = "-";
  if (tally.is_known > 0) {
    saved = (tally.saved_s < 0 ? "-" : "") + format_duration({std::abs(tally.saved_s)});
  }
  return fmt::format("{:<28}{:<19}{:>9.0f}{:>11}{:>9.0f}{:>11}{:>11}\n", function, size,
                     tally.taken, time(tally.taken_s), tally.left_to_mpi, time(tally.left_to_mpi_s),
                     saved);
}

}  // namespace

std::string table_of(const SizeTallies& tallies) {
  std::string text = fmt::format("{:<28}{:<19}{:>9}{:>11}{:>9}{:>11}{:>11}\n", "function",
                                 "bytes from", "by plans", "time", "by MPI", "time", "saved");
  SizeTally all;
  for (const planner::Operation operation : planner::kEveryOperation) {
    const auto& sizes = tallies[static_cast<std::size_t>(operation)];
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const SizeTally& tally = sizes[i];
      if (tally.taken + tally.left_to_mpi == 0) continue;
      text += row_of(functions_of(operation), format_size({std::uint64_t{1} << i}), tally);
      all.taken += tally.taken;
      all.taken_s += tally.taken_s;
      all.left_to_mpi += tally.left_to_mpi;
      all.left_to_mpi_s += tally.left_to_mpi_s;
      all.saved_s += tally.saved_s;
      all.is_known += tally.is_known;
    }
  }
  return text + row_of("all", "", all);
}

}  // namespace espalier::preload
