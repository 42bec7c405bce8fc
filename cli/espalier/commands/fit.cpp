// espalier fit: a network's parameters from measured times of collectives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/costs/cost_model.hpp"
#include "cli/espalier/costs/measured_times.hpp"
#include "cli/espalier/options.hpp"
#include "cost_models/fit/fit_collectives.hpp"
#include "cost_models/parameters_json.hpp"
#include "planner/plan/decision_table.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::cli {

namespace {

using cost_models::CollectiveFit;
using cost_models::FittedFigure;
using cost_models::TimedCase;

constexpr std::size_t kMostRows = 100'000;  // some seconds

struct FitCommand {
  Console console{};
  std::vector<std::string> files{};
  std::string operation = "broadcast";
  std::string model = "loggp";
  std::optional<cost_models::SecondsPerByte> computation{};
  std::string parameters{};  // file with the default of `computation`
  std::string output{};
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

// Adds a file's measured times that have a formula; a note counts the others.
void add_cases(const FitCommand& options, cost_models::SecondsPerByte computation,
               const std::string& name, std::vector<TimedCase>& cases) {
  const std::string file = display_name(name);
  std::map<std::string, std::size_t> left_out;
  for (const MeasuredRow& row : parse_measured_rows(read_text(name), file)) {
    const std::string& operation = row.operation.empty() ? options.operation : row.operation;
    const cost_models::Measurement& one = row.measurement;
    if (one.algorithm == planner::kLibrary) continue;  // an unknown algorithm
    if (one.ranks == 0 || one.ranks > cost_models::kMaxRanks) {
      throw InputError(
          file, {}, fmt::format("ranks {} is not from 1 to {}", one.ranks, cost_models::kMaxRanks));
    }
    const cost_models::FormulaEntry* entry =
        cost_models::find_formula(operation, one.algorithm, options.model);
    if (entry == nullptr || one.ranks == 1) {
      ++left_out[entry == nullptr ? fmt::format("{} {}", operation, one.algorithm)
                                  : std::string("one rank")];
      continue;
    }
    cases.push_back({entry, {one.ranks, one.message, one.segment, computation}, one.time});
  }
  for (const auto& [what, rows] : left_out) {
    options.console.note(
        fmt::format("{}: {} rows are left out: no formula for {}", file, rows, in_quotes(what)));
  }
}

std::string files_text(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(display_name(file));
  return fmt::format("{}", fmt::join(names, ", "));
}

// What combining costs by the options; unset: nothing.
std::optional<cost_models::SecondsPerByte> computation_of(const FitCommand& options) {
  if (options.computation || options.parameters.empty()) return options.computation;
  const std::string file = display_name(options.parameters);
  const auto given = cost_models::parse_parameters(read_text(options.parameters), file).computation;
  if (!given) {
    throw InputError(file, {}, "has no computation_s_per_byte; give --compute RATE instead");
  }
  return given;
}

std::vector<TimedCase> read_cases(const FitCommand& options,
                                  cost_models::SecondsPerByte computation) {
  std::vector<TimedCase> cases;
  for (const std::string& name : options.files) add_cases(options, computation, name, cases);
  if (cases.size() > kMostRows) {
    throw InputError(files_text(options.files), {},
                     fmt::format("{} rows are more than {}; give fewer", cases.size(), kMostRows));
  }
  return cases;
}

// How well the fit matches the measured times of one algorithm.
struct Accuracy {
  std::string operation;
  std::string algorithm;
  std::vector<double> errors{};  // relative, without outliers
  std::size_t outliers = 0;

