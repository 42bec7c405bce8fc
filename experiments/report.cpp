#include "experiments/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/charts.hpp"
#include "support/csv_line.hpp"

namespace espalier::experiments {

namespace {

// The instances that a summary row summarises.
struct Group {
  std::optional<std::size_t> nodes;
  std::optional<double> density;

  [[nodiscard]] bool contains(const Case& drawn, const Result& result) const {
    return (!nodes || *nodes == result.nodes) && (!density || density == drawn.density);
  }
};

std::vector<Group> groups_of(const Study& study, const Results& results) {
  std::set<std::size_t> nodes;
  std::set<double> densities;
  for (const auto& [unit, result] : results) {
    nodes.insert(result.nodes);
    const Case& drawn = study.case_of(unit);
    if (drawn.density) densities.insert(*drawn.density);
  }
  std::vector<Group> groups{{}};
  for (const std::size_t n : nodes) groups.push_back({n, {}});
  for (const double density : densities) groups.push_back({{}, density});
  for (const std::size_t n : nodes) {
    for (const double density : densities) groups.push_back({n, density});
  }
  return groups;
}

SummaryRow summary_of(const Study& study, const Results& results, platforms::Model model,
                      const Group& group, std::size_t algorithm) {
  std::vector<double> relatives;
  std::size_t failed = 0;
  for (const auto& [unit, result] : results) {
    if (study.model_of(unit) != model || !group.contains(study.case_of(unit), result)) continue;
    const double relative = result.rows[algorithm].relative;
    if (std::isnan(relative)) {
      ++failed;
    } else {
      relatives.push_back(relative);
    }
  }
  return {model, group.nodes, group.density, algorithm, spread_of(relatives), failed};
}

// The first cells of every row in the tables of instances.
std::vector<std::string> instance_cells(const Study& study, std::size_t unit,
                                        const Result& result) {
  const Case& drawn = study.case_of(unit);
  return {study.family,
          drawn.platform,
          std::to_string(result.nodes),
          std::to_string(result.arcs),
          drawn.density ? exact(*drawn.density) : "",
          drawn.draw > 0 ? std::to_string(drawn.draw) : "",
          drawn.draw > 0 ? std::to_string(drawn.seed) : "",
          std::string(platforms::name_of(study.model_of(unit))),
          result.source};
}

const std::vector<std::string> kInstanceTitles{"family", "platform", "nodes", "arcs",  "density",
                                               "draw",   "seed",     "model", "source"};

std::string line_of(std::vector<std::string> cells, const std::vector<std::string>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
  return csv_line(cells);
}

// "0.87 ± 0.05 (0.71)".
std::string cell_of(const Spread& spread) {
  if (spread.count == 0) return "-";
  if (std::isnan(spread.deviation)) return fmt::format("{:.2f}", spread.mean);
  return fmt::format("{:.2f} ± {:.2f} ({:.2f})", spread.mean, spread.deviation, spread.least);
}

// A column of a table: its title, and the rows of one model.
using Column = std::pair<std::string, std::vector<const SummaryRow*>>;

std::string table_of(const Study& study, const std::vector<Column>& columns) {
  std::size_t width = 16;
  for (const planner::Algorithm& algorithm : study.algorithms) {
    width = std::max(width, algorithm.name.size());
  }
  std::string head = fmt::format("| {:<{}} |", "algorithm", width);
  std::string rule = fmt::format("|{:-<{}}|", "", width + 2);
  for (const auto& [title, rows] : columns) {
    head += fmt::format(" {:<18} |", title);
    rule += fmt::format("{:-<20}|", "");
  }
  std::string text = head + '\n' + rule + '\n';
  for (std::size_t a = 0; a < study.algorithms.size(); ++a) {
    text += fmt::format("| {:<{}} |", study.algorithms[a].name, width);
    for (const auto& [title, rows] : columns) {
      text += fmt::format(" {:<18} |", cell_of(rows[a]->relative));
    }
    text += '\n';
  }
  return text;
}

// Columns by nodes or by density, followed by one for all instances.
template <typename Belongs, typename Title>
std::vector<Column> columns_of(const std::vector<SummaryRow>& rows, platforms::Model model,
                               const Belongs& belongs, const Title& title) {
  std::vector<Column> columns;
  Column all{"all", {}};
  for (const SummaryRow& row : rows) {
    if (row.model != model) continue;
    if (!row.nodes && !row.density) all.second.push_back(&row);
    if (!belongs(row)) continue;
    if (row.algorithm == 0) columns.push_back({title(row), {}});
    columns.back().second.push_back(&row);
  }
  columns.push_back(std::move(all));
  return columns;
}

}  // namespace

std::vector<SummaryRow> summarise(const Study& study, const Results& results) {
  std::vector<SummaryRow> rows;
  const std::vector<Group> groups = groups_of(study, results);
  for (const platforms::Model model : study.models) {
    for (const Group& group : groups) {
      for (std::size_t a = 0; a < study.algorithms.size(); ++a) {
        rows.push_back(summary_of(study, results, model, group, a));
      }
    }
  }
  return rows;
}

std::string instances_csv(const Study& study, const Results& results) {
  std::string text = line_of(kInstanceTitles, {"algorithm", "trees", "throughput_Bps", "bound_Bps",
                                               "relative", "depth", "error", "bound_final"});
  for (const auto& [unit, result] : results) {
    const std::vector<std::string> instance = instance_cells(study, unit, result);
    for (std::size_t a = 0; a < result.rows.size(); ++a) {
      const Row& row = result.rows[a];
      const bool failed = !row.error.empty();
      text += line_of(
          instance, {std::string(study.algorithms[a].name), failed ? "" : std::to_string(row.trees),
                     exact(row.throughput_Bps), exact(result.bound_Bps), exact(row.relative),
                     failed ? "" : std::to_string(row.depth), row.error,
                     result.gap_open || std::isnan(result.bound_Bps) ? "false" : "true"});
    }
  }
  return text;
}

std::string timings_csv(const Study& study, const Results& results) {
  std::string text = line_of(kInstanceTitles, {"algorithm", "seconds"});
  for (const auto& [unit, result] : results) {
    const std::vector<std::string> instance = instance_cells(study, unit, result);
    text += line_of(instance, {"packing", exact(result.seconds)});
    for (std::size_t a = 0; a < result.rows.size(); ++a) {
      text +=
          line_of(instance, {std::string(study.algorithms[a].name), exact(result.rows[a].seconds)});
    }
  }
  return text;
}

std::string summary_csv(const Study& study, const std::vector<SummaryRow>& rows) {
  std::string text = csv_line({"model", "nodes", "density", "algorithm", "instances", "mean",
                               "deviation", "worst", "failed"});
  for (const SummaryRow& row : rows) {
    text += csv_line(
        {std::string(platforms::name_of(row.model)), row.nodes ? std::to_string(*row.nodes) : "",
         row.density ? exact(*row.density) : "", std::string(study.algorithms[row.algorithm].name),
         std::to_string(row.relative.count), exact(row.relative.mean),
         exact(row.relative.deviation), exact(row.relative.least), std::to_string(row.failed)});
  }
  return text;
}

std::string summary_markdown(const Study& study, const std::vector<SummaryRow>& rows) {
  std::string text = fmt::format(
      "Throughput relative to the proven {}optimum of several pipelined {}: mean ± "
      "deviation (worst).\n",
      study.relative_to ? fmt::format("{} ", platforms::name_of(*study.relative_to)) : "",
      study.trees_or_paths());
  if (study.limits.guided_by) {
    text += fmt::format("lp-grow and lp-prune are guided by the {} optimum.\n",
                        platforms::name_of(*study.limits.guided_by));
  }
  for (const platforms::Model model : study.models) {
    std::size_t instances = 0;
    std::size_t failed = 0;
    for (const SummaryRow& row : rows) {
      if (row.model != model || row.nodes || row.density) continue;
      instances = row.relative.count + row.failed;
      failed += row.failed;
    }
    text += fmt::format("\n### {}, {} instances\n\n", platforms::name_of(model), instances);
    text += table_of(
        study, columns_of(
                   rows, model, [](const SummaryRow& row) { return row.nodes && !row.density; },
                   [](const SummaryRow& row) { return fmt::format("{} nodes", *row.nodes); }));
    const std::vector<Column> by_density = columns_of(
        rows, model, [](const SummaryRow& row) { return row.density && !row.nodes; },
        [](const SummaryRow& row) { return fmt::format("density {:.2f}", *row.density); });
    if (by_density.size() > 1) text += '\n' + table_of(study, by_density);
    if (failed > 0)
      text += fmt::format("\n{} figures are missing: see `error` in instances.csv.\n", failed);
  }
  return text;
}

std::vector<OutputFile> output_files(const Study& study, const Results& results) {
  const std::vector<SummaryRow> rows = summarise(study, results);
  std::vector<OutputFile> files{{"instances.csv", instances_csv(study, results)},
                                {"timings.csv", timings_csv(study, results)},
                                {"summary.csv", summary_csv(study, rows)},
                                {"summary.md", summary_markdown(study, rows)}};
  for (OutputFile& chart : charts(study, rows)) files.push_back(std::move(chart));
  return files;
}

bool is_output(std::string_view name) {
  for (const std::string_view fixed :
       {"study.json", "instances.csv", "timings.csv", "summary.csv", "summary.md"}) {
    if (name == fixed) return true;
  }
  return name.starts_with(kChartPrefix) && name.ends_with(".svg");
}

}  // namespace espalier::experiments
