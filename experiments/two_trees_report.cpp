// The tables and charts of TTC's experiment.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/two_trees.hpp"
#include "render/charts/line_chart.hpp"
#include "support/csv_line.hpp"

namespace espalier::experiments {

namespace {

using planner::Operation;

// The figure of one cell; null: the method does not serve the operation.
const TwoTreeFigure* figure_at(const std::vector<TwoTreeFigure>& figures, Operation operation,
                               std::size_t method, std::size_t processes, Bytes message) {
  const auto found = std::ranges::find_if(figures, [&](const TwoTreeFigure& figure) {
    return figure.operation == operation && figure.method == method &&
           figure.processes == processes && figure.message == message;
  });
  return found == figures.end() ? nullptr : &*found;
}

std::string figures_csv(const std::vector<TwoTreeFigure>& figures) {
  std::string text = csv_line({"operation", "method", "algorithm", "rounds", "processes",
                               "message_bytes", "chunks", "makespan_s"});
  for (const TwoTreeFigure& figure : figures) {
    const TwoTreeMethod& method = two_tree_methods()[figure.method];
    text += csv_line({std::string(planner::name_of(figure.operation)), std::string(method.name),
                      std::string(method.algorithm), method.rounds ? "true" : "false",
                      std::to_string(figure.processes), std::to_string(figure.message.value),
                      std::to_string(figure.chunks), exact(figure.makespan.value)});
  }
  return text;
}

// A table with a column for each number of processes. rows: its labels; cell(row, processes).
template <class Cell>
std::string table_by_processes(const TwoTreeStudy& study, std::string_view corner,
                               const std::vector<std::string>& rows, const Cell& cell) {
  std::size_t width = corner.size();
  for (const std::string& row : rows) width = std::max(width, row.size());
  std::string text = fmt::format("| {:<{}} |", corner, width);
  for (const std::size_t processes : study.processes) text += fmt::format(" {:>7} |", processes);
  text += fmt::format("\n|{:-<{}}|", "", width + 2);
  for (std::size_t i = 0; i < study.processes.size(); ++i) text += "--------:|";
  text += '\n';
  for (std::size_t row = 0; row < rows.size(); ++row) {
    text += fmt::format("| {:<{}} |", rows[row], width);
    for (const std::size_t processes : study.processes) {
      text += fmt::format(" {:>7} |", cell(row, processes));
    }
    text += '\n';
  }
  return text;
}

std::vector<std::size_t> methods_for(Operation operation) {
  std::vector<std::size_t> methods;
  for (std::size_t i = 0; i < two_tree_methods().size(); ++i) {
    if (serves(two_tree_methods()[i], operation)) methods.push_back(i);
  }
  return methods;
}

std::string times_table(const TwoTreeStudy& study, const std::vector<TwoTreeFigure>& figures,
                        Operation operation, Bytes message) {
  const std::vector<std::size_t> methods = methods_for(operation);
  std::vector<std::string> names;
  for (const std::size_t method : methods) {
    names.emplace_back(two_tree_methods()[method].name);
  }
  return table_by_processes(study, "ms", names, [&](std::size_t row, std::size_t processes) {
    const TwoTreeFigure* at = figure_at(figures, operation, methods[row], processes, message);
    return fmt::format("{:.4g}", at->makespan.value * 1e3);
  });
}

std::string chunks_table(const TwoTreeStudy& study, const std::vector<TwoTreeFigure>& figures,
                         Operation operation) {
  std::vector<std::string> labels;
  std::vector<std::pair<std::size_t, Bytes>> rows;
  for (const std::size_t method : methods_for(operation)) {
    for (const Bytes message : study.messages) {
      labels.push_back(
          fmt::format("{}, {}", two_tree_methods()[method].name, format_size(message)));
      rows.emplace_back(method, message);
    }
  }
  return table_by_processes(study, "chunks", labels, [&](std::size_t row, std::size_t processes) {
    const auto [method, message] = rows[row];
    return std::to_string(figure_at(figures, operation, method, processes, message)->chunks);
  });
}

OutputFile times_chart(const TwoTreeStudy& study, const std::vector<TwoTreeFigure>& figures,
                       Operation operation, Bytes message) {
  const std::string size = format_size(message);
  render::LineChart chart{.title = fmt::format("{}, {}", planner::name_of(operation), size),
                          .x_label = "processes",
                          .y_label = "ms",
                          .series = {}};
  for (const std::size_t processes : study.processes) {
    if (processes % 32 == 0) chart.x_ticks.push_back({static_cast<double>(processes)});
  }
  for (const std::size_t method : methods_for(operation)) {
    render::ChartSeries series{std::string(two_tree_methods()[method].name), {}};
    for (const std::size_t processes : study.processes) {
      const TwoTreeFigure* at = figure_at(figures, operation, method, processes, message);
      series.points.push_back({static_cast<double>(processes), at->makespan.value * 1e3});
    }
    chart.series.push_back(std::move(series));
  }
  std::string name = fmt::format("{}-{}.svg", planner::name_of(operation), size);
  std::erase(name, ' ');
  return {name, to_svg(chart)};
}

}  // namespace

std::string two_tree_summary(const TwoTreeStudy& study, const std::vector<TwoTreeFigure>& figures) {
  std::string text =
      "Times in ms with the best number of chunks of each cell, by number of processes; simulated "
      "on equal hosts.\n";
  for (const Operation operation : study.operations) {
    for (const Bytes message : study.messages) {
      text += fmt::format("\n### {}, {}\n\n", planner::name_of(operation), format_size(message));
      text += times_table(study, figures, operation, message);
    }
  }
  text += "\n## Chunks\n\nThe best number of chunks of the whole message.\n";
  for (const Operation operation : study.operations) {
    text += fmt::format("\n### {}\n\n", planner::name_of(operation));
    text += chunks_table(study, figures, operation);
  }
  return text;
}

std::vector<OutputFile> two_tree_files(const TwoTreeStudy& study,
                                       const std::vector<TwoTreeFigure>& figures) {
  std::vector<OutputFile> files{{"figures.csv", figures_csv(figures)},
                                {"summary.md", two_tree_summary(study, figures)}};
  if (study.processes.size() < 2) return files;
  for (const Operation operation : study.operations) {
    for (const Bytes message : study.messages) {
      files.push_back(times_chart(study, figures, operation, message));
    }
  }
  return files;
}

}  // namespace espalier::experiments
