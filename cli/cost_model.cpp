#include "cli/cost_model.hpp"

#include <algorithm>

#include "cli/options.hpp"
#include "models/presets.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kLogP = "logp";

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const models::Preset& preset : models::presets()) names.push_back(preset.name);
  return names;
}

void require_name(std::string_view option, std::string_view kind, const std::string& name,
                  const std::vector<std::string_view>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw InputError({}, std::string(option), unknown_name(kind, name, names));
}

// LogP's formulas are LogGP's.
std::string_view formulas_of(std::string_view model) {
  return model == kLogP ? "loggp" : model;
}

models::Parameters parameters_of(const models::Preset& preset, std::string_view model) {
  if (model == "hockney") return models::hockney_from(preset.loggp);
  if (model == "plogp") return models::plogp_from(preset.loggp);
  if (model == kLogP) return models::logp(preset.loggp);
  return preset.loggp;
}

std::vector<const models::FormulaEntry*> entries_of(const std::string& operation,
                                                    std::string_view model,
                                                    const std::vector<std::string>& wanted) {
  const auto names = models::algorithm_names(operation, model);
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
  std::vector<const models::FormulaEntry*> entries;
  for (const models::FormulaEntry& entry : models::formulas()) {
    if (entry.operation != operation || entry.model() != model) continue;
    if (all || std::find(chosen.begin(), chosen.end(), entry.algorithm) != chosen.end()) {
      entries.push_back(&entry);
    }
  }
  return entries;
}

// What a byte takes to combine at this rate; nothing where none is given.
models::SecondsPerByte computation_of(const std::string& rate) {
  if (rate.empty()) return {};
  const double value = parse_option("--compute", rate, parse_rate).value;
  if (value <= 0) throw InputError({}, "--compute", "must be above zero");
  return {1 / value};
}

}  // namespace

std::vector<std::string_view> cost_model_names() {
  std::vector<std::string_view> names(models::kModelNames.begin(), models::kModelNames.end());
  names.insert(names.begin() + 1, kLogP);
  return names;
}

void CostOptions::add_to(Arguments& app) {
  app.add("--operation", operation_, one_of(models::operation_names()), {.type = "NAME"});
  app.add("--algorithm", algorithms_,
          "Which; repeatable, or separated by commas; 'all', as when left out, is every one that "
          "the model has a formula for",
          {.type = "NAME"});
  app.add("--model", model_, one_of(cost_model_names()), {.type = "MODEL"});
  app.add("--preset", preset_, "Whose parameters; " + one_of(preset_names()),
          {.type = "NAME", .required = true});
  app.add("--compute", compute_,
          "How fast a rank combines what it reduces, \"4 GB/s\"; at once when left out",
          {.type = "RATE"});
}

CostOptions::Read CostOptions::read() const {
  require_name("--operation", "operation", operation_, models::operation_names());
  require_name("--model", "model", model_, cost_model_names());
  require_name("--preset", "preset", preset_, preset_names());
  return {parameters_of(models::find_preset(preset_), model_),
          entries_of(operation_, formulas_of(model_), algorithms_), computation_of(compute_)};
}

}  // namespace espalier::cli
