// espalier-mpi tune: finds the best segment sizes for a plan by running it.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/commands/tune_algorithms.hpp"
#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/options/simulated.hpp"
#include "cli/espalier_mpi/reports/output.hpp"
#include "planner/plan/segment_choice.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefault = "by default";
constexpr int kPercents[] = {0, -20, -10, 10, 20};  // around the centre

struct TuneCommand {
  Job job{};
  std::string plan{};  // file; empty: algorithms are tuned
  // File of tuned segments; empty: beside the plan. Or of decisions.
  std::string out{};
  AlgorithmOptions algorithms{};
  // Platform file for simulating the segment around which others are tried; empty: none.
  std::string platform{};
  bool around_plan_segment = false;  // instead: the plan's own
  // timing.sizes: the messages to tune for. timing.running.segment: instead: this segment. If none
  // of the three is given: the segment that the formula predicts.
  TimingOptions timing{};

  void add_to(Arguments& app);
  void check();
  [[nodiscard]] ExitStatus run() const;

 private:
  void check_plan();
  void check_algorithms();
};

// The segment with the least time by the formula of planner/plan/segment_choice.hpp.
std::uint64_t predicted_segment(const planner::Plan& plan, Bytes message, std::size_t hosts) {
  planner::SegmentCosts costs;
  if (hosts > 1) costs.eager = runtime::kEagerOverTcp;
  return planner::Pipeline(plan).fitted_segment(message, costs);
}

// The segment around which others are tried.
struct Centre {
  std::string name;
  std::uint64_t segment_bytes;
};

// Collective: one for each message. Rank 0 simulates.
std::vector<Centre> centres_for(MPI_Comm comm, const TuneCommand& arguments,
                                const planner::Plan& plan, std::size_t hosts, Watchdog& watchdog) {
  const std::vector<Bytes>& messages = arguments.timing.sizes;
  std::vector<Centre> centres;
  if (arguments.platform.empty()) {
    for (const Bytes message : messages) {
      if (arguments.around_plan_segment) {
        centres.push_back({"the plan's", plan.segment.value});
      } else if (arguments.timing.running.segment) {
        centres.push_back({"--segment", arguments.timing.running.segment->value});
      } else {
        centres.push_back({"predicted", predicted_segment(plan, message, hosts)});
      }
    }
    return centres;
  }
  constexpr double kMostForOne = 120;  // simulating a thousand ranks
  watchdog.expect("waiting for rank 0, which simulates",
                  {kMostForOne * static_cast<double>(messages.size())});
  std::vector<std::uint64_t> segments(messages.size());
  runtime::collective_try(comm, [&] {
    if (runtime::rank_in(comm) == 0)
      segments = simulated_segments(arguments.platform, plan, messages);
  });
  runtime::check(
      MPI_Bcast(segments.data(), static_cast<int>(segments.size()), MPI_UINT64_T, 0, comm),
      "MPI_Bcast");
  for (const std::uint64_t segment : segments) centres.push_back({"simulated", segment});
  return centres;
}

// The plan in the segments that the executor chooses on its own, and in segments around the centre.
// The latter are passed as tuned segments, so that they are timed as they will be run. (Segments
// that are the same for all messages, as with --segment, cost less.)
std::vector<NamedPlan> candidates(const planner::Plan& plan, Bytes message, const Centre& centre) {
  std::vector<NamedPlan> all = {{kDefault, plan}};
  for (const int percent : kPercents) {
    std::string name = centre.name;
    if (percent != 0) name += fmt::format(" {:+} %", percent);
    const double bytes =
        std::round(static_cast<double>(centre.segment_bytes) * (100 + percent) / 100);
    const double most = static_cast<double>(std::min(message.value, runtime::kLargestSegment));
    const runtime::TunedSegment segment{
        message.value, static_cast<std::uint64_t>(std::clamp(bytes, 1.0, most)), 0};
    all.push_back({std::move(name), plan, 0, {segment}});
  }
  return all;
}

// Drops MPI's own function, and candidates that would cut the message as an earlier one does.
void drop_redundant(TimedOperation& operation, Bytes message) {
  operation.drop_mpi();
  std::set<std::uint64_t> seen;
  std::erase_if(operation.candidates, [&](const Candidate& one) {
    return !seen.insert(std::min(one.segment_bytes(message.value), message.value)).second;
  });
}

// The best of the rows from `first` on, which are all of one message size.
BestSegment best_of(const BenchFigures& figures, std::size_t first) {
  BestSegment best;
  for (std::size_t i = first; i < figures.rows.size(); ++i) {
    const BenchRow& row = figures.rows[i];
    const double median_s = median_of(row.seconds);
    if (row.method == kDefault) best.default_median_s = median_s;
    if (best.segment.segment_bytes == 0 || median_s < best.segment.median_s) {
      best.segment = {row.message_bytes, *row.segment_bytes, median_s};
    }
  }
  return best;
}

