// espalier list: the entries of the registries.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/formats/formats.hpp"
#include "support/files.hpp"
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

// A column with the same name in text and JSON; `always`: not only with --verbose.
Column column(const char* name, bool always) {
  return {name, name, Table::Align::kLeft, always};
}

Rows algorithm_rows(bool verbose) {
  Rows rows({column("name", true), column("summary", true), column("source", verbose),
             column("complexity", verbose), column("guarantee", verbose),
             column("operations", true), column("inner", true)});
  for (const planner::AlgorithmEntry& entry : planner::algorithms()) {
    std::vector<std::string_view> operations;
    for (const planner::Operation operation : planner::kEveryOperation) {
      if (entry.does(operation)) operations.push_back(planner::name_of(operation));
    }
    rows.add({entry.name, entry.summary, entry.source, entry.complexity, entry.guarantee,
              Cell(operations.size() == planner::kEveryOperation.size()
                       ? "all"
                       : fmt::format("{}", fmt::join(operations, ", ")),
                   operations),
              entry.takes_inner() ? Cell(planner::kDefaultInner) : Cell("-", Json())});
  }
  return rows;
}

Rows format_rows(bool verbose) {
  Rows rows({column("name", true), column("summary", true), column("extensions", verbose),
             column("writes", verbose)});
  for (const platforms::FormatEntry& entry : platforms::formats()) {
    const bool writes = entry.write != nullptr;
    rows.add({entry.name, entry.summary, entry.extensions, Cell(writes ? "yes" : "no", writes)});
  }
  return rows;
}

// Of models or families.
template <class Entries>
Rows entry_rows(const Entries& entries, bool verbose) {
  Rows rows({column("name", true), column("summary", true), column("source", verbose)});
  for (const auto& entry : entries) rows.add({entry.name, entry.summary, entry.source});
  return rows;
}

struct Registry {
  std::string_view name;
  Rows (*rows)(bool verbose);
};
constexpr std::array kRegistries{
    Registry{"algorithms", algorithm_rows},
    Registry{"models", [](bool verbose) { return entry_rows(platforms::models(), verbose); }},
    Registry{"formats", format_rows},
    Registry{"families", [](bool verbose) { return entry_rows(families(), verbose); }}};

ExitStatus ListCommand::run() const {
  const std::vector<std::string_view> names = names_of(kRegistries);
  if (!what.empty() && std::ranges::find(names, what) == names.end()) {
    throw InputError("list: " + unknown_name("registry", what, names));
  }
  Report report;
  for (const Registry& registry : kRegistries) {
    if (!what.empty() && what != registry.name) continue;
    if (what.empty()) report.say(fmt::format("{}:\n", registry.name), /*joined=*/true);
    report.add(std::string(registry.name), registry.rows(console.verbose));
  }
  write_text("-", report.render(json));
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
