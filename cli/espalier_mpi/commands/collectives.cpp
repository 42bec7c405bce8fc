// espalier-mpi reduce, allreduce, allgather, reduce-scatter, scatter, gather, alltoall, barrier.
#include <fmt/format.h>

#include "cli/espalier_mpi/bench/bound_plans.hpp"
#include "cli/espalier_mpi/commands/pull.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "engine/rounds.hpp"
#include "engine/timetable.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;

struct CollectiveCommand {
  Job job{};
  Operation operation = Operation::kReduce;  // not a broadcast
  RunArguments arguments{};
  ElementOptions elements{};
  FilesOfRanks files{};
  runtime::ReductionOptions options{};
  PullArguments pull{};  // of an allgather; of others, the cache

  void add_to(Arguments& app);
  void add_files_to(Arguments& app);
  void check();
  void check_files() const;
  [[nodiscard]] bool pulls() const {
    return operation == Operation::kAllgather && arguments.has_no_plan();
  }
  [[nodiscard]] bool is_barrier() const { return operation == Operation::kBarrier; }
  // Where no PLAN is given: of the network that pulls have learnt, or else of which ranks share a
  // host. Collective.
  [[nodiscard]] planner::Plan plan_of_known() const;
  [[nodiscard]] ExitStatus run() const;
};

void CollectiveCommand::add_to(Arguments& app) {
  arguments.add_to(app, options);
  if (planner::combines(operation)) elements.add_to(app);
  if (planner::can_have_schedule(operation)) add_schedule(app, options.schedule);
  if (!is_barrier()) add_files_to(app);
  if (operation == Operation::kAllgather) {
    pull.operation = operation;
    pull.add_to(app);
  } else if (!is_barrier()) {
    pull.learning.add_cache_to(app);
  }
  if (!is_barrier()) {
    app.add("--verify", arguments.verify,
            planner::combines(operation) ? "check every element of the result"
                                         : "check every received byte");
  }
  app.add("--compare-mpi", arguments.compare,
          fmt::format("time {}{} in alternation, and print the ratio",
                      runtime::library_function(operation),
                      is_barrier() ? "" : " of the same message"));
}

void CollectiveCommand::add_files_to(Arguments& app) {
  const std::string replaced = "; {rank}, {node} and {host} are replaced";
  const std::string each = "; with {rank}, {node} or {host}, a file or folder for each rank";
  std::string in = "file of each rank, of any size" + replaced;
  std::string out = "output file of each rank" + replaced;
  if (operation == Operation::kScatter) {
    in = "file on the plan's root, of which every rank gets a part, or folder, of which it gets "
         "whole files, by the plan's shares" +
         each;
    out = "output file or folder of each rank" + replaced;
  } else if (operation == Operation::kGather || operation == Operation::kAllgather) {
    in = "file of each rank, of any size, or folder" + replaced;
  } else if (operation == Operation::kAlltoall) {
    in += ". It is divided by the plan's shares into parts for all ranks";
  } else if (planner::combines(operation)) {
    in = "file of each rank, whole elements and of one size" + replaced;
  }
  const std::string joined = ": the parts in the order of the ranks";
  const std::string folder = ", or a folder with the contents of all folders";
  if (operation == Operation::kGather) {
    out = "output file on the plan's root" + joined + folder + each;
  } else if (operation == Operation::kReduce) {
    out = "output file on the plan's root";
  } else if (operation == Operation::kAllgather) {
    out += joined + folder;
  } else if (operation == Operation::kAlltoall) {
    out += joined;
  }
  app.add("--in", files.in, in, {.type = "FILE"});
  app.add("--out", files.out, out, {.type = "FILE"});
}

void CollectiveCommand::check_files() const {
  if (files.in.empty() != files.out.empty()) {
    throw InputError("--in and --out must be given together");
  }
  if (files.in.empty()) return;
  if (arguments.given_message) {
    throw InputError("--message and --in are given; give one of them");
  }
  if (arguments.compare) throw InputError("--compare-mpi needs a --message; leave out --in");
  if (arguments.verify && planner::combines(operation)) {
    throw InputError("--verify of what is combined needs a --message; leave out --in");
  }
  if (!arguments.decisions.empty()) {
    throw InputError("--decisions needs a --message; leave out --in");
  }
  if (files.in == "-" || files.out == "-") {
    throw InputError("--in and --out need file names; - is not supported");
  }
}

