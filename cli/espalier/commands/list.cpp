// espalier list: the entries of the registries.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/formats/formats.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

struct ListOptions {
  Console console;
  std::string what;
  bool json = false;
};

Json algorithms_json() {
  Json rows = Json::array();
  for (const planner::AlgorithmEntry& entry : planner::algorithms()) {
    Json operations = Json::array();
    for (const planner::Operation operation : planner::kOperations) {
      if (entry.does(operation)) operations.push_back(planner::name_of(operation));
    }
    rows.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"source", entry.source},
                    {"complexity", entry.complexity},
                    {"guarantee", entry.guarantee},
                    {"operations", std::move(operations)},
                    {"inner", entry.takes_inner() ? Json(planner::kDefaultInner) : Json()}});
  }
  return rows;
}

Json models_json() {
  Json rows = Json::array();
  for (const platforms::ModelEntry& entry : platforms::models()) {
    rows.push_back({{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}});
  }
  return rows;
}

Json formats_json() {
  Json rows = Json::array();
  for (const platforms::FormatEntry& entry : platforms::formats()) {
    rows.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"extensions", entry.extensions},
                    {"writes", entry.write != nullptr}});
  }
  return rows;
}

Json families_json() {
  Json rows = Json::array();
  for (const FamilyEntry& entry : families()) {
    rows.push_back({{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}});
  }
  return rows;
}

struct Registry {
  std::string_view name;
  Json (*entries)();
};
constexpr std::array kRegistries{Registry{"algorithms", algorithms_json},
                                 Registry{"models", models_json}, Registry{"formats", formats_json},
                                 Registry{"families", families_json}};

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_array())
    return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", "));
  return value.get<std::string>();
}

// A table of names and summaries; with --verbose of all fields.
std::string table_of(const Json& entries, bool verbose) {
  std::vector<Table::Column> columns;
  for (const auto& [key, value] : entries.front().items()) {
    if (verbose || key == "name" || key == "summary" || key == "inner" || key == "operations")
      columns.push_back({key, Table::Align::kLeft});
  }
  Table table(columns);
  for (const Json& entry : entries) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const Table::Column& column : columns) cells.push_back(cell(entry.at(column.title)));
    table.add_row(std::move(cells));
  }
  return table.text();
}

ExitStatus run_list(const ListOptions& options) {
  std::vector<std::string_view> names;
  names.reserve(kRegistries.size());
  for (const Registry& registry : kRegistries) names.push_back(registry.name);
  if (!options.what.empty() && std::find(names.begin(), names.end(), options.what) == names.end()) {
    throw InputError("list: " + unknown_name("registry", options.what, names));
  }
  Json json = Json::object();
  std::string text;
  for (const Registry& registry : kRegistries) {
    if (!options.what.empty() && options.what != registry.name) continue;
    const Json entries = registry.entries();
    json[std::string(registry.name)] = entries;
    if (!text.empty()) text += '\n';
    if (options.what.empty()) text += fmt::format("{}:\n", registry.name);
    text += table_of(entries, options.console.verbose);
  }
  write_text("-", options.json ? json_text(json) : text);
  return ExitStatus::kDone;
}

}  // namespace

Command add_list(Arguments root) {
  auto options = std::make_shared<ListOptions>();
  Arguments app = root.add_command("list", "List the algorithms, models, formats and families");
  app.add("what", options->what, "algorithms, models, formats or families; default: all");

  app.add_flag("--json", options->json, "JSON instead of tables");
  add_console_options(app, options->console);
  return {app, [options] { return run_list(*options); }};
}

}  // namespace espalier::cli
