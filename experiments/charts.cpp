#include "experiments/charts.hpp"

#include <fmt/format.h>

#include "render/charts/line_chart.hpp"

namespace espalier::experiments {

namespace {

struct Axis {
  std::string_view name;   // in the file name
  std::string_view label;  // below the axis
  // The row's coordinate on the axis; unset: the row is not in this chart.
  std::optional<double> (*place)(const SummaryRow& row);
};

const Axis kAxes[] = {
    {"nodes", "nodes",
     [](const SummaryRow& row) -> std::optional<double> {
       if (!row.nodes || row.density) return std::nullopt;
       return static_cast<double>(*row.nodes);
     }},
    {"density", "density, as asked for (links / pairs of nodes)",
     [](const SummaryRow& row) -> std::optional<double> {
       return row.nodes ? std::nullopt : row.density;
     }},
};

render::LineChart chart_of(const Study& study, const std::vector<SummaryRow>& rows,
                           platforms::Model model, const Axis& axis) {
  render::LineChart chart{
      .title = fmt::format("{}: performance against {}", platforms::name_of(model), axis.name),
      .x_label = std::string(axis.label),
      .y_label = fmt::format(
          "mean throughput / {}optimum of several {}",
          study.relative_to ? fmt::format("{} ", platforms::name_of(*study.relative_to)) : "",
          study.trees_or_paths()),
      .series = {}};
  // No plan exceeds the optimum of its own model.
  if (!study.relative_to) chart.y_range = render::ChartRange{0, 1.05};
  for (const planner::Algorithm& algorithm : study.algorithms) {
    chart.series.push_back({algorithm.name, {}});
  }
  for (const SummaryRow& row : rows) {
    const std::optional<double> x = axis.place(row);
    if (row.model != model || !x) continue;
    chart.series[row.algorithm].points.push_back({*x, row.relative.mean, row.relative.deviation});
    if (row.algorithm == 0) chart.x_ticks.push_back({*x});
  }
  // Too many values for the axis: the chart chooses round ones instead.
  constexpr std::size_t kMostTicks = 12;
  if (chart.x_ticks.size() > kMostTicks) chart.x_ticks.clear();
  return chart;
}

}  // namespace

std::vector<OutputFile> charts(const Study& study, const std::vector<SummaryRow>& rows) {
  std::vector<OutputFile> files;
  for (const platforms::Model model : study.models) {
    for (const Axis& axis : kAxes) {
      const render::LineChart chart = chart_of(study, rows, model, axis);
      if (chart.series.empty() || chart.series.front().points.size() < 2) continue;
      files.push_back(
          {fmt::format("{}{}-{}.svg", kChartPrefix, axis.name, platforms::name_of(model)),
           to_svg(chart)});
    }
  }
  return files;
}

}  // namespace espalier::experiments
