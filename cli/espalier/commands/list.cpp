// espalier list: the entries of the registries.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

struct ListCommand {
  Console console{};
  std::string what{};
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
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

ExitStatus ListCommand::run() const {
  const std::vector<std::string_view> names = names_of(kRegistries);
  if (!what.empty() && std::ranges::find(names, what) == names.end()) {
    throw InputError("list: " + unknown_name("registry", what, names));
  }
  Json all = Json::object();
  std::string text;
  for (const Registry& registry : kRegistries) {
    if (!what.empty() && what != registry.name) continue;
    const Json entries = registry.entries();
    all[std::string(registry.name)] = entries;
    if (!text.empty()) text += '\n';
    if (what.empty()) text += fmt::format("{}:\n", registry.name);
    text += table_of(entries, console.verbose);
  }
  write_text("-", json ? json_text(all) : text);
  return ExitStatus::kDone;
}

void ListCommand::add_to(Arguments& app) {
  app.add("what", what, "algorithms, models, formats or families; default: all");
  app.add("--json", json, "JSON instead of tables");
  add_console_options(app, console);
}

}  // namespace

void add_list(Arguments root) {
  root.add_command<ListCommand>("list", "List the algorithms, models, formats and families");
}

}  // namespace espalier::cli
