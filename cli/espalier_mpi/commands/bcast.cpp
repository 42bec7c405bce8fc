// espalier-mpi bcast.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "cli/espalier_mpi/reports/trace.hpp"
#include "engine/rounds.hpp"
#include "engine/timetable.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

struct BcastCommand {
  Job job{};
  RunArguments arguments{};
  FileOptions files{};
  std::string trace{};  // trace file; empty: none
  runtime::BroadcastOptions broadcast{};

  void add_to(Arguments& app);
  void check();
  [[nodiscard]] ExitStatus run() const;
};

void BcastCommand::add_to(Arguments& app) {
  arguments.add_to(app, broadcast);
  app.add("--in", files.in,
          "file or folder to broadcast, on the plan's source; several are sent as one stream");
  app.add(
      "--out", files.out,
      "output file of each rank; {rank} and {host} are replaced. For a folder or several --in: an "
      "output folder, new or empty. The source writes it too, unless it is the --in file");
  app.add("--resume", files.resume,
          "continue an interrupted run that had --resume; if this run is interrupted, keep "
          ".espalier-NAME.part beside the output");
  app.add("--allow-changes", files.allow_changes,
          "send a source that changes meanwhile, such as a log that grows, with a warning; without "
          "this option such a run ends with status 5 and writes no output");
  app.add("--verify", arguments.verify,
          "check every received byte; with --in, read the written files back");
  add_schedule(app, broadcast.schedule);
  app.add("--compare-mpi-bcast", arguments.compare,
          "time MPI_Bcast of the same message in alternation, and print the ratio");
  app.add("--trace", trace,
          "write the times of each rank's sends and receives to this file, for chrome://tracing "
          "and Perfetto");
}

void BcastCommand::check() {
  arguments.running.write_to(broadcast);
  arguments.check("bcast", broadcast);
  const bool sends_files = !files.in.empty();
  if (!arguments.decisions.empty() && sends_files) {
    throw InputError("--decisions needs a --message; of --in only the source knows the size");
  }
  if (sends_files == files.out.empty()) {
    throw InputError("--in and --out must be given together");
  }
  if (sends_files && arguments.given_message) {
    throw InputError("--message and --in are given; give one of them");
  }
  if (files.resume && (!sends_files || arguments.repeat > 1)) {
    throw InputError("--resume needs --in, and --repeat 1");
  }
  if (files.allow_changes && !sends_files) throw InputError("--allow-changes needs --in");
  if (sends_files && arguments.compare) {
    throw InputError("--compare-mpi-bcast needs a --message; leave out --in");
  }
  if (sends_files && broadcast.ports != 0) {
    throw InputError("--ports needs a --message, which is entirely in memory; leave out --in");
  }
  if (trace == "-")
    throw InputError("--trace needs a file name; standard output contains the figures");
  if (files.out == "-" || std::ranges::find(files.in, "-") != files.in.end()) {
    throw InputError("--in and --out need file names; - is not supported");
  }
}

ExitStatus BcastCommand::run() const {
  const MPI_Comm comm = job.comm;
  Watchdog& watchdog = *job.watchdog;
  const int rank = runtime::rank_in(comm);
  runtime::BroadcastOptions options = broadcast;
  watchdog.start(options.timeout);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const NamedPlan named = plan_of_run(comm, arguments, planner::Operation::kBroadcast, options);
  const std::string file = display_name(arguments.plan);
  if (options.rounds) engine::require_rounds(named.plan, file);
  if (options.schedule) engine::require_timetable(named.plan, file);

  ProgressBar bar(rank == 0 && !arguments.quiet, named.plan.throughput);
  options.on_progress = [&bar, &watchdog](std::uint64_t bytes) {
    bar.show(bytes);
    watchdog.note_progress();
  };
  std::optional<TraceRecorder> recorder;
  if (!trace.empty()) {
    watchdog.expect("waiting for all ranks to compare their clocks");
    recorder.emplace(comm, trace);
    options.transfers = &recorder->log();
  }
  watchdog.expect("waiting for all ranks to set up the broadcast", kOwnTimeoutFirst);
  const Broadcasts bound = bind_broadcasts(comm, {&named, 1}, options);
  Figures figures;
  if (files.in.empty()) {
    bar.expect(arguments.message().value);
    figures = time_message(comm, timed_broadcast(comm, {&named, 1}, bound), arguments, watchdog);
  } else {
    figures = broadcast_file(comm, bound->front(), arguments, files, bar, watchdog);
  }
  bar.end();
  if (recorder) {
    watchdog.expect("waiting for the trace records of all ranks");
    recorder->write(bound->front().node(), arguments.quiet);
  }
  if (rank == 0 && !figures.source_change.empty()) {
    fmt::print(stderr, "espalier-mpi: warning: {}; the copies are what was read\n",
               figures.source_change);
  }
  if (rank == 0) print_report(figures_report(named.plan, figures), arguments.json);
  return ExitStatus::kDone;
}

}  // namespace

void add_bcast(Arguments root, const Job& job) {
  root.add_command<BcastCommand>("bcast", "run a broadcast plan on the ranks of this mpirun", job);
}

}  // namespace espalier::cli
