// espalier decide: the best algorithm by number of ranks and message size according to published
// formulas, and the penalty of that choice against measured times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/costs/cost_model.hpp"
#include "cli/espalier/costs/decided_table.hpp"
#include "cli/espalier/costs/decision_report.hpp"
#include "cli/espalier/costs/measured_times.hpp"
#include "cli/espalier/options.hpp"
#include "cost_models/decide/decision.hpp"
#include "cost_models/decide/mpich_selection.hpp"
#include "cost_models/decide/open_mpi_rules.hpp"
#include "planner/plan/decision_table.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kBarrier = "barrier";
constexpr const char* kDecisions = "--decisions";
constexpr const char* kOpenMpiRules = "--open-mpi-rules";
constexpr const char* kMpichSelection = "--mpich-selection";
constexpr const char* kMpichLibrary = "--mpich-library";
// About a second of work with a few algorithms and segment sizes.
constexpr std::size_t kMostCells = 200'000;
constexpr std::size_t kMostPredictions = 20'000'000;

struct DecideCommand {
  Console console{};
  CostOptions cost{};
  std::string decisions{};  // file; empty: decided by formulas
  std::optional<std::uint64_t> ranks_per_host{};
  std::vector<std::size_t> ranks = parse_counts_by_one("3..32");
  std::optional<std::vector<Bytes>> sizes{};
  std::vector<Bytes> segments = parse_sizes("0,1KiB,8KiB");
  std::vector<std::string> against{};
  std::string chart{};
  std::string rules{};
  std::string selection{};
  std::string mpich{};  // libmpich.so
  bool every = false;
  bool json = false;
  bool csv = false;

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;

 private:
  // That are written.
  [[nodiscard]] std::array<std::string, 3> files() const { return {chart, rules, selection}; }
};

constexpr const char* kSizes = "1..8MiB";

std::vector<std::size_t> read_ranks(const std::string& text) {
  std::vector<std::size_t> all = parse_counts_by_one(text);
  for (const std::size_t ranks : all) {
    if (ranks > 0 && ranks <= cost_models::kMaxRanks) continue;
    throw InputError(fmt::format("{} is not from 1 to {}", ranks, cost_models::kMaxRanks));
  }
  return all;
}

cost_models::DecisionGrid grid_of(const DecideCommand& options,
                                  cost_models::SecondsPerByte computation) {
  cost_models::DecisionGrid grid{{options.ranks.begin(), options.ranks.end()}, {{0}}, computation};
  if (options.cost.operation != kBarrier) {
    grid.messages = options.sizes ? *options.sizes : parse_sizes(kSizes);
  }
  return grid;
}

void require_bounded(const cost_models::DecisionGrid& grid, std::size_t methods) {
  if (grid.cells() <= kMostCells && grid.cells() * methods <= kMostPredictions) return;
  throw InputError(
      fmt::format("decide: {} numbers of ranks, {} sizes and {} methods are too many; name fewer",
                  grid.ranks.size(), grid.messages.size(), methods));
}

// Notes measured algorithms without a formula. They are used only as the best measured ones; the
// name may be a typo.
void note_unknown_algorithms(const std::vector<cost_models::Measurement>& measured,
                             const std::string& operation, const Console& console) {
  std::set<std::string> unknown;
  for (const cost_models::Measurement& one : measured) unknown.insert(one.algorithm);
  for (const cost_models::FormulaEntry& entry : cost_models::formulas()) {
    if (entry.operation == operation) unknown.erase(std::string(entry.algorithm));
  }
  for (const std::string& name : unknown) {
    console.note(
        fmt::format("no formula of {} for the measured algorithm {}; it is used only where it is "
                    "the best measured",
                    operation, in_quotes(name)));
  }
}

void compare(DecisionReport& report, const DecideCommand& options) {
  // A model does not choose MPI's own function, which would hide what it costs to choose wrongly.
  const bool is_model = options.decisions.empty();
  const auto [measured, files] = read_measured_times(options.against, report.operation, !is_model);
  if (is_model) note_unknown_algorithms(measured, report.operation, options.console);
  report.penalties = cost_models::penalties(report.decision, measured);
  const auto unknown = std::ranges::count_if(
      report.penalties, [](const auto& penalty) { return !penalty || !penalty->chosen; });
  if (unknown == 0) return;
  options.console.note(fmt::format("{}: the choice is not measured in {} of {} cells", files,
                                   unknown, report.penalties.size()));
}

using Keep = std::function<bool(const cost_models::Prediction&)>;

