// What the commands share that run one plan.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier_mpi/bench/candidates.hpp"
#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cli/espalier_mpi/reports/trace.hpp"
#include "cli/espalier_mpi/run/elements.hpp"
#include "cli/espalier_mpi/run/topology_plan.hpp"
#include "runtime/api/decisions.hpp"
#include "runtime/files/file_store.hpp"
#include "runtime/transport/agreement.hpp"
#include "support/files.hpp"
#include "support/pinned.hpp"

namespace espalier::cli {

// A rank that an option names; unset: 0. Throws InputError.
int checked_rank(MPI_Comm comm, std::string_view option, std::optional<std::uint64_t> rank);

// Collective: the entry of the --decisions table for the message, from or to --root. Throws
// InputError on all ranks when the table is invalid or for another operation, or when there is no
// such root.
runtime::DecidedPlan decided_for(MPI_Comm comm, const RunArguments& arguments,
                                 planner::Operation operation);

// Collective: the plan of the run, from its file, from the decision table or of the topology, and
// its segments; also sets what a decision implies in `options`. Throws as decided_for,
// topology_plan, share_plan, require_operation and tuned_segments_from.
template <class Options>
NamedPlan plan_of_run(MPI_Comm comm, const RunArguments& arguments, planner::Operation operation,
                      Options& options) {
  if (!arguments.decisions.empty()) {
    const runtime::DecidedPlan decided = decided_for(comm, arguments, operation);
    follow(decided, options);
    return {{}, decided.plan, 0, options.tuned};
  }
  if (!arguments.algorithm.empty()) {
    return {{},
            topology_plan(comm, {operation, checked_rank(comm, "--root", arguments.root),
                                 arguments.algorithm, arguments.groups, arguments.message()}),
            arguments.running.segment_bytes()};
  }
  NamedPlan named{{}, runtime::share_plan(comm, arguments.plan, planner::Roots::kAny)};
  planner::require_operation(named.plan, operation, display_name(arguments.plan));
  named.segment_bytes = arguments.running.segment_bytes();
  for (const std::string& file : arguments.tuned) {
    named.tuned = runtime::tuned_segments_from(comm, file, named.plan);
  }
  return named;
}

// Times a test message of the plan, with --compare against MPI's own function. Collective. Throws
// CheckFailed on all ranks when the output is wrong.
Figures time_message(MPI_Comm comm, TimedOperation operation, const RunArguments& arguments,
                     Watchdog& watchdog);

// Collective: this rank's output, if it has one, is written to the disk, and gets its name when
// those of all are.
template <class Target>
void commit_with_all(MPI_Comm comm, Target* output) {
  runtime::collective_try_by_rank(comm, [&] {
    if (output != nullptr) output->sync();
  });
  runtime::collective_try_by_rank(comm, [&] {
    if (output != nullptr) output->commit();
  });
}

// A file, several files or a folder to every rank.
struct FileOptions {
  std::vector<std::string> in{};  // empty: a test message instead
  std::string out{};
  bool resume = false;  // continue an interrupted run; if interrupted, keep the partial output
  bool allow_changes = false;  // of the source while it is sent: warn instead of failing
};
// What moves the bytes of files to the ranks. Functions are collective unless they are const.
class FileCarrier : public Interface {
 public:
  using Shape = runtime::Broadcast::StreamShape;

  [[nodiscard]] virtual int root() const = 0;
  // Whether this rank gets the whole message.
  [[nodiscard]] virtual bool receives_all() const { return true; }
  [[nodiscard]] virtual Shape stream_shape(std::uint64_t message_bytes,
                                           std::uint64_t buffer_bytes) const = 0;
  // 0: nothing is known.
  [[nodiscard]] virtual Seconds predicted_time(std::uint64_t message_bytes,
                                               std::uint64_t segment_bytes) const = 0;
  // False, on all ranks, when a store has failed.
  [[nodiscard]] virtual bool stream(std::uint64_t bytes, const Shape& shape,
                                    runtime::FileStore& store) = 0;
};
// Throws InputError and CheckFailed on all ranks, and then leaves no output.
Figures broadcast_file(MPI_Comm comm, FileCarrier& broadcast, const RunArguments& arguments,
                       const FileOptions& files, ProgressBar& bar, Watchdog& watchdog);
// Broadcasts a test message, or the files, by a plan that is bound. Throws as time_message and
// broadcast_file.
Figures run_bound(MPI_Comm comm, const NamedPlan& named, const Broadcasts& bound,
                  const RunArguments& arguments, const FileOptions& files, ProgressBar& bar,
                  Watchdog& watchdog);

// The message of an operation other than a broadcast as files, a name for each rank; empty: a test
// message instead.
struct FilesOfRanks {
  std::string in{};   // of a scatter: the root's, of which each rank gets a part
  std::string out{};  // of a gather or a reduce: the root's; parts in the order of the ranks
};
// The sizes of the parts that follow one another in a rank's files.
struct PartBytes {
  std::vector<std::size_t> sent;      // by the rank they are for, or one part for all
  std::vector<std::size_t> received;  // by the rank they are from, or one
};
// What moves them. Functions are collective, but for the two that foretell.
struct FileMover {
  planner::Operation operation;
  int root = 0;
  std::string node{};             // this rank's name in the plan
  std::vector<double> shares{};   // as Collective::shares
  std::size_t element_bytes = 1;  // of what is combined
  std::function<std::uint64_t(std::uint64_t message_bytes)> segment_bytes{};
  std::function<Seconds(std::uint64_t message_bytes, std::uint64_t segment_bytes)>
      predicted_time{};  // 0: nothing is known
  std::function<void(std::byte* in, std::byte* out, const PartBytes& parts)> move{};
};
// By a plan that is bound, which must outlive it. elements: of what is combined.
FileMover mover_of(runtime::Collective& collective, Elements elements);
// Throws InputError and CheckFailed on all ranks, and then leaves no output.
Figures move_files(MPI_Comm comm, const FileMover& mover, const RunArguments& arguments,
                   const FilesOfRanks& files, ProgressBar& bar, Watchdog& watchdog);

}  // namespace espalier::cli
