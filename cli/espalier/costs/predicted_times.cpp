#include "cli/espalier/costs/predicted_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "cost_models/formulas/predict.hpp"
#include "planner/plan/decision_table.hpp"
#include "support/errors.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

using cost_models::Measurement;

std::string name_of(const Measurement& measured) {
  return planner::method_name(measured.algorithm, measured.segment);
}

const cost_models::FormulaEntry* entry_of(const CostOptions::Read& model,
                                          const std::string& algorithm) {
  const auto found =
      std::ranges::find(model.entries, algorithm, &cost_models::FormulaEntry::algorithm);
  return found == model.entries.end() ? nullptr : *found;
}

// Unset: the model has no formula.
std::optional<double> error_of(const MeasuredCase& one, std::size_t model) {
  if (!one.predicted[model]) return std::nullopt;
  return one.predicted[model]->value / one.measured.time.value - 1;
}

Cell share_cell(double share) {
  return Cell(fmt::format("{:.1f} %", 100 * share), share);
}

// The median and the worst error of each algorithm, by model.
void add_errors(const PredictedTimes& times, Report& report) {
  std::vector<Column> columns{left("algorithm", "algorithm"), {"times", "times"}};
  for (const std::string& model : times.models) {
    columns.push_back({"median error, " + model, model + "_median_error"});
    columns.push_back({"worst", model + "_worst_error"});
  }
  Rows rows(std::move(columns));
  for (auto first = times.cases.begin(); first != times.cases.end();) {
    const auto last = std::find_if(first, times.cases.end(), [&](const MeasuredCase& one) {
      return one.measured.algorithm != first->measured.algorithm;
    });
    std::vector<Cell> cells{first->measured.algorithm, static_cast<std::uint64_t>(last - first)};
    for (std::size_t model = 0; model < times.models.size(); ++model) {
      std::vector<double> errors;
      for (auto one = first; one != last; ++one) {
        if (const auto error = error_of(*one, model)) errors.push_back(std::abs(*error));
      }
      const Cell none("-", Json());
      cells.push_back(errors.empty() ? none : share_cell(median_of(errors)));
      cells.push_back(errors.empty() ? none : share_cell(std::ranges::max(errors)));
    }
    rows.add(std::move(cells));
    first = last;
  }
  report.add("errors", rows);
}

// The multiples of `step` that enclose a range of decimal logarithms, at least two. label: of what
// the logarithm is of.
template <class Label>
std::vector<render::ChartTick> powers(double step, const render::ChartRange& of,
                                      const Label& label) {
  constexpr double kSlack = 1e-9;
  const double first = std::floor(of.low / step + kSlack);
  const double last = std::max(first + 1, std::ceil(of.high / step - kSlack));
  std::vector<render::ChartTick> ticks;
  for (double power = first; power <= last; ++power) {
    ticks.push_back({power * step, label(std::pow(10.0, power * step))});
  }
  return ticks;
}

// Axes for the points, whose coordinates are finite decimal logarithms.
void set_axes(render::LineChart& chart, bool over_ranks) {
  render::ChartRange x{INFINITY, -INFINITY};
  render::ChartRange y = x;
  for (const render::ChartSeries& series : chart.series) {
    for (const render::ChartPoint& point : series.points) {
      x = {std::min(x.low, point.x), std::max(x.high, point.x)};
      y = {std::min(y.low, point.y), std::max(y.high, point.y)};
    }
  }
  constexpr double kMostTicks = 8;
  const double bit = std::log10(2.0);
  const double bits = std::max(1.0, std::ceil((x.high - x.low) / bit / kMostTicks));
  chart.x_ticks = powers(bits * bit, x, [&](double value) {
    const auto whole = static_cast<std::uint64_t>(std::llround(value));
    return over_ranks ? fmt::format("{}", whole) : format_size({whole});
  });
  chart.y_ticks = powers(1, y, [](double value) { return fmt::format("{:g}", value); });
  chart.y_range = render::ChartRange{chart.y_ticks.front().value, chart.y_ticks.back().value};
  // The axis is as long as the points need.
  if (x.low == x.high) return;
  std::erase_if(chart.x_ticks, [&](const render::ChartTick& tick) {
    constexpr double kSlack = 1e-9;
    return tick.value < x.low - kSlack || tick.value > x.high + kSlack;
  });
}

}  // namespace