// The results of an earlier tune of the same plan in the same place. On rank 0.
std::vector<runtime::TunedSegment> earlier_segments(const std::string& file,
                                                    const runtime::TunedSegments& now) {
  require_writable(file);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  return runtime::segments_of(runtime::parse_tuned(read_text(file), file), now.plan, now.ranks,
                              now.hosts, file);
}

void TuneCommand::add_to(Arguments& app) {
  timing.rounds.option = "--message";
  app.add("PLAN", plan, "plan file, read by rank 0 only; - is standard input", {.type = "FILE"});
  app.add("--message", timing.sizes, parse_sizes, kSizesHelp, {.type = "LIST", .required = true});
  app.add("-o,--output", out,
          "file of tuned segments, or of decisions, to which the result is added (default: "
          "PLAN.tuned.json, or decisions.json)",
          {.type = "FILE"});
  app.add_text(
      "--segment,--slice",
      [this](const std::string& text) {
        around_plan_segment = text == "plan";
        if (!around_plan_segment) timing.running.segment = read_segment(text);
      },
      "search around this segment; plan: the plan's own (default: the segment from simulation "
      "with --platform, otherwise from a formula)",
      {.type = "SIZE"});
  timing.add_to(app);
  algorithms.add_to(app);
  app.add("--platform", platform,
          "the plan's platform, in Espalier's JSON, read by rank 0 only: search around the segment "
          "that is best by simulation",
          {.type = "FILE"});
}

void TuneCommand::check() {
  for (const Bytes size : timing.sizes) {
    if (size.value == 0)
      throw InputError("--message: an empty message has no segments; give at least 1 byte");
  }
  if (out == "-") throw InputError("-o needs a file name; standard output contains the figures");
  if (algorithms.algorithms.empty()) {
    check_plan();
  } else {
    check_algorithms();
  }
  timing.check();
}

void TuneCommand::check_plan() {
  if (plan.empty()) throw InputError("PLAN is missing; give a plan, or --algorithms all");
  if (!platform.empty() && (around_plan_segment || timing.running.segment)) {
    throw InputError("--platform and --segment both set where to search; give one of them");
  }
  if (timing.running.rounds) throw InputError("--rounds needs the plan's segments; leave it out");
  if (timing.broadcast.schedule) {
    throw InputError("--schedule needs the plan's segments; leave it out");
  }
  if (!out.empty()) return;
  if (plan == "-") throw InputError("-o is required for a plan from standard input");
  out = plan + ".tuned.json";
}

void TuneCommand::check_algorithms() {
  if (!plan.empty()) throw InputError("PLAN and --algorithms are given; give one of them");
  if (!platform.empty() || around_plan_segment || timing.running.segment) {
    throw InputError("--platform and --segment are for a plan; --algorithms has --segments");
  }
  if (timing.running.rounds || timing.broadcast.schedule || timing.running.ports) {
    throw InputError("--rounds, --schedule and --ports are for a plan; leave them out");
  }
  algorithms.check();
  timing.running.direct_copies = false;  // as decisions are followed
  if (out.empty()) out = "decisions.json";
}

ExitStatus TuneCommand::run() const {
  const MPI_Comm comm = job.comm;
  Watchdog& watchdog = *job.watchdog;
  const int rank = runtime::rank_in(comm);
  watchdog.start(timing.running.timeout);
  if (plan.empty()) return tune_algorithms(job, algorithms, timing, out);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const planner::Plan read = runtime::share_plan(comm, plan, planner::Roots::kAny);
  runtime::TunedSegments tuned{runtime::identity_of(comm, read),
                               static_cast<std::size_t>(runtime::size_of(comm)),
                               runtime::count_hosts(comm),
                               {}};
  runtime::collective_try(comm, [&] {
    if (rank == 0) tuned.segments = earlier_segments(out, tuned);
  });
  BenchFigures figures = empty_figures(comm, read.operation, timing);
  const std::vector<Centre> centres = centres_for(comm, *this, read, tuned.hosts, watchdog);
  for (std::size_t i = 0; i < centres.size(); ++i) {
    const Bytes message = timing.sizes[i];
    watchdog.expect("waiting for all ranks to have the plan", kOwnTimeoutFirst);
    TimedOperation operation = timed_operation(comm, candidates(read, message, centres[i]),
                                               read.operation, timing.watched_by(watchdog));
    drop_redundant(operation, message);
    const std::size_t first = figures.rows.size();
    measure(comm, operation, {&message, 1}, timing, watchdog, figures);
    figures.best.push_back(best_of(figures, first));
    runtime::merge(tuned.segments, std::vector{figures.best.back().segment});
    runtime::collective_try(comm, [&] {
      if (rank == 0) write_text(out, runtime::tuned_json(tuned));
    });
  }
  print_figures(comm, figures, timing.json);
  return ExitStatus::kDone;
}

}  // namespace

void add_tune(Arguments root, const Job& job) {
  root.add_command<TuneCommand>(
      "tune", "find the best segments of a plan, or the best algorithms, by running them", job);
}

}  // namespace espalier::cli
