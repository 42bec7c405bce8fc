#include "cli/espalier/reports/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/common/report.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/run.hpp"
#include "render/charts/line_chart.hpp"
#include "support/quantities.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {

namespace {

Cell cost_cell(const std::optional<planner::PlanCost>& cost) {
  if (!cost) return {"-", Json()};
  return {money_text(cost->per_GB, cost->currency), cost->per_GB};
}

// Whether there is a column of costs.
bool has_costs(const Comparison& comparison) {
  return std::ranges::any_of(comparison.rows,
                             [](const ComparisonRow& row) { return row.cost.has_value(); });
}

// Which columns there are beside those of every comparison.
struct Optional {
  bool costs = false;
  std::optional<Bytes> message{};
};

Rows rows_of(const std::vector<ComparisonRow>& all, const Optional& optional) {
  std::vector<Column> columns{
      left("algorithm", "algorithm"), {"trees", "trees"}, {"throughput", "throughput_Bps"},
      {"relative", "relative"},       {"depth", "depth"}, {"makespan", "makespan_s"},
      {"seconds", "seconds"},         left("", "error")};
  const auto before_seconds = [](auto& list) { return list.end() - 2; };
  if (optional.message) {
    columns.insert(before_seconds(columns),
                   {fmt::format("time of {}", format_size(*optional.message)), "time_s"});
  }
  if (optional.costs) columns.insert(before_seconds(columns), {"cost per GB", "cost_per_GB"});
  Rows rows(std::move(columns));
  for (const auto& [algorithm, row, makespan_s, cost, time_s] : all) {
    const bool failed = !row.error.empty();
    const auto count = [&](std::size_t figure) {
      const Cell cell = figure;
      return failed ? cell.as("-") : cell;
    };
    std::vector<Cell> cells{algorithm,
                            count(row.trees),
                            BytesPerSecond{row.throughput_Bps},
                            decimal(row.relative),
                            count(row.depth),
                            Seconds{makespan_s},
                            took(row.seconds),
                            failed ? Cell(row.error) : shown_only("")};
    if (optional.message) cells.insert(before_seconds(cells), Seconds{time_s});
    if (optional.costs) cells.insert(before_seconds(cells), cost_cell(cost));
    rows.add(std::move(cells));
  }
  return rows;
}

Rows rows_of(const std::vector<FrontierRow>& frontier, const std::string& currency) {
  Rows rows({{"budget per GB", "budget_per_GB"},
             {"throughput", "throughput_Bps"},
             {"bound", "bound_Bps"},
             {"costs", "cost_per_GB"},
             {"trees", "trees"}});
  const auto money = [&](double amount) { return Cell(money_text(amount, currency), amount); };
  for (const FrontierRow& row : frontier) {
    rows.add(
        {money(row.budget_per_GB), row.throughput, row.bound, money(row.cost_per_GB), row.trees});
  }
  return rows;
}

Rows rows_of(const std::vector<DepthRow>& frontier, std::optional<Bytes> message) {
  std::vector<Column> columns{
      {"max depth", "max_depth"}, {"trees", "trees"}, {"throughput", "throughput_Bps"},
      {"relative", "relative"},   {"depth", "depth"}, {"degree", "out_degree"}};
  if (message) columns.push_back({fmt::format("time of {}", format_size(*message)), "time_s"});
  columns.push_back({"seconds", "seconds"});
  Rows rows(std::move(columns));
  for (const DepthRow& row : frontier) {
    const experiments::Row& figures = row.figures;
    std::vector<Cell> cells{row.max_depth > 0 ? Cell(row.max_depth) : Cell("-", Json()),
                            figures.trees,
                            BytesPerSecond{figures.throughput_Bps},
                            decimal(figures.relative),
                            figures.depth,
                            row.out_degree};
    if (message) cells.emplace_back(Seconds{row.time_s});
    cells.push_back(took(figures.seconds));
    rows.add(std::move(cells));
  }
  return rows;
}

// The instance and its rows, or the reason why it has none.
Report report_of(const Comparison& comparison) {
  const Cell optimum = BytesPerSecond{comparison.optimum_Bps};
  const Cell bound = BytesPerSecond{comparison.bound_Bps};
  Report report;
  report.write("operation", planner::name_of(comparison.operation));
  report.write("platform", comparison.platform);
  report.write("source", comparison.source.empty() ? Json() : Json(comparison.source));
  report.write("model", comparison.model);
  report.write("optimum_Bps", *optimum.json);
  report.write("bound_Bps", *bound.json);
  report.write("bound_final", comparison.bound_final);
  const std::string head = fmt::format(
      "{} {}, {}: ", comparison.platform,
      comparison.source.empty()
          ? fmt::format("{} of all hosts", planner::name_of(comparison.operation))
          : fmt::format("{} {}", relation_to_source(comparison.operation), comparison.source),
      comparison.model);
  if (comparison.message) report.write("message_bytes", comparison.message->value);
  const Rows rows = rows_of(comparison.rows, {has_costs(comparison), comparison.message});
  if (!comparison.error.empty()) {
    report.say(head + comparison.error + '\n');
    report.write("rows", rows.json());
    report.write("error", comparison.error);
    return report;
  }
  report.say(fmt::format("{}optimum {}, {} {}\n", head, optimum.text,
                         comparison.bound_final ? "proven bound" : "bound (not final)", bound.text),
             /*joined=*/true);
  report.add("rows", rows);
  if (!comparison.frontier.empty()) {
    report.add("frontier", rows_of(comparison.frontier, comparison.currency));
  }
  if (!comparison.by_depth.empty()) {
    report.add("frontier", rows_of(comparison.by_depth, comparison.message));
  }
  return report;
}

// Each algorithm over all instances for which it has a result. All instances have the same
// algorithms, or none.
Rows summary_of(const std::vector<Comparison>& comparisons) {
  Rows rows({left("relative to the bound", "algorithm"),
             {"instances", "instances"},
             {"mean", "mean"},
             {"deviation", "deviation"},
             {"worst", "worst"},
             {"failed", "failures"}});
  const auto has_rows = [](const Comparison& comparison) { return !comparison.rows.empty(); };
  const auto first = std::ranges::find_if(comparisons, has_rows);
  for (std::size_t i = 0; first != comparisons.end() && i < first->rows.size(); ++i) {
    std::vector<double> relatives;
    for (const Comparison& comparison : comparisons) {
      if (i >= comparison.rows.size()) continue;
      const double relative = comparison.rows[i].figures.relative;
      if (!std::isnan(relative)) relatives.push_back(relative);
    }
    const Spread spread = spread_of(relatives);
    rows.add({first->rows[i].algorithm, spread.count, decimal(spread.mean),
              decimal(spread.deviation), decimal(spread.least),
              comparisons.size() - relatives.size()});
  }
  return rows;
}

}  // namespace

