// espalier-mpi bcast and allgather without a plan.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/espalier_mpi/commands/learning.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"

namespace espalier::cli {

// Throws InputError for options that need a plan. needs: the command's own ones, and whether they
// are given.
void refuse_needing_plan(const RunArguments& arguments,
                         std::initializer_list<std::pair<bool, std::string_view>> needs);

// What only a run without a plan has.
struct PullArguments {
  planner::Operation operation = planner::Operation::kBroadcast;
  LearningOptions learning{};
  std::optional<std::uint64_t> source{};  // of a broadcast: the rank that has the message; unset: 0

  void add_to(Arguments& app);
  // Throws InputError for those that are given with a plan.
  void refuse_given() const;
};

// Numbers of the ranks that pull, by rank for which: one of each host for a message in memory, if
// there are several hosts. Files, and ranks of a single host, are pulled by each rank. Collective.
std::vector<std::size_t> pullers_of_ranks(const Job& job, bool in_memory);

// Of the operation; without any, a test message.
struct PulledFiles {
  FileOptions of_broadcast{};
  FilesOfRanks of_ranks{};  // of an allgather
  [[nodiscard]] bool none() const { return of_broadcast.in.empty() && of_ranks.in.empty(); }
};

// Collective. Throws InputError on all ranks
// when there is no such source, and as broadcast_file and time_message do.
ExitStatus run_pull(const Job& job, const RunArguments& arguments, const PulledFiles& files,
                    const PullArguments& options);

}  // namespace espalier::cli
