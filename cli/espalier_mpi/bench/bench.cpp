#include "cli/espalier_mpi/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/espalier_mpi/options/options.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

struct BenchCommand {
  Job job{};
  TimingOptions timing{};
  std::vector<std::string> plans{};  // files; none: time only MPI's own function
  std::vector<std::string> tuned{};  // files of tuned segments, each for one of the plans
  // unset: the first plan's, or a broadcast if there is no plan
  std::optional<planner::Operation> operation{};

  void add_to(Arguments& app);
  void check();
  [[nodiscard]] ExitStatus run() const;
};

// A file that is given twice gets two rows: "plan.json" and "plan.json (2)".
std::string row_name(const std::string& file, std::span<const NamedPlan> earlier) {
  std::string name = file;
  for (int n = 2; std::ranges::find(earlier, name, &NamedPlan::name) != earlier.end(); ++n) {
    name = fmt::format("{} ({})", file, n);
  }
  return name;
}

// Reads the plan files, and the tuned segments, each of which is for one of the plans.
std::vector<NamedPlan> read_plans(const BenchCommand& command) {
  const MPI_Comm comm = command.job.comm;
  std::vector<NamedPlan> plans;
  for (const std::string& file : command.plans) {
    plans.push_back({row_name(display_name(file), plans),
                     runtime::share_plan(comm, file, planner::Roots::kAny),
                     command.timing.running.segment_bytes()});
  }
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  const std::size_t hosts = runtime::count_hosts(comm);
  std::vector<std::string> identities;
  if (!command.tuned.empty()) {
    for (const NamedPlan& one : plans) identities.push_back(runtime::identity_of(comm, one.plan));
  }
  for (const std::string& file : command.tuned) {
    const runtime::TunedSegments segments = runtime::share_tuned(comm, file);
    if (plans.empty()) throw InputError("--tuned needs a plan; give PLAN");
    const auto found = std::ranges::find(identities, segments.plan);
    const std::size_t which =
        found == identities.end() ? 0 : static_cast<std::size_t>(found - identities.begin());
    plans[which].tuned =
        runtime::segments_of(segments, identities[which], ranks, hosts, display_name(file));
  }
  return plans;
}

void BenchCommand::add_to(Arguments& app) {
  static const std::vector<std::string_view> names = names_of(planner::kOperationsAndBarrier);
  app.add("PLAN", plans,
          "plan files for one operation, read by rank 0 only; none: time only MPI's own function",
          {.type = "FILE"});
  app.add("--operation", operation, one_named<planner::Operation>("operation", names),
          one_of(names) + " (default: the plans')");
  constexpr const char* kDefault = "64KiB..256MiB:4";
  timing.sizes = parse_sizes(kDefault);
  timing.rounds.option = "--sizes";
  app.add("--sizes,--message", timing.sizes, parse_sizes, kSizesHelp,
          {.type = "LIST", .shown = kDefault});
  timing.running.add_segment_to(app);
  timing.add_to(app);
  app.add("--by-leaders", timing.by_leaders,
          "also time alltoalls in which one rank of each host sends for all (TAC's two)");
  add_tuned_option(app, tuned);
}

void BenchCommand::check() {
  timing.check();
  check_tuned(tuned, timing.running.segment, timing.broadcast);
}

ExitStatus BenchCommand::run() const {
  Watchdog& watchdog = *job.watchdog;
  const TimingOptions watched = timing.watched_by(watchdog);
  watchdog.start(timing.running.timeout);
  watchdog.expect(
      "waiting for all ranks to have the plans",
      {kOwnTimeoutFirst.value * static_cast<double>(std::max<std::size_t>(plans.size(), 1))});
  const std::vector<NamedPlan> all = read_plans(*this);
  const planner::Operation chosen =
      operation.value_or(all.empty() ? planner::Operation::kBroadcast : all[0].plan.operation);
  for (const NamedPlan& one : all) planner::require_operation(one.plan, chosen, one.name);
  const TimedOperation timed = timed_operation(job.comm, all, chosen, watched);
  BenchFigures figures = empty_figures(job.comm, chosen, timing);
  const std::vector<Bytes> sizes =
      chosen == planner::Operation::kBarrier ? std::vector{Bytes{0}} : timing.sizes;
  measure(job.comm, timed, sizes, timing, watchdog, figures);
  print_figures(job.comm, figures, timing.json);
  return ExitStatus::kDone;
}

}  // namespace

