#include "cli/espalier/costs/decision_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/common/report.hpp"
#include "planner/plan/decision_table.hpp"
#include "render/charts/colours.hpp"

namespace espalier::cli {

namespace {

using cost_models::Penalty;
using cost_models::Prediction;

std::string name_of(const Prediction& best) {
  return planner::method_name(best.entry->algorithm, best.of.segment);
}

bool same_method(const Prediction& one, const Prediction& other) {
  return one.entry == other.entry && one.of.segment == other.of.segment;
}

// "1 B: linear; 4 KiB: pipeline/1 KiB" for one number of ranks.
std::string choices_of(const DecisionReport& report, std::size_t row) {
  const std::size_t columns = report.decision.grid.messages.size();
  const Prediction* previous = nullptr;
  std::string text;
  for (std::size_t c = 0; c < columns; ++c) {
    const Prediction& best = report.decision.best[row * columns + c];
    if (previous != nullptr && same_method(*previous, best)) continue;
    previous = &best;
    if (report.operation == "barrier") return name_of(best);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", format_size(best.of.message),
                        name_of(best));
  }
  return text;
}

// The penalties of some cells.
struct Penalties {
  std::size_t cells = 0;  // with a penalty
  double sum = 0;
  const Penalty* worst = nullptr;
  const Prediction* choice = nullptr;  // where it is worst

  void add(const std::optional<Penalty>& penalty, const Prediction& best) {
    const std::optional<double> loss = penalty ? penalty->loss() : std::nullopt;
    if (!loss) return;
    ++cells;
    sum += *loss;
    if (worst != nullptr && *loss <= *worst->loss()) return;
    worst = &*penalty;
    choice = &best;
  }
  [[nodiscard]] double mean() const {
    return cells == 0 ? std::nan("") : sum / static_cast<double>(cells);
  }
};

void add_row(Table& table, const std::string& ranks, std::size_t cells, const Penalties& of) {
  std::vector<std::string> row{ranks, fmt::format("{} of {}", of.cells, cells), percent(of.mean())};
  if (of.worst == nullptr) {
    row.insert(row.end(), {"-", "-", "-", "-"});
  } else {
    row.insert(row.end(),
               {percent(*of.worst->loss()), format_size(of.choice->of.message), name_of(*of.choice),
                planner::method_name(of.worst->best.algorithm, of.worst->best.segment)});
  }
  table.add_row(std::move(row));
}

Json summary_json(const DecisionReport& report) {
  Penalties summary;
  for (std::size_t i = 0; i < report.penalties.size(); ++i) {
    summary.add(report.penalties[i], report.decision.best[i]);
  }
  const bool some = summary.worst != nullptr;
  return {{"cells", report.decision.best.size()},
          {"cells_with_penalty", summary.cells},
          {"mean_percent", some ? Json(100 * summary.mean()) : Json()},
          {"worst_percent", some ? Json(100 * *summary.worst->loss()) : Json()}};
}

// All methods if they were requested, otherwise the best.
const std::vector<Prediction>& predictions_of(const DecisionReport& report) {
  return report.all.empty() ? report.decision.best : report.all;
}

// A chart of the report's grid, without kinds and cells.
render::CellChart empty_chart(const DecisionReport& report, std::string title) {
  render::CellChart chart{.title = std::move(title),
                          .x_label = "message",
                          .y_label = "ranks",
                          .columns = {},
                          .rows = {},
                          .kinds = {},
                          .cells = {}};
  const std::vector<Bytes>& messages = report.decision.grid.messages;
  for (const Bytes message : messages) {
    // An empty message is drawn at half a byte.
    const double size = message.value == 0 ? 0.5 : static_cast<double>(message.value);
    chart.columns.push_back({std::log2(size), format_size(message)});
  }
  if (report.operation == "barrier") chart.columns.front().label = "none";
  for (const std::uint64_t ranks : report.decision.grid.ranks) {
    chart.rows.push_back(fmt::format("{}", ranks));
  }
  return chart;
}

}  // namespace

std::string decision_table(const DecisionReport& report) {
  const std::vector<std::uint64_t>& ranks = report.decision.grid.ranks;
  Table table(
      {{"ranks", Table::Align::kLeft},
       {report.operation == "barrier" ? "best" : "best algorithm/segment, from message size on",
        Table::Align::kLeft}});
  for (std::size_t row = 0; row < ranks.size();) {
    const std::string choices = choices_of(report, row);
    std::size_t last = row;
    while (last + 1 < ranks.size() && choices_of(report, last + 1) == choices) ++last;
    table.add_row({last == row ? fmt::format("{}", ranks[row])
                               : fmt::format("{} to {}", ranks[row], ranks[last]),
                   choices});
    row = last + 1;
  }
  return table.text();
}

std::string penalty_table(const DecisionReport& report) {
  Table table({{"ranks"},
               {"sizes measured"},
               {"mean"},
               {"worst"},
               {"at"},
               {"choice", Table::Align::kLeft},
               {"best measured", Table::Align::kLeft}});
  const std::size_t columns = report.decision.grid.messages.size();
  Penalties total;
  for (std::size_t row = 0; row < report.decision.grid.ranks.size(); ++row) {
    Penalties summary;
    for (std::size_t cell = row * columns; cell < (row + 1) * columns; ++cell) {
      summary.add(report.penalties[cell], report.decision.best[cell]);
      total.add(report.penalties[cell], report.decision.best[cell]);
    }
    add_row(table, fmt::format("{}", report.decision.grid.ranks[row]), columns, summary);
  }
  add_row(table, "all", report.decision.best.size(), total);
  return table.text();
}