void CollectiveCommand::check() {
  arguments.running.write_to(options);
  if (is_barrier()) {
    if (arguments.given_message) throw InputError("--message: a barrier has none");
    arguments.given_message = Bytes{0};
  }
  if (pulls()) {
    refuse_needing_plan(arguments, {});
  } else {
    arguments.check(options);
    if (!arguments.has_no_plan()) pull.refuse_given();
  }
  check_files();
  if (planner::combines(operation)) {
    require_whole("--message", arguments.message(), elements.read());
  }
}

planner::Plan CollectiveCommand::plan_of_known() const {
  const int root = checked_rank(job.comm, "--root", arguments.root);
  const Bytes message = files.in.empty() ? arguments.message() : Bytes{0};
  const bool notes = runtime::rank_in(job.comm) == 0 && !arguments.quiet;
  if (arguments.groups.empty() && !is_barrier()) {
    Learning learning(job.comm, pull.learning, {operation, root}, pullers_of_ranks(job, true),
                      message.value, *job.watchdog);
    if (const auto plan = learning.plan()) {
      if (notes) fmt::print(stderr, "espalier-mpi: a plan of the network that pulls have learnt\n");
      return *plan;
    }
  }
  if (notes) fmt::print(stderr, "espalier-mpi: a plan of which ranks share a host\n");
  return topology_plan(job.comm, {operation, root, {}, arguments.groups, message});
}

ExitStatus CollectiveCommand::run() const {
  if (pulls()) return run_pull(job, arguments, {.of_ranks = files}, pull);
  const MPI_Comm comm = job.comm;
  Watchdog& watchdog = *job.watchdog;
  runtime::ReductionOptions with = options;
  watchdog.start(arguments.running.timeout);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const NamedPlan named = arguments.has_no_plan()
                              ? NamedPlan{{}, plan_of_known(), arguments.running.segment_bytes()}
                              : plan_of_run(comm, arguments, operation, with);
  if (with.rounds && !planner::has_parts(operation)) {
    engine::require_rounds(named.plan, display_name(arguments.plan));
  }
  if (with.schedule) engine::require_timetable(named.plan, display_name(arguments.plan));

  ProgressBar bar(runtime::rank_in(comm) == 0 && !arguments.quiet, named.plan.throughput);
  if (files.in.empty()) bar.expect(arguments.message().value);
  with.on_progress = bar.shown_by(watchdog);
  Tracing tracing(comm, arguments, watchdog);
  with.transfers = tracing.log();
  watchdog.expect(
      fmt::format("waiting for all ranks to set up the {}",
                  planner::reduces(operation) ? "reduction" : planner::name_of(operation)),
      kOwnTimeoutFirst);
  Figures figures;
  std::string node;
  if (files.in.empty()) {
    TimedOperation of_plan =
        timed_collective(comm, operation, std::span(&named, 1), with, elements.read());
    node = of_plan.candidates.back().node;
    figures = time_message(comm, std::move(of_plan), arguments, watchdog);
  } else {
    std::vector<runtime::Collective> bound;
    bind_plans(comm, std::span(&named, 1), with, bound);
    figures =
        move_files(comm, mover_of(bound.front(), elements.read()), arguments, files, bar, watchdog);
    node = bound.front().node();
  }
  if (planner::combines(operation)) {
    const Elements of = elements.read();
    figures.op = name_of(of.op);
    figures.type = name_of(of.type);
  }
  bar.end();
  tracing.write(node);
  if (runtime::rank_in(comm) == 0)
    print_report(figures_report(named.plan, figures), arguments.json);
  return ExitStatus::kDone;
}

}  // namespace

void add_collectives(Arguments root, const Job& job) {
  for (const Operation operation : planner::kOperationsAndBarrier) {
    if (operation == Operation::kBroadcast) continue;
    root.add_command<CollectiveCommand>(
        std::string(planner::name_of(operation)),
        fmt::format("run {} plan on the ranks of this mpirun{}", planner::with_article(operation),
                    operation == Operation::kAllgather ? "; without PLAN, ranks pull"
                                                       : "; without PLAN, one is made"),
        job, operation);
  }
}

}  // namespace espalier::cli
