#include "cli/espalier_mpi/commands/bcast.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "cli/espalier_mpi/options/decided.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cli/espalier_mpi/reports/trace.hpp"
#include "runtime/engine/rounds.hpp"
#include "runtime/engine/timetable.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

void run_bcast(MPI_Comm comm, BcastArguments arguments, Watchdog& watchdog) {
  const int rank = runtime::rank_in(comm);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const planner::Plan plan =
      plan_of_run(comm, arguments, planner::Operation::kBroadcast, arguments.broadcast);
  const std::string file = display_name(arguments.plan);
  if (arguments.broadcast.rounds) runtime::require_rounds(plan, file);
  if (arguments.broadcast.schedule) runtime::require_timetable(plan, file);

  ProgressBar bar(rank == 0 && !arguments.quiet, plan.throughput);
  arguments.on_message = [&bar](std::uint64_t bytes) { bar.expect(bytes); };
  arguments.broadcast.on_progress = [&bar](std::uint64_t bytes) { bar.show(bytes); };
  std::optional<TraceRecorder> trace;
  if (!arguments.trace.empty()) {
    watchdog.expect("waiting for all ranks to compare their clocks");
    trace.emplace(comm, arguments.trace);
    arguments.broadcast.transfers = &trace->log();
  }
  // The constructor has a timeout of its own, which is shorter.
  watchdog.expect("waiting for all ranks to set up the broadcast",
                  arguments.broadcast.timeout.value_or(Seconds{}));
  runtime::Broadcast broadcast(comm, plan, arguments.broadcast);
  const Figures figures = arguments.in.empty()
                              ? broadcast_message(comm, broadcast, arguments, watchdog)
                              : broadcast_file(comm, broadcast, arguments, watchdog);
  bar.end();
  if (trace) {
    watchdog.expect("waiting for the trace records of all ranks");
    trace->write(broadcast.node(), arguments.quiet);
  }
  if (rank != 0) return;
  if (!figures.source_change.empty()) {
    fmt::print(stderr, "espalier-mpi: warning: {}; the copies are what was read\n",
               figures.source_change);
  }
  fmt::print("{}", arguments.json ? figures_json(plan, figures) : figures_text(plan, figures));
  std::fflush(stdout);
}

}  // namespace espalier::cli
