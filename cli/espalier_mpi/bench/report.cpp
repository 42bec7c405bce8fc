#include "cli/common/report.hpp"

#include <fmt/format.h>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/quantities.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

double rate_of(const BenchRow& row, double seconds) {
  return seconds > 0 ? static_cast<double>(row.message_bytes) / seconds : 0;
}

double ratio_of(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0;
}

std::string what_ran(const BenchFigures& figures) {
  const std::string ranks = counted(static_cast<std::uint64_t>(figures.ranks), "rank");
  switch (figures.operation) {
    case planner::Operation::kReduce:
      return fmt::format("reduce from {}, {} of {}", ranks, figures.op, figures.type);
    case planner::Operation::kAllreduce:
      return fmt::format("allreduce from and to {}, {} of {}", ranks, figures.op, figures.type);
    case planner::Operation::kReduceScatter:
      return fmt::format("reduce-scatter among {}, {} of {}", ranks, figures.op, figures.type);
    case planner::Operation::kAllgather:
    case planner::Operation::kScatter:
    case planner::Operation::kGather:
    case planner::Operation::kAlltoall:
    case planner::Operation::kBarrier:
      return fmt::format("{} among {}", planner::name_of(figures.operation), ranks);
    case planner::Operation::kBroadcast:
      break;
  }
  return "broadcast to " + ranks;
}

Rows rows_of(const BenchFigures& figures) {
  Rows rows({{"message", "message_bytes"},
             left("method", "method"),
             written("algorithm"),
             {"segments", "segment_bytes"},
             written("slice_bytes"),
             written("seconds"),
             {"lower", "lower_s"},
             {"median", "median_s"},
             {"upper", "upper_s"},
             {"rate", "achieved_Bps"},
             {"times MPI's", "relative_to_mpi"},
             {"predicted", "predicted_s"},
             {"of median", "of_median"}});
  rows.order_text({"message_bytes", "method", "segment_bytes", "median_s", "lower_s", "upper_s",
                   "achieved_Bps", "relative_to_mpi", "predicted_s", "of_median"});
  for (const BenchRow& row : figures.rows) {
    const Quartiles quartiles = quartiles_of(row.seconds);
    const double median = quartiles.median;
    const BytesPerSecond rate{rate_of(row, median)};
    const Cell segment = row.segment_bytes ? Cell(Bytes{*row.segment_bytes}) : Cell("-", Json());
    rows.add(
        {Bytes{row.message_bytes}, row.method,
         row.algorithm.empty() ? Cell("-", Json()) : Cell(row.algorithm), segment, segment,
         written_only(row.seconds), Seconds{quartiles.lower}, Seconds{median},
         Seconds{quartiles.upper}, Cell(short_rate(rate), rate.value),
         row.mpi_median_s ? decimal(ratio_of(*row.mpi_median_s, median), 2) : Cell("-", Json()),
         Cell(row.predicted_time),
         shown_only(row.predicted_time ? percent(ratio_of(row.predicted_time->value, median))
                                       : "-")});
  }
  return rows;
}

void add_tuned(const BenchFigures& figures, Report& report) {
  Rows tuned({written("message_bytes"), written("segment_bytes"), written("slice_bytes"),
              written("median_s"), written("default_median_s")});
  for (const auto& [segment, default_median_s] : figures.best) {
    tuned.add({segment.message_bytes, segment.segment_bytes, segment.segment_bytes,
               decimal(segment.median_s), decimal(default_median_s)});
    report.say(
        fmt::format("tuned: {} in segments of {}, {} times as fast as by default\n",
                    format_size({segment.message_bytes}), format_size({segment.segment_bytes}),
                    fixed(ratio_of(default_median_s, segment.median_s), 2)),
        /*joined=*/true);
  }
  if (!tuned.empty()) report.write("tuned", tuned.json());
}

// How many times as fast the choice is as another method.
Cell times_as_fast(const DecidedMessage& one, std::optional<Seconds> other) {
  if (!one.median || !other) return Cell("-", Json());
  return decimal(ratio_of(other->value, one.median->value), 2);
}

void add_decided(const BenchFigures& figures, Report& report) {
  if (figures.decided.empty()) return;
  Rows rows({{"message", "message_bytes"},
             left("decided", "method"),
             {"median", "median_s"},
             {"times MPI's", "relative_to_mpi"},
             left("by the model", "modelled"),
             {"times its", "relative_to_modelled"}});
  for (const DecidedMessage& one : figures.decided) {
    rows.add({one.message, one.chosen, Cell(one.median), times_as_fast(one, one.mpi_median),
              one.modelled, times_as_fast(one, one.modelled_median)});
  }
  report.add("decisions", rows);
}

Report report_of(const BenchFigures& figures) {
  Report report;
  report.write("operation", planner::name_of(figures.operation));
  if (!figures.op.empty()) {
    report.write("op", figures.op);
    report.write("type", figures.type);
  }
  report.write("ranks", figures.ranks);
  report.write("warm_up", figures.warm_up);
  report.write("verified", figures.verified);
  const std::size_t rounds = figures.rows.empty() ? 0 : figures.rows[0].seconds.size();
  report.say(fmt::format("{}, {} rounds after {}, {}\n", what_ran(figures), rounds, figures.warm_up,
                         verification_text(figures.operation, figures.verified)),
             /*joined=*/true);
  report.add("rows", rows_of(figures), /*joined=*/true);
  add_tuned(figures, report);
  add_decided(figures, report);
  return report;
}

}  // namespace

void print_figures(MPI_Comm comm, const BenchFigures& figures, bool json) {
  if (runtime::rank_in(comm) == 0) print_report(report_of(figures), json);
}

}  // namespace espalier::cli