PredictedTimes predicted_times(const std::vector<CostOptions::Read>& models,
                               const std::string& operation,
                               const std::vector<Measurement>& measured) {
  PredictedTimes times{operation, {}, {}};
  for (const CostOptions::Read& model : models) times.models.push_back(model.model);
  // The model with the most formulas.
  const auto& entries = std::ranges::max_element(models, {}, [](const CostOptions::Read& model) {
                          return model.entries.size();
                        })->entries;
  std::map<std::tuple<std::size_t, Bytes, std::uint64_t, Bytes>, Measurement> least;
  for (Measurement one : measured) {
    const auto entry =
        std::ranges::find(entries, one.algorithm, &cost_models::FormulaEntry::algorithm);
    if (entry == entries.end() || one.ranks < 2) continue;
    if (!(one.segment < one.message)) one.segment = {};
    const std::tuple key{static_cast<std::size_t>(entry - entries.begin()), one.segment, one.ranks,
                         one.message};
    const auto [at, is_new] = least.emplace(key, one);
    if (!is_new && one.time < at->second.time) at->second = one;
  }
  for (const auto& [key, one] : least) {
    MeasuredCase found{one, {}};
    for (const CostOptions::Read& model : models) {
      const cost_models::FormulaEntry* const entry = entry_of(model, one.algorithm);
      const cost_models::Case of{one.ranks, one.message, one.segment, model.computation};
      found.predicted.push_back(
          entry == nullptr ? std::nullopt : std::optional(predict(*entry, model.parameters, of)));
    }
    times.cases.push_back(std::move(found));
  }
  if (times.cases.empty()) throw InputError("no measured time has a formula");
  return times;
}

Report report_of(const PredictedTimes& times) {
  Report report;
  report.write("operation", times.operation);
  std::vector<Column> columns{left("algorithm", "algorithm"),
                              {"segment", "segment_bytes"},
                              {"ranks", "ranks"},
                              {"message", "message_bytes"},
                              {"measured", "measured_s"}};
  for (const std::string& model : times.models) {
    columns.push_back({model, model + "_s"});
    columns.push_back({"error", model + "_error"});
  }
  Rows rows(std::move(columns));
  for (const MeasuredCase& one : times.cases) {
    const Measurement& measured = one.measured;
    const Cell segment = measured.segment;
    std::vector<Cell> cells{measured.algorithm,
                            measured.segment.value == 0 ? segment.as("-") : segment, measured.ranks,
                            measured.message, measured.time};
    for (std::size_t model = 0; model < times.models.size(); ++model) {
      cells.emplace_back(one.predicted[model]);
      const std::optional<double> error = error_of(one, model);
      cells.push_back(error ? Cell(fmt::format("{:+.1f} %", 100 * *error), *error)
                            : Cell("-", Json()));
    }
    rows.add(std::move(cells));
  }
  report.add("rows", rows);
  add_errors(times, report);
  return report;
}

render::LineChart chart_of(const PredictedTimes& times) {
  const bool over_ranks = times.operation == planner::name_of(planner::Operation::kBarrier);
  const std::uint64_t ranks = times.cases.front().measured.ranks;
  const bool is_one_number = std::ranges::all_of(
      times.cases, [&](const MeasuredCase& one) { return one.measured.ranks == ranks; });
  render::LineChart chart{
      .title = fmt::format("{}{}, measured and predicted", times.operation,
                           is_one_number ? fmt::format(" among {}", counted(ranks, "rank")) : ""),
      .x_label = over_ranks ? "ranks" : "message",
      .y_label = "time, seconds",
      .series = {}};
  std::map<std::string, std::size_t> place;  // of a series, by its name
  const auto add = [&](const std::string& name, double x, double seconds) {
    const auto [at, is_new] = place.emplace(name, chart.series.size());
    if (is_new) chart.series.push_back({name, {}});
    chart.series[at->second].points.push_back({std::log10(x), std::log10(seconds)});
  };
  for (const MeasuredCase& one : times.cases) {
    const Measurement& measured = one.measured;
    const double x = static_cast<double>(
        over_ranks ? measured.ranks : std::max<std::uint64_t>(measured.message.value, 1));
    std::string name = name_of(measured);
    if (!over_ranks && !is_one_number) name += fmt::format(", {} ranks", measured.ranks);
    add(name, x, measured.time.value);
    for (std::size_t model = 0; model < times.models.size(); ++model) {
      const std::optional<Seconds> time = one.predicted[model];
      if (time && time->value > 0) {
        add(fmt::format("{}, {}", name, times.models[model]), x, time->value);
      }
    }
  }
  set_axes(chart, over_ranks);
  return chart;
}

render::LineChart chart_by_segment(const CostOptions::Read& model, const cost_models::Case& of) {
  render::LineChart chart{
      .title = fmt::format("{} of {} among {} ranks by {}", model.entries.front()->operation,
                           format_size(of.message), of.ranks, model.model),
      .x_label = "segment; the last: not segmented",
      .y_label = "time, seconds",
      .series = {}};
  std::vector<Bytes> segments = cost_models::usual_segments(of.message);
  std::rotate(segments.begin(), segments.begin() + 1,
              segments.end());  // unsegmented: the largest segment
  for (const cost_models::FormulaEntry* const entry : model.entries) {
    if (!entry->segments) continue;
    render::ChartSeries series{std::string(entry->algorithm), {}};
    for (const Bytes segment : segments) {
      cost_models::Case cut = of;
      cut.segment = segment;
      const double size =
          static_cast<double>(segment.value == 0 ? of.message.value : segment.value);
      const double seconds = predict(*entry, model.parameters, cut).value;
      series.points.push_back({std::log10(size), std::log10(seconds)});
    }
    chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) throw InputError("no algorithm has segments, so there is no chart");
  set_axes(chart, /*over_ranks=*/false);
  return chart;
}

}  // namespace espalier::cli