  [[nodiscard]] std::size_t rows() const { return errors.size() + outliers; }
  [[nodiscard]] double middle() const {
    return errors.empty() ? std::nan("") : errors[errors.size() / 2];
  }
  [[nodiscard]] double worst() const { return errors.empty() ? std::nan("") : errors.back(); }
};

std::vector<Accuracy> accuracy_of(const CollectiveFit& fit, const std::vector<TimedCase>& cases) {
  std::vector<Accuracy> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const cost_models::FormulaEntry& entry = *cases[i].entry;
    auto at = std::ranges::find_if(all, [&](const Accuracy& one) {
      return one.operation == entry.operation && one.algorithm == entry.algorithm;
    });
    if (at == all.end()) {
      all.push_back({std::string(entry.operation), std::string(entry.algorithm)});
      at = all.end() - 1;
    }
    if (fit.weights[i] == 0) {
      ++at->outliers;
    } else {
      at->errors.push_back(std::abs(fit.predicted[i].value / cases[i].time.value - 1));
    }
  }
  for (Accuracy& one : all) std::ranges::sort(one.errors);
  return all;
}

// "gap_s", or "gap_s at 1 KiB".
std::string label_of(const FittedFigure& figure) {
  if (!figure.size) return std::string(figure.name);
  return fmt::format("{} at {}", figure.name, format_size(*figure.size));
}

std::string microseconds(double seconds) {
  return fmt::format("{:.6g} us", seconds * 1e6);
}

// By parameter; for a table by size: [[bytes, error], ...].
Json errors_json(const CollectiveFit& fit) {
  Json errors = Json::object();
  for (const FittedFigure& figure : fit.figures) {
    const Json error = figure.error ? Json(*figure.error) : Json();
    if (figure.size) {
      errors[std::string(figure.name)].push_back(Json::array({figure.size->value, error}));
    } else {
      errors[std::string(figure.name)] = error;
    }
  }
  return errors;
}

Report report_of(const CollectiveFit& fit, const std::string& parameters,
                 const std::vector<Accuracy>& accuracy) {
  Report report;
  report.write("parameters", Json::parse(parameters));
  report.write("standard_errors", errors_json(fit));
  Rows figures({left("parameter", ""), {"value", ""}, {"standard error", ""}});
  Json undetermined = Json::array();
  for (const FittedFigure& figure : fit.figures) {
    if (!figure.determined) undetermined.push_back(label_of(figure));
    figures.add({label_of(figure), microseconds(figure.value),
                 figure.error        ? microseconds(*figure.error)
                 : figure.determined ? "-"
                                     : "undetermined"});
  }
  report.write("not_told_apart", std::move(undetermined));
  report.add("", figures);
  Rows rows({left("operation", "operation"),
             left("algorithm", "algorithm"),
             {"rows", "rows"},
             {"outliers", "outliers"},
             {"median error", "median_error"},
             {"worst error", "worst_error"}});
  for (const Accuracy& one : accuracy) {
    rows.add({one.operation, one.algorithm, one.rows(), one.outliers, share(one.middle()),
              share(one.worst())});
  }
  report.add("rows", rows);
  return report;
}

ExitStatus FitCommand::run() const {
  if (!output.empty()) require_writable(output);
  const std::optional<cost_models::SecondsPerByte> combining = computation_of(*this);
  const std::vector<TimedCase> cases =
      read_cases(*this, combining.value_or(cost_models::SecondsPerByte{}));
  const CollectiveFit fit =
      at_place(files_text(files), "", [&] { return cost_models::fit_collectives(model, cases); });
  const std::vector<Accuracy> accuracy = accuracy_of(fit, cases);
  // With what combining costs, without which the other figures do not explain the times.
  const std::string text = cost_models::parameters_json({fit.parameters, combining}, {});
  if (!output.empty()) write_text(output, text);
  print_beside(report_of(fit, text, accuracy).render(json), output, console);
  return ExitStatus::kDone;
}

void FitCommand::add_to(Arguments& app) {
  const std::vector<std::string_view> models(cost_models::kModelNames.begin(),
                                             cost_models::kModelNames.end());
  app.add("file", files,
          "Measured times, JSON or CSV (docs/formats.md), or what espalier-mpi bench --json wrote; "
          "'-' is standard input",
          {.type = "TIMES", .required = true});
  app.add("--model", model, among("model", models), "Model to fit, " + one_of(models),
          {.type = "MODEL"});
  app.add("--operation", operation, among("operation", cost_models::operation_names()),
          "Operation of rows that do not name one", {.type = "NAME"});
  add_compute(app, computation);
  app.add("--parameters", parameters,
          "Take the default of --compute from this JSON file, as espalier-mpi probe --model writes "
          "it; '-' is standard input",
          {.type = "FILE"});
  app.add("-o,--output", output,
          "Write the parameters to this file, for --parameters of 'predict' and 'decide'",
          {.type = "FILE"});
  app.add("--json", json, "JSON instead of tables");
  add_console_options(app, console);
  app.add_footer("The formulas: docs/models.md.");
}

}  // namespace

void add_fit(Arguments root) {
  root.add_command<FitCommand>("fit",
                               "Fit a network's parameters to measured times of collectives");
}

}  // namespace espalier::cli
