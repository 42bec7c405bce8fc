#include "cli/espalier_mpi/commands/run_plan.hpp"

#include <fmt/format.h>

#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

int checked_rank(MPI_Comm comm, std::string_view option, std::optional<std::uint64_t> rank) {
  const auto ranks = static_cast<std::uint64_t>(runtime::size_of(comm));
  const std::uint64_t named = rank.value_or(0);
  if (named < ranks) return static_cast<int>(named);
  throw InputError(fmt::format("{}: there is no rank {}; give 0 to {}", option, named, ranks - 1));
}

runtime::DecidedPlan decided_for(MPI_Comm comm, const RunArguments& arguments,
                                 planner::Operation operation) {
  const planner::Decisions decisions = runtime::share_decisions(comm, arguments.decisions);
  if (decisions.operation != operation) {
    throw InputError(display_name(arguments.decisions), "/operation",
                     fmt::format("the decisions are for {}, not for {}",
                                 name_of(decisions.operation), name_of(operation)));
  }
  const int root = checked_rank(comm, "--root", arguments.root);
  const runtime::Placement placement = runtime::placement_of(comm);
  const planner::Decision& decision =
      decision_for(decisions, placement.among(), arguments.message().value);
  if (decision.algorithm == planner::kLibrary) {
    throw InputError(display_name(arguments.decisions), {},
                     fmt::format("the table leaves {} among {} to MPI's own function; use `bench "
                                 "--operation {}` to time it",
                                 format_size(arguments.message()),
                                 counted(placement.ranks(), "rank"), name_of(operation)));
  }
  return plan_for(decisions, decision.algorithm, placement, static_cast<std::uint32_t>(root));
}

Figures time_message(MPI_Comm comm, TimedOperation operation, const RunArguments& arguments,
                     Watchdog& watchdog) {
  Figures figures;
  figures.library = operation.candidates.front().name;
  if (!arguments.compare) operation.drop_mpi();
  const Candidate& plan = operation.candidates.back();
  figures.message_bytes = arguments.message().value;
  figures.segment_bytes = plan.segment_bytes(figures.message_bytes);
  figures.verified = arguments.verify;
  const Rounds rounds{.timed = arguments.repeat,
                      // sets up the connections and caches of both
                      .warm_up = arguments.compare ? std::size_t{1} : 0,
                      .verify = arguments.verify,
                      .timeout = arguments.running.timeout};
  AlternatingTimer timer(comm, operation, arguments.message(), rounds, watchdog);
  const std::vector<std::vector<double>> seconds = timer.seconds_of(arguments.message());
  figures.seconds = seconds.back();
  if (arguments.compare) figures.mpi_seconds = seconds.front();
  return figures;
}

}  // namespace espalier::cli
