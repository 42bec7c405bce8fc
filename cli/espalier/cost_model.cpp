#include "cli/espalier/cost_model.hpp"

#include <algorithm>

#include "cli/espalier/options.hpp"
#include "cost_models/parameters_json.hpp"
#include "cost_models/presets.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kLogP = "logp";

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const cost_models::Preset& preset : cost_models::presets()) names.push_back(preset.name);
  return names;
}

void require_name(std::string_view option, std::string_view kind, const std::string& name,
                  const std::vector<std::string_view>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw InputError({}, std::string(option), unknown_name(kind, name, names));
}

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
  std::vector<std::string> chosen;
  for (const std::string& text : wanted) {
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t comma = std::min(text.find(',', start), text.size());
      chosen.push_back(text.substr(start, comma - start));
      start = comma + 1;
      if (chosen.back() != "all") {
        require_name("--algorithm", "algorithm of " + operation, chosen.back(), names);
      }
    }
  }
  const bool all = chosen.empty() || std::find(chosen.begin(), chosen.end(), "all") != chosen.end();
  std::vector<const cost_models::FormulaEntry*> entries;
  for (const cost_models::FormulaEntry& entry : cost_models::formulas()) {
    if (entry.operation != operation || entry.model() != model) continue;
    if (all || std::find(chosen.begin(), chosen.end(), entry.algorithm) != chosen.end()) {
      entries.push_back(&entry);
    }
  }
  return entries;
}

}  // namespace

cost_models::SecondsPerByte computation_of(const std::string& rate) {
  if (rate.empty()) return {};
  const double value = parse_option("--compute", rate, parse_rate).value;
  if (value <= 0) throw InputError({}, "--compute", "must be above zero");
  return {1 / value};
}

std::vector<std::string_view> cost_model_names() {
  std::vector<std::string_view> names(cost_models::kModelNames.begin(),
                                      cost_models::kModelNames.end());
  names.insert(names.begin() + 1, kLogP);
  return names;
}

void CostOptions::add_to(Arguments& app) {
  app.add("--operation", operation_, one_of(cost_models::operation_names()), {.type = "NAME"});
  app.add(
      "--algorithm,--algorithms", algorithms_,
      "Algorithms; repeatable, or separated by commas; 'all' (default): all that the model has a "
      "formula for",
      {.type = "NAME"});
  app.add("--model", model_,
          one_of(cost_model_names()) + "; default: that of --parameters, or loggp",
          {.type = "MODEL"});
  app.add("--preset", preset_, "A network with published parameters, " + one_of(preset_names()),
          {.type = "NAME"});
  app.add(
      "--parameters", file_,
      "Read the parameters from this JSON file instead (docs/formats.md); '-' is standard input",
      {.type = "FILE"});
  app.exclude("--preset", "--parameters");
  app.add("--compute", compute_,
          "How fast a rank combines data in a reduction, \"4 GB/s\"; default: instantly",
          {.type = "RATE"});
}

CostOptions::Read CostOptions::read() const {
  require_name("--operation", "operation", operation_, cost_models::operation_names());
  if (!model_.empty()) require_name("--model", "model", model_, cost_model_names());
  if (preset_.empty() && file_.empty()) {
    throw InputError({}, "--preset", "missing; give --preset NAME or --parameters FILE");
  }
  if (!preset_.empty()) require_name("--preset", "preset", preset_, preset_names());
  const cost_models::Parameters given =
      file_.empty() ? cost_models::Parameters(cost_models::find_preset(preset_).loggp)
                    : cost_models::parse_parameters(read_text(file_), display_name(file_));
  const std::string model =
      model_.empty() ? std::string(cost_models::kModelNames[given.index()]) : model_;
  const auto parameters = [&] {
    try {
      return converted(given, model);
    } catch (const InputError& fault) {
      throw InputError(file_.empty() ? preset_ : display_name(file_), {}, fault.what());
    }
  }();
  return {parameters, model, file_.empty() ? preset_ : display_name(file_),
          entries_of(operation_, formulas_of(model), algorithms_), computation_of(compute_)};
}

}  // namespace espalier::cli