std::string comparison_text(const std::vector<Comparison>& comparisons, bool as_json) {
  if (comparisons.size() == 1) return report_of(comparisons.front()).render(as_json);
  Report all;
  Json instances = Json::array();
  for (const Comparison& comparison : comparisons) {
    Report one = report_of(comparison);
    all.say(one.text());
    instances.push_back(one.json());
  }
  all.write("instances", std::move(instances));
  all.add("summary", summary_of(comparisons));
  return all.render(as_json);
}

Json comparison_json(const Comparison& comparison) {
  return report_of(comparison).json();
}

std::string frontier_chart(const Comparison& comparison) {
  constexpr double kBitsPerGigabit = 1e9;
  const auto point = [](double x, double rate_Bps) {
    return render::ChartPoint{x, 8 * rate_Bps / kBitsPerGigabit};
  };
  const bool by_depth = !comparison.by_depth.empty();
  render::LineChart chart{
      .title = fmt::format("{}{}, {}", comparison.platform,
                           comparison.source.empty() ? "" : " from " + comparison.source,
                           comparison.model),
      .x_label = by_depth
                     ? "depth of the trees, edges from the source to the farthest host"
                     : fmt::format("cost of a GB of the message{}{}",
                                   comparison.currency.empty() ? "" : ", ", comparison.currency),
      .y_label = "throughput, Gbit/s",
      .series = {{"optimum", {}}}};
  for (const FrontierRow& row : comparison.frontier) {
    chart.series.front().points.push_back(point(row.cost_per_GB, row.throughput.value));
  }
  for (const DepthRow& row : comparison.by_depth) {
    chart.series.front().points.push_back(
        point(static_cast<double>(row.figures.depth), row.figures.throughput_Bps));
  }
  for (const ComparisonRow& row : comparison.rows) {
    if (by_depth ? !row.figures.error.empty() : !row.cost) continue;
    const double x = by_depth ? static_cast<double>(row.figures.depth) : row.cost->per_GB;
    chart.series.push_back({row.algorithm, {point(x, row.figures.throughput_Bps)}});
  }
  return render::to_svg(chart);
}

std::string comparison_csv(const std::vector<Comparison>& comparisons) {
  std::string text;
  const Optional columns{std::ranges::any_of(comparisons, has_costs),
                         comparisons.empty() ? std::nullopt : comparisons.front().message};
  for (const Comparison& comparison : comparisons) {
    std::vector<ComparisonRow> rows = comparison.rows;
    if (!comparison.error.empty()) rows.push_back({.figures = {.error = comparison.error}});
    text += rows_of(rows, columns)
                .csv({{"platform", comparison.platform},
                      {"source", comparison.source},
                      {"model", comparison.model},
                      {"optimum_Bps", BytesPerSecond{comparison.optimum_Bps}},
                      {"bound_Bps", BytesPerSecond{comparison.bound_Bps}}},
                     {{"operation", planner::name_of(comparison.operation)},
                      {"bound_final", Cell("", comparison.bound_final)}},
                     /*header=*/text.empty());
  }
  return text;
}

}  // namespace espalier::cli