// An MPI library for which a decision is written.
struct MpiLibrary {
  std::string_view option;
  std::string_view name;
  Keep has;
  std::function<std::string(const cost_models::DecisionFunction&)> write;
};

// A decision, and what it would be among some methods only.
struct Decided {
  DecisionReport report;
  std::function<cost_models::DecisionFunction(const Keep&)> among;
  std::string_view instead = "the file contains the best of the others";
};

// The decision among the library's algorithms, with notes about the others.
std::string written_for(const MpiLibrary& library, const Decided& decided, const Console& console) {
  const DecisionReport& report = decided.report;
  std::map<std::string, std::size_t> lacking;
  for (const cost_models::Prediction& best : report.decision.best) {
    if (library.has(best) || best.entry->algorithm == planner::kLibrary) continue;
    ++lacking[planner::method_name(best.entry->algorithm, best.of.segment)];
  }
  const cost_models::DecisionFunction decision = decided.among(library.has);
  const auto left = std::ranges::count_if(
      decision.best, [](const cost_models::Prediction& best) { return best.entry == nullptr; });
  if (static_cast<std::size_t>(left) == decision.best.size()) {
    throw InputError({}, std::string(library.option),
                     fmt::format("{} has none of these algorithms; name others", library.name));
  }
  for (const auto& [name, cells] : lacking) {
    console.note(fmt::format("{}: {} lacks {}, the best in {} of {} cells; {}", library.option,
                             library.name, name, cells, decision.best.size(), decided.instead));
  }
  if (left > 0) {
    console.note(fmt::format("{}: {} of {} cells are left to the library's own choice",
                             library.option, left, decision.best.size()));
  }
  return library.write(decision);
}

std::string rules_of(const DecideCommand& options, const Decided& decided) {
  const auto has = [](const cost_models::Prediction& one) {
    return open_mpi_number(one).has_value();
  };
  return written_for({kOpenMpiRules, "Open MPI 4.1", has, cost_models::open_mpi_rules}, decided,
                     options.console);
}

std::string selection_of(const DecideCommand& options, const Decided& decided) {
  const cost_models::MpichLibrary library =
      cost_models::read_mpich_library(read_text(options.mpich), options.mpich);
  const auto has = [&](const cost_models::Prediction& one) {
    return mpich_algorithm(one, one.of.ranks, library).has_value();
  };
  const auto write = [&](const cost_models::DecisionFunction& decision) {
    return at_place({}, kMpichSelection, [&] { return mpich_selection(decision, library); });
  };
  return written_for({kMpichSelection, "this MPICH", has, write}, decided, options.console);
}

// For MPI libraries; all is made before anything is written.
void write_settings(const DecideCommand& options, const Decided& decided) {
  const std::string rules = options.rules.empty() ? "" : rules_of(options, decided);
  const std::string selection = options.selection.empty() ? "" : selection_of(options, decided);
  if (!options.rules.empty()) write_text(options.rules, rules);
  if (!options.selection.empty()) write_text(options.selection, selection);
}

std::string text_of(const DecisionReport& report, const DecideCommand& options) {
  if (options.json) return json_text(decision_json(report));
  if (options.csv) return decision_csv(report);
  if (report.penalties.empty()) return decision_table(report);
  return decision_table(report) + '\n' + penalty_table(report);
}

Decided decided_by_formulas(const DecideCommand& options) {
  const CostOptions::Read read = options.cost.read();
  const cost_models::DecisionGrid grid = grid_of(options, read.computation);
  const std::vector<cost_models::Method> methods =
      cost_models::methods_of(read.entries, options.segments);
  require_bounded(grid, methods.size());
  DecisionReport report{options.cost.operation, read.model, read.network,
                        decide(methods, read.parameters, grid), methods};
  for (std::size_t cell = 0; options.every && cell < grid.cells(); ++cell) {
    for (const cost_models::Prediction& one :
         predict_each(methods, read.parameters, grid.case_of(cell))) {
      report.all.push_back(one);
    }
  }
  return {std::move(report), [methods, grid, parameters = read.parameters](const Keep& keep) {
            return decide(methods, parameters, grid, keep);
          }};
}

// The report refers to `table`.
Decided decided_by_table(const DecideCommand& options, DecidedTable& table) {
  const std::string name = display_name(options.decisions);
  planner::Decisions read = planner::parse_decisions(read_text(options.decisions), name);
  table = at_place(name, "",
                   [&] { return decided_table(std::move(read), options.ranks_per_host, name); });
  const cost_models::DecisionFunction& decision = table.report.decision;
  return {table.report, [&decision](const Keep& keep) { return kept(decision, keep); },
          "these are left to its own choice"};
}

