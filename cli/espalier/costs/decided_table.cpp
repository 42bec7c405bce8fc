#include "cli/espalier/costs/decided_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using cost_models::FormulaEntry;

std::uint32_t per_host_of(const planner::Decisions& table, std::optional<std::uint64_t> wanted) {
  std::set<std::uint32_t> all;
  for (const planner::Decision& cell : table.cells) all.insert(cell.ranks_per_host);
  if (!wanted && all.size() == 1) return *all.begin();
  for (const std::uint32_t one : all) {
    if (wanted && one == *wanted) return one;
  }
  throw InputError(
      fmt::format("has rows for {} ranks per host; name one of them with --ranks-per-host",
                  fmt::join(all, ", ")));
}

const FormulaEntry* entry_of(DecidedTable& decided, const std::string& algorithm) {
  const auto found = std::ranges::find(decided.entries, algorithm, &FormulaEntry::algorithm);
  if (found != decided.entries.end()) return &*found;
  FormulaEntry entry{};
  entry.operation = planner::name_of(decided.table.operation);
  entry.algorithm = algorithm;
  entry.segments = true;
  return &decided.entries.emplace_back(entry);
}

}  // namespace

DecidedTable decided_table(planner::Decisions table, std::optional<std::uint64_t> ranks_per_host,
                           const std::string& name) {
  const std::uint32_t per_host = per_host_of(table, ranks_per_host);
  DecidedTable decided{std::move(table), {}, {}};
  DecisionReport& report = decided.report;
  report.operation = planner::name_of(decided.table.operation);
  report.model = "table";
  report.network = name;
  std::set<std::uint64_t> ranks;
  std::set<Bytes> messages;
  for (const planner::Decision& cell : decided.table.cells) {
    if (cell.ranks_per_host != per_host) continue;
    ranks.insert(cell.ranks);
    messages.insert({cell.message_bytes});
  }
  cost_models::DecisionGrid& grid = report.decision.grid;
  grid = {{ranks.begin(), ranks.end()}, {messages.begin(), messages.end()}, {}};
  for (std::size_t i = 0; i < grid.cells(); ++i) {
    cost_models::Case of = grid.case_of(i);
    const planner::Decision& cell = decision_for(
        decided.table, {static_cast<std::uint32_t>(of.ranks), per_host}, of.message.value);
    of.segment = {cell.segment_bytes < of.message.value ? cell.segment_bytes : 0};
    const FormulaEntry* const entry = entry_of(decided, cell.algorithm);
    report.decision.best.push_back({entry, of, cell.time()});
    const bool is_known = std::ranges::any_of(report.methods, [&](const auto& method) {
      return method.entry == entry && method.segment == of.segment;
    });
    if (!is_known) report.methods.push_back({entry, of.segment});
  }
  return decided;
}

cost_models::DecisionFunction kept(
    const cost_models::DecisionFunction& decision,
    const std::function<bool(const cost_models::Prediction&)>& keep) {
  cost_models::DecisionFunction some = decision;
  for (cost_models::Prediction& best : some.best) {
    if (!keep(best)) best.entry = nullptr;
  }
  return some;
}

}  // namespace espalier::cli
