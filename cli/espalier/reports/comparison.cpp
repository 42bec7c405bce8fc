#include "cli/espalier/reports/comparison.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/common/table.hpp"
#include "cli/espalier/run.hpp"
#include "support/quantities.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {

namespace {

std::string rate_cell(double rate_Bps) {
  return std::isnan(rate_Bps) ? "-" : format_rate(BytesPerSecond{rate_Bps});
}

std::string duration_cell(double seconds) {
  return std::isnan(seconds) ? "-" : format_duration(Seconds{seconds});
}

std::string table_of(const Comparison& comparison) {
  std::string text =
      fmt::format("{} {} {}, {}: ", comparison.platform, relation_to_source(comparison.operation),
                  comparison.source, comparison.model);
  if (!comparison.error.empty()) return text + comparison.error + '\n';
  text += fmt::format("optimum {}, {} {}\n", rate_cell(comparison.optimum_Bps),
                      comparison.bound_final ? "proven bound" : "bound (not final)",
                      rate_cell(comparison.bound_Bps));
  Table table({{"algorithm", Table::Align::kLeft},
               {"trees"},
               {"throughput"},
               {"relative"},
               {"depth"},
               {"makespan"},
               {"seconds"},
               {"", Table::Align::kLeft}});
  for (const ComparisonRow& row : comparison.rows) {
    const bool failed = !row.error.empty();
    table.add_row({row.algorithm, failed ? "-" : std::to_string(row.trees),
                   rate_cell(row.throughput_Bps), fixed(row.relative, 4),
                   failed ? "-" : std::to_string(row.depth), duration_cell(row.makespan_s),
                   fixed(row.seconds, 3), row.error});
  }
  return text + table.text();
}

std::string table_of(const std::vector<ComparisonSummary>& summaries) {
  Table table({{"relative to the bound", Table::Align::kLeft},
               {"instances"},
               {"mean"},
               {"deviation"},
               {"worst"},
               {"failed"}});
  for (const ComparisonSummary& summary : summaries) {
    table.add_row({summary.algorithm, std::to_string(summary.instances), fixed(summary.mean, 4),
                   fixed(summary.deviation, 4), fixed(summary.worst, 4),
                   std::to_string(summary.failures)});
  }
  return table.text();
}

ComparisonSummary summary_of(const std::string& algorithm, const std::vector<double>& relatives,
                             std::size_t failures) {
  const Spread spread = spread_of(relatives);
  return {.algorithm = algorithm,
          .instances = spread.count,
          .failures = failures,
          .mean = spread.mean,
          .deviation = spread.deviation,
          .worst = spread.least};
}

Json json_of(const Comparison& comparison) {
  Json json{{"operation", planner::name_of(comparison.operation)},
            {"platform", comparison.platform},
            {"source", comparison.source},
            {"model", comparison.model},
            {"optimum_Bps", comparison.optimum_Bps},
            {"bound_Bps", comparison.bound_Bps},
            {"bound_final", comparison.bound_final},
            {"rows", Json::array()}};
  if (!comparison.error.empty()) json["error"] = comparison.error;
  for (const ComparisonRow& row : comparison.rows) {
    const Json makespan = std::isnan(row.makespan_s) ? Json() : Json(row.makespan_s);
    Json entry{
        {"algorithm", row.algorithm}, {"trees", row.trees}, {"throughput_Bps", row.throughput_Bps},
        {"relative", row.relative},   {"depth", row.depth}, {"makespan_s", makespan},
        {"seconds", row.seconds}};
    if (!row.error.empty()) entry["error"] = row.error;
    json["rows"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::vector<ComparisonSummary> summarise(const std::vector<Comparison>& comparisons) {
  std::vector<std::string> names;
  for (const Comparison& comparison : comparisons) {
    if (!comparison.rows.empty() && names.empty()) {
      for (const ComparisonRow& row : comparison.rows) names.push_back(row.algorithm);
    }
  }
  std::vector<ComparisonSummary> summaries;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<double> relatives;
    for (const Comparison& comparison : comparisons) {
      if (i < comparison.rows.size() && !std::isnan(comparison.rows[i].relative)) {
        relatives.push_back(comparison.rows[i].relative);
      }
    }
    summaries.push_back(summary_of(names[i], relatives, comparisons.size() - relatives.size()));
  }
  return summaries;
}

std::string comparison_tables(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& comparison : comparisons) {
    if (!text.empty()) text += '\n';
    text += table_of(comparison);
  }
  if (comparisons.size() > 1) text += '\n' + table_of(summarise(comparisons));
  return text;
}

std::string comparison_csv(const std::vector<Comparison>& comparisons) {
  std::string text = csv_line({"platform", "source", "model", "optimum_Bps", "bound_Bps",
                               "algorithm", "trees", "throughput_Bps", "relative", "depth",
                               "makespan_s", "seconds", "error", "operation", "bound_final"});
  for (const Comparison& comparison : comparisons) {
    const std::vector<std::string> instance{comparison.platform, comparison.source,
                                            comparison.model, exact(comparison.optimum_Bps),
                                            exact(comparison.bound_Bps)};
    std::vector<ComparisonRow> rows = comparison.rows;
    if (!comparison.error.empty()) rows.push_back({.error = comparison.error});
    for (const ComparisonRow& row : rows) {
      const bool failed = !row.error.empty();
      std::vector<std::string> cells = instance;
      for (const std::string& cell :
           {row.algorithm, failed ? "" : std::to_string(row.trees), exact(row.throughput_Bps),
            exact(row.relative), failed ? "" : std::to_string(row.depth), exact(row.makespan_s),
            exact(row.seconds), row.error, std::string(planner::name_of(comparison.operation)),
            std::string(comparison.bound_final ? "true" : "false")}) {
        cells.push_back(cell);
      }
      text += csv_line(cells);
    }
  }
  return text;
}

Json comparison_json(const std::vector<Comparison>& comparisons) {
  if (comparisons.size() == 1) return json_of(comparisons.front());
  Json json{{"instances", Json::array()}, {"summary", Json::array()}};
  for (const Comparison& comparison : comparisons) json["instances"].push_back(json_of(comparison));
  for (const ComparisonSummary& summary : summarise(comparisons)) {
    json["summary"].push_back({{"algorithm", summary.algorithm},
                               {"instances", summary.instances},
                               {"mean", summary.mean},
                               {"deviation", summary.deviation},
                               {"worst", summary.worst},
                               {"failures", summary.failures}});
  }
  return json;
}

}  // namespace espalier::cli