void add_bench(Arguments root, const Job& job) {
  root.add_command<BenchCommand>("bench", "time plans and MPI's own function alternately", job);
}

void TimingOptions::add_to(Arguments& app) {
  app.add("--repeat", rounds.timed, "timed rounds of each size", {.range = Range{1, kMostRepeats}});
  app.add("--warm-up", rounds.warm_up, "untimed rounds before them",
          {.range = Range{0, kMostRepeats}});
  app.add("--verify", rounds.verify, "check every byte, or element, of the output");
  app.add("--json", json, "figures as JSON on standard output");
  elements.add_to(app);
  running.add_to(app, broadcast);
  add_schedule(app, broadcast.schedule);
}

void TimingOptions::check() {
  running.write_to(broadcast);
  rounds.timeout = running.timeout;
  static_cast<void>(elements.read());
}

TimingOptions TimingOptions::watched_by(const Watchdog& watchdog) const {
  TimingOptions watched = *this;
  watched.broadcast.on_progress = [&watchdog](std::uint64_t) { watchdog.note_progress(); };
  return watched;
}

TimedOperation timed_operation(MPI_Comm comm, std::span<const NamedPlan> plans,
                               planner::Operation operation, const TimingOptions& options) {
  if (!planner::combines(operation) && (options.elements.type || options.elements.op)) {
    throw InputError(fmt::format("{} is for reductions", options.elements.op ? "--op" : "--type"));
  }
  if (operation != planner::Operation::kAlltoall && options.by_leaders) {
    throw InputError("--by-leaders is for alltoalls");
  }
  if (operation == planner::Operation::kBroadcast) {
    return timed_broadcast(comm, plans, bind_broadcasts(comm, plans, options.broadcast));
  }
  runtime::ReductionOptions reduction;
  options.running.write_to(reduction);
  reduction.schedule = options.broadcast.schedule;
  reduction.on_progress = options.broadcast.on_progress;
  const Elements elements = options.elements.read();
  if (planner::combines(operation)) {
    for (const Bytes size : options.sizes) require_whole(options.rounds.option, size, elements);
  }
  return timed_collective(comm, operation, plans, reduction, elements, options.by_leaders);
}

BenchFigures empty_figures(MPI_Comm comm, planner::Operation operation,
                           const TimingOptions& options) {
  BenchFigures figures{.operation = operation,
                       .ranks = runtime::size_of(comm),
                       .warm_up = options.rounds.warm_up,
                       .verified = options.rounds.verify};
  if (planner::combines(operation)) {
    const Elements elements = options.elements.read();
    figures.op = name_of(elements.op);
    figures.type = name_of(elements.type);
  }
  return figures;
}

void measure(MPI_Comm comm, const TimedOperation& operation, std::span<const Bytes> sizes,
             const TimingOptions& options, Watchdog& watchdog, BenchFigures& figures) {
  AlternatingTimer timer(comm, operation, std::ranges::max(sizes), options.rounds, watchdog);
  for (const Bytes size : sizes) {
    const std::vector<std::vector<double>> seconds = timer.seconds_of(size);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const Candidate& one = operation.candidates[i];
      BenchRow row{size.value, one.name, seconds[i], {}, {}, {}, one.algorithm};
      if (!one.is_mpi()) {
        row.segment_bytes = one.segment_bytes(size.value);
        row.predicted_time = one.predicted_time(size.value);
      }
      if (i > 0 && operation.candidates[0].is_mpi()) row.mpi_median_s = median_of(seconds[0]);
      figures.rows.push_back(std::move(row));
    }
  }
}

}  // namespace espalier::cli
