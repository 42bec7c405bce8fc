#include <fmt/format.h>

#include "cli/common/table.hpp"
#include "cli/espalier_mpi/bench/bench.hpp"
#include "support/json.hpp"
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
    case planner::Operation::kBroadcast:
      break;
  }
  return "broadcast to " + ranks;
}

}  // namespace

std::string bench_json(const BenchFigures& figures) {
  Json json;
  json["operation"] = planner::name_of(figures.operation);
  if (!figures.op.empty()) {
    json["op"] = figures.op;
    json["type"] = figures.type;
  }
  json["ranks"] = figures.ranks;
  json["warm_up"] = figures.warm_up;
  json["verified"] = figures.verified;
  json["rows"] = Json::array();
  for (const BenchRow& row : figures.rows) {
    const Quartiles quartiles = quartiles_of(row.seconds);
    Json one;
    one["message_bytes"] = row.message_bytes;
    one["method"] = row.method;
    one["algorithm"] = row.algorithm.empty() ? Json(nullptr) : Json(row.algorithm);
    one["segment_bytes"] = row.segment_bytes ? Json(*row.segment_bytes) : Json(nullptr);
    one["slice_bytes"] = one["segment_bytes"];
    one["seconds"] = row.seconds;
    one["lower_s"] = quartiles.lower;
    one["median_s"] = quartiles.median;
    one["upper_s"] = quartiles.upper;
    one["achieved_Bps"] = rate_of(row, quartiles.median);
    one["relative_to_mpi"] =
        row.mpi_median_s ? Json(ratio_of(*row.mpi_median_s, quartiles.median)) : Json(nullptr);
    one["predicted_s"] = row.predicted_time ? Json(row.predicted_time->value) : Json(nullptr);
    json["rows"].push_back(std::move(one));
  }
  for (const BestSegment& best : figures.best) {
    Json one = {{"message_bytes", best.segment.message_bytes},
                {"segment_bytes", best.segment.segment_bytes},
                {"slice_bytes", best.segment.segment_bytes},
                {"median_s", best.segment.median_s},
                {"default_median_s", best.default_median_s}};
    json["tuned"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

std::string bench_text(const BenchFigures& figures) {
  using Align = Table::Align;
  Table table({{"message", Align::kRight},
               {"method", Align::kLeft},
               {"segments", Align::kRight},
               {"median", Align::kRight},
               {"lower", Align::kRight},
               {"upper", Align::kRight},
               {"rate", Align::kRight},
               {"times MPI's", Align::kRight},
               {"predicted", Align::kRight},
               {"of median", Align::kRight}});
  for (const BenchRow& row : figures.rows) {
    const Quartiles quartiles = quartiles_of(row.seconds);
    const double median = quartiles.median;
    table.add_row(
        {format_size({row.message_bytes}), row.method,
         row.segment_bytes ? format_size({*row.segment_bytes}) : "-", format_duration({median}),
         format_duration({quartiles.lower}), format_duration({quartiles.upper}),
         short_rate({rate_of(row, median)}),
         row.mpi_median_s ? fixed(ratio_of(*row.mpi_median_s, median), 2) : "-",
         row.predicted_time ? format_duration(*row.predicted_time) : "-",
         row.predicted_time ? percent(ratio_of(row.predicted_time->value, median)) : "-"});
  }
  const std::size_t rounds = figures.rows.empty() ? 0 : figures.rows[0].seconds.size();
  const bool at_root = figures.operation == planner::Operation::kReduce;
  std::string tuned;
  for (const auto& [segment, default_median_s] : figures.best) {
    tuned += fmt::format("tuned: {} in segments of {}, {} times as fast as by default\n",
                         format_size({segment.message_bytes}), format_size({segment.segment_bytes}),
                         fixed(ratio_of(default_median_s, segment.median_s), 2));
  }
  return fmt::format("{}, {} rounds after {}, {}\n", what_ran(figures), rounds, figures.warm_up,
                     !figures.verified ? "not verified"
                     : at_root         ? "verified on the root"
                                       : "verified on every rank") +
         table.text() + tuned;
}

}  // namespace espalier::cli