void DecideCommand::check() const {
  if (every && !json && !csv) {
    throw InputError({}, "--every", "the table shows only the best methods; add --json or --csv");
  }
  if (std::ranges::count(files(), "-") > 1) {
    throw InputError("decide: only one of chart, rules and selection can go to standard output");
  }
  if (selection.empty() != mpich.empty()) {
    throw InputError(
        {}, selection.empty() ? kMpichLibrary : kMpichSelection,
        fmt::format("needs {}, too", selection.empty() ? kMpichSelection : kMpichLibrary));
  }
  if (cost.operation == kBarrier && sizes) {
    throw InputError({}, "--sizes", "a barrier has no message; leave this option out");
  }
}

ExitStatus DecideCommand::run() const {
  require_chart(chart);
  for (const std::string& file : {rules, selection}) {
    if (!file.empty()) require_writable(file);
  }
  DecidedTable table;
  Decided decided = decisions.empty() ? decided_by_formulas(*this) : decided_by_table(*this, table);
  DecisionReport& report = decided.report;
  if (!against.empty()) compare(report, *this);

  const std::string text = text_of(report, *this);
  write_settings(*this, decided);
  if (!chart.empty()) {
    write_text(chart,
               to_svg(report.penalties.empty() ? decision_chart(report) : penalty_chart(report)));
  }
  print_beside(text, std::ranges::count(files(), "-") > 0 ? "-" : "", console);
  return ExitStatus::kDone;
}

void DecideCommand::add_to(Arguments& app) {
  cost.add_to(app);
  app.add(kDecisions, decisions,
          "Take the decision from this table instead, as espalier-mpi tune --algorithms and --json "
          "write it (docs/formats.md); '-' is standard input",
          {.type = "FILE"});
  app.add("--ranks-per-host", ranks_per_host,
          "With --decisions, of a table for several numbers: take the rows for this one");
  for (const char* const option :
       {"--operation", "--algorithm", "--model", "--preset", "--parameters", "--compute"}) {
    app.exclude(kDecisions, option);
  }
  app.add("--ranks", ranks, read_ranks, "Numbers of processes: \"4,8,16\", \"3..32\", \"8..64:8\"",
          {.type = "LIST", .shown = "3..32"});
  app.add("--sizes", sizes, parse_sizes,
          "Message sizes: \"1KiB,1MiB\"; \"1..8MiB\" doubles, \"1..8MiB:4\" quadruples",
          {.type = "LIST", .shown = kSizes});
  app.add("--segments", segments, parse_sizes, "Segment sizes to choose from; 0: not segmented",
          {.type = "LIST"});
  app.add(
      "--against", against,
      "Measured times, JSON or CSV (docs/formats.md), or what espalier-mpi bench --json wrote; "
      "report the penalty of the decision against the best measured; repeatable; '-' is standard "
      "input",
      {.type = "FILE"});
  app.add("-o,--output", chart,
          "Draw the decision (with --against: the penalty) as SVG; '-' is standard output",
          {.type = "FILE"});
  app.add(kOpenMpiRules, rules,
          "Write the decision as rules for Open MPI 4.1 (coll_tuned_dynamic_rules_filename)",
          {.type = "FILE"});
  app.add(kMpichSelection, selection,
          "Write the decision as selections for MPICH 4 "
          "(MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE); needs --mpich-library",
          {.type = "FILE"});
  app.add(kMpichLibrary, mpich,
          "MPICH's libmpich.so, which says what it can select, and whose other selections stay",
          {.type = "FILE"});
  app.add("--every", every, "With --json or --csv: all methods, not only the best");
  app.add("--json", json, "JSON instead of a table");
  app.add("--csv", csv, "CSV instead of a table");
  app.exclude("--json", "--csv");
  app.exclude("--every", "--against");
  for (const char* const option : {"--ranks", "--sizes", "--segments", "--every"}) {
    app.exclude(kDecisions, option);
  }
  add_console_options(app, console);
  app.add_footer(
      "Assumes identical ranks and links; use 'compare' for heterogeneous platforms.\n"
      "The formulas: docs/models.md.");
}

}  // namespace

void add_decide(Arguments root) {
  root.add_command<DecideCommand>(
      "decide", "The best algorithm and segment size by number of ranks and message size");
}

}  // namespace espalier::cli
