#include "cli/espalier/costs/cost_model.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cost_models/parameters_json.hpp"
#include "cost_models/presets.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kLogP = "logp";

// LogP uses LogGP's formulas.
std::string_view formulas_of(std::string_view model) {
  return model == kLogP ? "loggp" : model;
}

// The parameters converted to the model of that name. Throws InputError (reason only) if they do
// not determine it.
cost_models::Parameters converted(const cost_models::Parameters& given, std::string_view model) {
  if (model == cost_models::kModelNames[given.index()]) return given;
  if (std::holds_alternative<cost_models::Hockney>(given)) {
    throw InputError("Hockney's parameters do not determine those of " + std::string(model));
  }
  const auto* const plogp = std::get_if<cost_models::PLogP>(&given);
  const cost_models::LogGP loggp =
      plogp != nullptr ? cost_models::loggp_from(*plogp) : std::get<cost_models::LogGP>(given);
  if (model == "hockney") return cost_models::hockney_from(loggp);
  if (model == "plogp") return cost_models::plogp_from(loggp);
  if (model == kLogP) return cost_models::logp(loggp);
  return loggp;
}

std::vector<const cost_models::FormulaEntry*> entries_of(const std::string& operation,
                                                         std::string_view model,
                                                         const std::vector<std::string>& wanted) {
  const auto names = cost_models::algorithm_names(operation, model);
  for (const std::string& name : wanted) {
    if (name == "all" || std::ranges::find(names, name) != names.end()) continue;
    throw InputError({}, "--algorithm", unknown_name("algorithm of " + operation, name, names));
  }
  const auto is_wanted = [&](std::string_view name) {
    return std::ranges::find(wanted, name) != wanted.end();
  };
  const bool all = wanted.empty() || is_wanted("all");
  std::vector<const cost_models::FormulaEntry*> entries;
  for (const cost_models::FormulaEntry& entry : cost_models::formulas()) {
    if (entry.operation != operation || entry.model() != model) continue;
    if (all || is_wanted(entry.algorithm)) entries.push_back(&entry);
  }
  return entries;
}

// The names that --model accepts: those of the formulas, and logp.
std::vector<std::string_view> cost_model_names() {
  std::vector<std::string_view> names(cost_models::kModelNames.begin(),
                                      cost_models::kModelNames.end());
  names.insert(names.begin() + 1, kLogP);
  return names;
}

}  // namespace

void require_chart(const std::string& file) {
  if (file.empty()) return;
  require_writable(file);
  if (file == "-" || std::filesystem::path(file).extension() == ".svg") return;
  throw InputError(file, {}, "the chart is SVG; name a file that ends in .svg");
}

void add_compute(Arguments& app, std::optional<cost_models::SecondsPerByte>& computation) {
  app.add("--compute", computation,
          [](const std::string& text) {
            return cost_models::SecondsPerByte{1 / read_positive_rate(text).value};
          },
          "How fast a rank combines data in a reduction, \"4 GB/s\"; default: that of --parameters "
          "if the file has it, otherwise instantly",
          {.type = "RATE"});
}

void CostOptions::add_to(Arguments& app) {
  const std::vector<std::string_view> operations = cost_models::operation_names();
  const std::vector<std::string_view> presets = names_of(cost_models::presets());
  app.add("--operation", operation, among("operation", operations), one_of(operations),
          {.type = "NAME"});
  app.add(
      "--algorithm,--algorithms", algorithms, [](const std::string& name) { return name; },
      "Algorithms; repeatable, or separated by commas; 'all' (default): all that the model has a "
      "formula for",
      {.type = "NAME"});
  app.add("--model", model, among("model", cost_model_names()),
          one_of(cost_model_names()) + "; default: that of --parameters, or loggp",
          {.type = "MODEL"});
  app.add("--preset", preset, among("preset", presets),
          "A network with published parameters, " + one_of(presets), {.type = "NAME"});
  app.add(
      "--parameters", file,
      "Read the parameters from this JSON file instead (docs/formats.md); '-' is standard input",
      {.type = "FILE"});
  app.exclude("--preset", "--parameters");
  add_compute(app, computation);
}

CostOptions::Read CostOptions::read() const {
  if (preset.empty() && file.empty()) {
    throw InputError({}, "--preset", "missing; give --preset NAME or --parameters FILE");
  }
  const std::string network = file.empty() ? preset : display_name(file);
  const cost_models::NetworkParameters given =
      file.empty() ? cost_models::NetworkParameters{cost_models::find_preset(preset).loggp}
                   : cost_models::parse_parameters(read_text(file), network);
  const std::string name =
      model.empty() ? std::string(cost_models::kModelNames[given.parameters.index()]) : model;
  const cost_models::Parameters parameters =
      at_place(network, "", [&] { return converted(given.parameters, name); });
  const cost_models::SecondsPerByte combining =
      computation.value_or(given.computation.value_or(cost_models::SecondsPerByte{}));
  return {parameters, combining, name, network,
          entries_of(operation, formulas_of(name), algorithms)};
}

std::vector<CostOptions::Read> CostOptions::read_each() const {
  const Read own = read();
  if (!model.empty() || own.model == "hockney") return {own};  // which determines no other
  std::vector<Read> all;
  for (const std::string_view name : cost_models::kModelNames) {
    all.push_back({converted(own.parameters, name), own.computation, std::string(name), own.network,
                   entries_of(operation, name, algorithms)});
  }
  return all;
}

}  // namespace espalier::cli
