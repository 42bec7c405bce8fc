// espalier-mpi bcast.
#include <fmt/format.h>

#include <algorithm>

#include "cli/espalier_mpi/commands/pull.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "engine/rounds.hpp"
#include "engine/timetable.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

// Files along the trees of a plan.
class PlannedFiles : public FileCarrier {
 public:
  explicit PlannedFiles(runtime::Broadcast& broadcast) : broadcast_(&broadcast) {}
  [[nodiscard]] int root() const override { return broadcast_->root(); }
  [[nodiscard]] bool receives_all() const override { return broadcast_->receives_all(); }
  [[nodiscard]] Shape stream_shape(std::uint64_t message_bytes,
                                   std::uint64_t buffer_bytes) const override {
    return broadcast_->stream_shape(message_bytes, buffer_bytes);
  }
  [[nodiscard]] Seconds predicted_time(std::uint64_t message_bytes,
                                       std::uint64_t segment_bytes) const override {
    return broadcast_->predicted_time(message_bytes, segment_bytes);
  }
  [[nodiscard]] bool stream(std::uint64_t bytes, const Shape& shape,
                            runtime::FileStore& store) override {
    return broadcast_->stream(bytes, shape, store);
  }

 private:
  runtime::Broadcast* broadcast_;
};

struct BcastCommand {
  Job job{};
  RunArguments arguments{};
  FileOptions files{};
  PullArguments pull{};
  runtime::BroadcastOptions broadcast{};

  void add_to(Arguments& app);
  void check();
  void check_files() const;
  [[nodiscard]] ExitStatus run() const;
};

void BcastCommand::add_to(Arguments& app) {
  arguments.add_to(app, broadcast);
  pull.add_to(app);
  app.add("--in", files.in,
          "file or folder to broadcast, on the plan's source; several are sent as one stream",
          {.type = "FILE"});
  app.add(
      "--out", files.out,
      "output file of each rank; {rank} and {host} are replaced. For a folder or several --in: an "
      "output folder, new or empty. The source writes it too, unless it is the --in file; ranks "
      "that only help others do not",
      {.type = "FILE"});
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
}

void BcastCommand::check() {
  arguments.running.write_to(broadcast);
  if (arguments.has_no_plan()) {
    refuse_needing_plan(arguments,
                        {{broadcast.schedule, "--schedule"}, {files.resume, "--resume"}});
  } else {
    arguments.check(broadcast);
    pull.refuse_given();
  }
  if (!arguments.decisions.empty() && !files.in.empty()) {
    throw InputError("--decisions needs a --message; of --in only the source knows the size");
  }
  check_files();
}

void BcastCommand::check_files() const {
  const bool sends_files = !files.in.empty();
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
  if (files.out == "-" || std::ranges::find(files.in, "-") != files.in.end()) {
    throw InputError("--in and --out need file names; - is not supported");
  }
}

ExitStatus BcastCommand::run() const {
  if (arguments.has_no_plan()) return run_pull(job, arguments, {.of_broadcast = files}, pull);
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
  if (files.resume && named.plan.has_helpers()) {
    throw InputError("--resume is for plans in which all ranks get the message; this has helpers");
  }

  ProgressBar bar(rank == 0 && !arguments.quiet, named.plan.throughput);
  options.on_progress = bar.shown_by(watchdog);
  Tracing tracing(comm, arguments, watchdog);
  options.transfers = tracing.log();
  watchdog.expect("waiting for all ranks to set up the broadcast", kOwnTimeoutFirst);
  const Broadcasts bound = bind_broadcasts(comm, {&named, 1}, options);
  const Figures figures = run_bound(comm, named, bound, arguments, files, bar, watchdog);
  bar.end();
  tracing.write(bound->front().node());
  if (rank == 0) warn_of_change(figures);
  if (rank == 0) print_report(figures_report(named.plan, figures), arguments.json);
  return ExitStatus::kDone;
}

}  // namespace

Figures run_bound(MPI_Comm comm, const NamedPlan& named, const Broadcasts& bound,
                  const RunArguments& arguments, const FileOptions& files, ProgressBar& bar,
                  Watchdog& watchdog) {
  if (!files.in.empty()) {
    PlannedFiles planned(bound->front());
    return broadcast_file(comm, planned, arguments, files, bar, watchdog);
  }
  bar.expect(arguments.message().value);
  return time_message(comm, timed_broadcast(comm, {&named, 1}, bound), arguments, watchdog);
}

void add_bcast(Arguments root, const Job& job) {
  root.add_command<BcastCommand>(
      "bcast", "run a broadcast plan on the ranks of this mpirun; without PLAN, ranks pull", job);
}

}  // namespace espalier::cli
