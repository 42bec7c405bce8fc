#include "cli/espalier_mpi/commands/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/espalier_mpi/options/decided.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cli/espalier_mpi/run/buffer.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;
using runtime::check;

// A test message in memory; `predicted_time` is the plan's predicted time for it. Throws
// CheckFailed on all ranks when an element differs.
Figures reduce_message(MPI_Comm comm, runtime::Reduction& reduction,
                       const ReduceArguments& arguments, Seconds predicted_time,
                       Watchdog& watchdog) {
  const int rank = runtime::rank_in(comm);
  const int ranks = runtime::size_of(comm);
  const Elements elements = arguments.elements;
  const std::uint64_t bytes = arguments.message.value;
  const std::size_t count = bytes / bytes_of(elements.type);
  const bool everywhere = arguments.operation == Operation::kAllreduce;
  const bool has_result = everywhere || rank == reduction.root();
  const std::uint64_t result_bytes = has_result ? bytes : 0;
  watchdog.expect("waiting for all ranks to have memory for the message");
  const auto own = allocate_message(comm, bytes, "--message", everywhere ? 2 : 1);
  const auto result_of_reduce = allocate_message(comm, everywhere ? 0 : result_bytes, "--message");
  std::byte* const result = everywhere ? own.get() + bytes : result_of_reduce.get();

  Figures figures{
      bytes, reduction.segment_bytes(bytes, bytes_of(elements.type)), {}, {}, arguments.verify};
  figures.library = everywhere ? "MPI_Allreduce" : "MPI_Reduce";
  figures.op = name_of(elements.op);
  figures.type = name_of(elements.type);

  // Touches the pages before the timing, and clears the result.
  std::uint64_t round = 0;
  const ReportTimer timer(comm, reduction.root(), predicted_time, arguments.timeout, watchdog);
  const auto timed = [&](const ReportTimer::Act& act) {
    watchdog.pause();  // while the elements are filled, and checked
    if (arguments.verify || round == 0) {
      fill_elements({own.get(), bytes}, elements, rank, round);
      std::fill_n(result, result_bytes, static_cast<std::byte>(0xA5 ^ rank));
    }
    const double seconds = timer.seconds_of(act);
    if (arguments.verify) {
      runtime::collective_try(
          comm,
          [&] {
            const auto wrong = find_wrong_element({result, result_bytes}, elements, ranks, round);
            if (wrong) throw CheckFailed(*wrong);
          },
          true);
    }
    ++round;
    return seconds;
  };

  const MPI_Datatype type = mpi_type(elements.type);
  const MPI_Op op = mpi_op(elements.op);
  const ReportTimer::Act ours{[&] {
                                watchdog.expect(kReducing, predicted_time);
                                reduction.run(own.get(), result, count, type, op);
                              },
                              {}};
  const ReportTimer::Act theirs{[&] {
                                  runtime::reduce_by_library(comm, arguments.operation,
                                                             reduction.root(), own.get(), result,
                                                             count, type, op);
                                },
                                "waiting in " + figures.library};
  if (arguments.compare) {  // sets up the connections and caches of both
    timed(ours);
    timed(theirs);
  }
  for (std::size_t i = 0; i < arguments.repeat; ++i) {
    figures.seconds.push_back(timed(ours));
    if (arguments.compare) figures.mpi_seconds.push_back(timed(theirs));
  }
  return figures;
}

}  // namespace

void run_reduce(MPI_Comm comm, ReduceArguments arguments, Watchdog& watchdog) {
  const int rank = runtime::rank_in(comm);
  watchdog.expect("waiting for the plan, which rank 0 reads");
  const planner::Plan plan = plan_of_run(comm, arguments, arguments.operation, arguments.reduction);

  ProgressBar bar(rank == 0 && !arguments.quiet, plan.throughput);
  bar.expect(arguments.message.value);
  // A rank may wait for any segment as long as for its first one.
  const Seconds predicted_time{static_cast<double>(arguments.message.value) /
                               plan.throughput.value};
  arguments.reduction.on_progress = [&](std::uint64_t bytes) {
    bar.show(bytes);
    watchdog.expect(kReducing, predicted_time);
  };
  watchdog.expect("waiting for all ranks to set up the reduction");
  runtime::Reduction reduction(comm, plan, arguments.reduction);
  const Figures figures = reduce_message(comm, reduction, arguments, predicted_time, watchdog);
  bar.end();
  if (rank != 0) return;
  fmt::print("{}", arguments.json ? figures_json(plan, figures) : figures_text(plan, figures));
  std::fflush(stdout);
}

}  // namespace espalier::cli
