// espalier-mpi reduce and allreduce.
#include <fmt/format.h>

#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "engine/rounds.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;

struct ReduceCommand {
  Job job{};
  Operation operation = Operation::kReduce;  // or kAllreduce
  RunArguments arguments{};
  ElementOptions elements{};
  runtime::ReductionOptions reduction{};

  void add_to(Arguments& app);
  void check();
  [[nodiscard]] ExitStatus run() const;
};

void ReduceCommand::add_to(Arguments& app) {
  arguments.add_to(app, reduction);
  elements.add_to(app);
  app.add("--verify", arguments.verify, "check every element of the result");
  app.add("--compare-mpi", arguments.compare,
          fmt::format("time {} of the same message in alternation, and print the ratio",
                      operation == Operation::kReduce ? "MPI_Reduce" : "MPI_Allreduce"));
}

void ReduceCommand::check() {
  arguments.running.write_to(reduction);
  arguments.check(name_of(operation), reduction);
  require_whole("--message", arguments.message(), elements.read());
}

ExitStatus ReduceCommand::run() const {
  const MPI_Comm comm = job.comm;
  Watchdog& watchdog = *job.watchdog;
  runtime::ReductionOptions options = reduction;
  watchdog.start(arguments.running.timeout);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const NamedPlan named = plan_of_run(comm, arguments, operation, options);
  if (options.rounds) engine::require_rounds(named.plan, display_name(arguments.plan));

  ProgressBar bar(runtime::rank_in(comm) == 0 && !arguments.quiet, named.plan.throughput);
  bar.expect(arguments.message().value);
  options.on_progress = [&bar, &watchdog](std::uint64_t bytes) {
    bar.show(bytes);
    watchdog.note_progress();
  };
  watchdog.expect("waiting for all ranks to set up the reduction", kOwnTimeoutFirst);
  const Elements of = elements.read();
  Figures figures = time_message(comm, timed_reduction(comm, operation, {&named, 1}, options, of),
                                 arguments, watchdog);
  figures.op = name_of(of.op);
  figures.type = name_of(of.type);
  bar.end();
  if (runtime::rank_in(comm) == 0)
    print_report(figures_report(named.plan, figures), arguments.json);
  return ExitStatus::kDone;
}

}  // namespace

void add_reductions(Arguments root, const Job& job) {
  root.add_command<ReduceCommand>("reduce", "run a reduce plan on the ranks of this mpirun", job);
  root.add_command<ReduceCommand>("allreduce", "run an allreduce plan on the ranks of this mpirun",
                                  job, Operation::kAllreduce);
}

}  // namespace espalier::cli
