#include "cli/espalier_mpi/commands/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

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
constexpr int kPercents[] = {0, -20, -10, 10, 20};  // about the middle

// What the formula of planner/plan/segment_choice.hpp foresees least time for.
std::uint64_t predicted_segment(const planner::Plan& plan, Bytes message, std::size_t hosts) {
  planner::SegmentCosts costs;
  if (hosts > 1) costs.eager = runtime::kEagerOverTcp;
  return planner::fitted_segment(plan, message, costs);
}

// What the segments that are tried lie about.
struct Middle {
  std::string name;
  std::uint64_t segment_bytes;
};

// Collective: one for each message. Rank 0 simulates.
std::vector<Middle> middles_for(MPI_Comm comm, const TuneArguments& arguments,
                                const planner::Plan& plan, std::size_t hosts, Watchdog& watchdog) {
  const std::vector<Bytes>& messages = arguments.bench.sizes;
  std::vector<Middle> middles;
  if (arguments.platform.empty()) {
    for (const Bytes message : messages) {
      if (arguments.about_the_plans) {
        middles.push_back({"the plan's", plan.segment.value});
      } else if (arguments.bench.segment) {
        middles.push_back({"--segment", arguments.bench.segment->value});
      } else {
        middles.push_back({"predicted", predicted_segment(plan, message, hosts)});
      }
    }
    return middles;
  }
  constexpr double kMostForOne = 120;  // simulating a thousand ranks
  watchdog.expect("waiting for rank 0, which simulates",
                  {kMostForOne * static_cast<double>(messages.size())});
  std::vector<std::uint64_t> segments(messages.size());
  runtime::together(comm, [&] {
    if (runtime::rank_in(comm) == 0)
      segments = simulated_segments(arguments.platform, plan, messages);
  });
  runtime::check(
      MPI_Bcast(segments.data(), static_cast<int>(segments.size()), MPI_UINT64_T, 0, comm),
      "MPI_Bcast");
  for (const std::uint64_t segment : segments) middles.push_back({"simulated", segment});
  return middles;
}

// The plan in segments that the executor chooses by itself, and in those about the middle: as tuned
// ones, so that they are timed as they will be run. (Segments that are the same for all messages,
// as of --segment, cost less.)
std::vector<BenchPlan> candidates(const planner::Plan& plan, Bytes message, const Middle& middle) {
  std::vector<BenchPlan> all = {{kDefault, plan}};
  for (const int percent : kPercents) {
    std::string name = middle.name;
    if (percent != 0) name += fmt::format(" {:+} %", percent);
    const double bytes =
        std::round(static_cast<double>(middle.segment_bytes) * (100 + percent) / 100);
    const double most = static_cast<double>(std::min(message.value, runtime::kLargestSegment));
    const runtime::TunedSegment segment{
        message.value, static_cast<std::uint64_t>(std::clamp(bytes, 1.0, most)), 0};
    all.push_back({std::move(name), plan, 0, {segment}});
  }
  return all;
}

// Leaves out MPI's own, and those that would cut the message as an earlier one does.
void drop_others(BenchOperation& operation, Bytes message) {
  std::set<std::uint64_t> seen;
  std::erase_if(operation.methods, [&](const BenchMethod& method) {
    return method.is_mpis() ||
           !seen.insert(std::min(method.segment_bytes(message.value), message.value)).second;
  });
}

// Of the rows from `first` on, which are all of one size.
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

// What an earlier tune of the same plan, here, has found. On rank 0.
std::vector<runtime::TunedSegment> found_before(const std::string& file,
                                                const runtime::TunedSegments& now,
                                                const planner::Plan& plan) {
  require_writable(file);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  return runtime::segments_of(runtime::parse_tuned(read_text(file), file), plan, now.ranks,
                              now.hosts, file);
}

}  // namespace

void run_tune(MPI_Comm comm, const TuneArguments& arguments, Watchdog& watchdog) {
  const BenchArguments& timing = arguments.bench;
  const int rank = runtime::rank_in(comm);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const planner::Plan plan = runtime::share_plan(comm, arguments.plan);
  runtime::TunedSegments tuned{runtime::identity_of(plan),
                               static_cast<std::size_t>(runtime::size_of(comm)),
                               runtime::count_hosts(comm),
                               {}};
  runtime::together(comm, [&] {
    if (rank == 0) tuned.segments = found_before(arguments.out, tuned, plan);
  });
  BenchFigures figures = no_figures(comm, plan.operation, timing);
  const std::vector<Middle> middles = middles_for(comm, arguments, plan, tuned.hosts, watchdog);
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const Bytes message = timing.sizes[i];
    watchdog.expect("waiting for all ranks to have the plan", timing.timeout.value_or(Seconds{}));
    BenchOperation operation =
        bench_of(comm, candidates(plan, message, middles[i]), plan.operation, timing, watchdog);
    drop_others(operation, message);
    const std::size_t first = figures.rows.size();
    measure_in_turns(comm, operation, {&message, 1}, timing, watchdog, figures);
    figures.best.push_back(best_of(figures, first));
    runtime::merge(tuned.segments, std::vector{figures.best.back().segment});
    runtime::together(comm, [&] {
      if (rank == 0) write_text(arguments.out, runtime::tuned_json(tuned));
    });
  }
  if (rank != 0) return;
  fmt::print("{}", timing.json ? bench_json(figures) : bench_text(figures));
  std::fflush(stdout);
}

}  // namespace espalier::cli