namespace {

// A row per cell, or per method and cell.
Rows rows_of(const DecisionReport& report) {
  const bool measured = !report.penalties.empty();
  std::vector<Column> columns{written("ranks"), written("message_bytes"), written("algorithm"),
                              written("segment_bytes"), written("predicted_s")};
  if (measured) {
    for (const char* const key :
         {"measured_s", "best_algorithm", "best_segment_bytes", "best_s", "penalty_percent"}) {
      columns.push_back(written(key));
    }
  }
  Rows rows(std::move(columns));
  const std::vector<Prediction>& all = predictions_of(report);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Prediction& row = all[i];
    std::vector<Cell> cells{row.of.ranks, row.of.message, row.entry->algorithm, row.of.segment,
                            row.time};
    if (measured) {
      const std::optional<Penalty>& penalty = report.penalties[i];
      const auto loss = penalty ? penalty->loss() : std::nullopt;
      const Cell missing("-", Json());
      cells.push_back(penalty ? Cell(penalty->chosen) : missing);
      cells.push_back(penalty ? Cell(penalty->best.algorithm) : missing);
      cells.push_back(penalty ? Cell(penalty->best.segment) : missing);
      cells.push_back(penalty ? Cell(penalty->best.time) : missing);
      cells.push_back(loss ? decimal(100 * *loss) : missing);
    }
    rows.add(std::move(cells));
  }
  return rows;
}

}  // namespace

Json decision_json(const DecisionReport& report) {
  Json result{
      {"operation", report.operation}, {"model", report.model}, {"network", report.network}};
  if (!report.penalties.empty()) result["summary"] = summary_json(report);
  result["rows"] = rows_of(report).json();
  return result;
}

std::string decision_csv(const DecisionReport& report) {
  return rows_of(report).csv({{"operation", report.operation}, {"model", report.model}});
}

render::CellChart decision_chart(const DecisionReport& report) {
  render::CellChart chart = empty_chart(
      report, fmt::format("Best {} by {}, {}", report.operation, report.model, report.network));
  // Each algorithm has a hue; larger segments are paler.
  std::vector<const cost_models::FormulaEntry*> entries;
  std::vector<Bytes> segments{{0}};
  std::vector<const Prediction*> kinds;
  const auto place_in = [](auto& all, const auto& value) {
    const auto at = std::ranges::find(all, value);
    const auto place = static_cast<std::size_t>(at - all.begin());
    if (at == all.end()) all.push_back(value);
    return place;
  };
  for (const cost_models::Method& method : report.methods) {
    place_in(entries, method.entry);
    place_in(segments, method.segment);
  }
  std::ranges::sort(segments);
  for (const cost_models::FormulaEntry* entry : entries) {
    for (const Bytes segment : segments) {
      const auto used = std::ranges::find_if(report.decision.best, [&](const Prediction& best) {
        return best.entry == entry && best.of.segment == segment;
      });
      if (used == report.decision.best.end()) continue;
      kinds.push_back(&*used);
      constexpr double kPalest = 0.72;
      const double pale = segments.size() < 2
                              ? 0
                              : kPalest * static_cast<double>(place_in(segments, segment)) /
                                    static_cast<double>(segments.size() - 1);
      chart.kinds.push_back(
          {name_of(*used),
           render::tint(
               render::kSeriesColours[place_in(entries, entry) % render::kSeriesColours.size()],
               pale)});
    }
  }
  for (const Prediction& best : report.decision.best) {
    const auto kind =
        std::ranges::find_if(kinds, [&](const Prediction* one) { return same_method(*one, best); });
    chart.cells.emplace_back(static_cast<std::size_t>(kind - kinds.begin()));
  }
  return chart;
}

render::CellChart penalty_chart(const DecisionReport& report) {
  render::CellChart chart =
      empty_chart(report, fmt::format("Penalty of choosing a {} by {}, {}", report.operation,
                                      report.model, report.network));
  // As in CM, figure 7: white below 5 %, the scale ends at 300 %.
  constexpr std::array<double, 7> kSteps{0.05, 0.1, 0.25, 0.5, 1, 2, 3};
  chart.kinds.push_back({"under 5 %", "#ffffff"});
  for (std::size_t s = 1; s < kSteps.size(); ++s) {
    chart.kinds.push_back(
        {fmt::format("{:.0f} % to {:.0f} %", 100 * kSteps[s - 1], 100 * kSteps[s]),
         render::ramp_colour(static_cast<double>(s - 1) / (kSteps.size() - 1))});
  }
  chart.kinds.push_back(
      {fmt::format("{:.0f} % and over", 100 * kSteps.back()), render::ramp_colour(1)});
  chart.kinds.push_back({"not measured", "#d0d0d0"});
  for (const std::optional<Penalty>& penalty : report.penalties) {
    const auto loss = penalty ? penalty->loss() : std::nullopt;
    chart.cells.emplace_back(
        loss ? static_cast<std::size_t>(std::ranges::upper_bound(kSteps, *loss) - kSteps.begin())
             : chart.kinds.size() - 1);
  }
  return chart;
}

}  // namespace espalier::cli
