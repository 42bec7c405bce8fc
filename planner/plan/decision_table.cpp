#include "planner/plan/decision_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "support/json.hpp"
#include "support/nearest_name.hpp"

namespace espalier::planner {
namespace {

constexpr std::uint64_t kMostRanks = 2'147'483'647;  // MPI counts them in an int

constexpr std::array kExecuted{
    ExecutedFormula{Operation::kBroadcast, "linear", "flat"},
    ExecutedFormula{Operation::kBroadcast, "pipeline", "chain"},
    ExecutedFormula{Operation::kBroadcast, "binomial", "binomial"},
    ExecutedFormula{Operation::kBroadcast, "binary", "binary"},
    ExecutedFormula{Operation::kBroadcast, "split-binary", "split-binary", 2},
    ExecutedFormula{Operation::kBroadcast, "two-tree", "two-tree-complete", 2, 2},
    ExecutedFormula{Operation::kReduce, "flat-tree", "flat"},
    ExecutedFormula{Operation::kReduce, "pipeline", "chain"},
    ExecutedFormula{Operation::kReduce, "binomial", "binomial"},
    ExecutedFormula{Operation::kReduce, "binary", "binary"},
    ExecutedFormula{Operation::kReduce, "two-tree", "two-tree-complete", 2, 2},
    ExecutedFormula{Operation::kAllreduce, "pipeline", "chain"},
    ExecutedFormula{Operation::kAllreduce, "binomial", "binomial"},
    ExecutedFormula{Operation::kAllreduce, "binary", "binary"},
    ExecutedFormula{Operation::kAllreduce, "two-tree", "two-tree-complete", 2, 2},
    ExecutedFormula{Operation::kBarrier, "flat-tree", "flat"},
};

Operation operation_at(const JsonCursor& at) {
  for (const Operation operation : kOperations) {
    if (at.string() == name_of(operation)) return operation;
  }
  at.refuse(fmt::format("{} has no plans; use a table for broadcast, reduce or allreduce",
                        in_quotes(at.string())));
}

std::uint32_t ranks_at(const JsonCursor& at) {
  const std::uint64_t ranks = at.unsigned_integer();
  if (ranks == 0 || ranks > kMostRanks) {
    at.refuse(fmt::format("{} is not in 1 to {}", ranks, kMostRanks));
  }
  return static_cast<std::uint32_t>(ranks);
}

Seconds time_at(const JsonCursor& at) {
  const Seconds time{at.number()};
  if (time.value < 0) at.refuse("a time must not be negative");
  return time;
}

void require_known(const JsonCursor& at, Operation operation) {
  if (at.string() == kLibrary || decided_shape(operation, at.string())) return;
  std::vector<std::string_view> names;
  for (const ExecutedFormula& one : kExecuted) {
    if (one.operation == operation) names.push_back(one.algorithm);
  }
  names.push_back(kLibrary);
  at.refuse(unknown_name("algorithm", at.string(), names));
}

Decision decision_at(const JsonCursor& at, Operation operation) {
  Decision decision;
  if (const auto per_host = at.find("ranks_per_host"))
    decision.ranks_per_host = ranks_at(*per_host);
  decision.ranks = ranks_at(at.at("ranks"));
  decision.message_bytes = at.at("message_bytes").unsigned_integer();
  require_known(at.at("algorithm"), operation);
  decision.algorithm = at.at("algorithm").string();
  decision.segment_bytes = at.at("segment_bytes").unsigned_integer();
  decision.predicted = time_at(at.at("predicted_s"));
  const auto measured = at.find("measured_s");
  if (measured && !measured->value().is_null()) decision.measured = time_at(*measured);
  return decision;
}

// Of the case that a cell decides.
auto case_of(const Decision& cell) {
  return std::tuple(cell.ranks_per_host, cell.ranks, cell.message_bytes);
}

// An empty message counts as half a byte, so that ratios exist.
double positive(std::uint64_t number) {
  return number == 0 ? 0.5 : static_cast<double>(number);
}

// The cells whose number is the nearest to `value`. Precondition: at least one; sorted by it.
template <class Number>
std::span<const Decision> nearest(std::span<const Decision> cells, Number Decision::*number,
                                  std::uint64_t value) {
  const auto upper = std::ranges::lower_bound(cells, value, {}, number);
  Number found = upper == cells.end() ? cells.back().*number : (*upper).*number;
  if (upper != cells.begin() && upper != cells.end()) {
    const Number lower = (*std::prev(upper)).*number;
    if (positive(value) / positive(lower) <= positive(found) / positive(value)) found = lower;
  }
  return {std::ranges::lower_bound(cells, found, {}, number),
          std::ranges::upper_bound(cells, found, {}, number)};
}

}  // namespace

std::span<const ExecutedFormula> executed_formulas() {
  return kExecuted;
}

std::optional<DecidedShape> decided_shape(Operation operation, std::string_view algorithm) {
  const bool is_hierarchical = algorithm.starts_with(kHierarchical);
  if (is_hierarchical) algorithm.remove_prefix(kHierarchical.size());
  // Halves that are exchanged have no levels.
  if (is_hierarchical && algorithm == "split-binary") return std::nullopt;
  for (const ExecutedFormula& one : kExecuted) {
    if (one.operation == operation && one.algorithm == algorithm) {
      return DecidedShape{one, is_hierarchical};
    }
  }
  return std::nullopt;
}

std::string method_name(std::string_view algorithm, Bytes segment) {
  if (segment.value == 0) return std::string(algorithm);
  return fmt::format("{}/{}", algorithm, format_size(segment));
}

Decisions parse_decisions(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  Decisions decisions;
  decisions.operation = operation_at(root.at("operation"));
  const JsonCursor rows = root.at("rows");
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> cases;
  for (const JsonCursor& row : rows.elements()) {
    decisions.cells.push_back(decision_at(row, decisions.operation));
    const Decision& cell = decisions.cells.back();
    if (!cases.insert(case_of(cell)).second) {
      row.refuse(
          fmt::format("{} bytes on {} appear twice; write the table with espalier decide "
                      "without --every",
                      cell.message_bytes, counted(cell.ranks, "rank")));
    }
    if ((cell.ranks_per_host == 0) != (decisions.cells.front().ranks_per_host == 0)) {
      row.refuse("all rows have ranks_per_host, or none");
    }
  }
  if (decisions.cells.empty()) rows.refuse("the table is empty");
  std::ranges::sort(decisions.cells, {}, case_of);
  return decisions;
}

std::string decisions_json(const Decisions& decisions) {
  std::string text =
      fmt::format("{{ \"operation\": \"{}\",\n  \"rows\": [", name_of(decisions.operation));
  const char* between = "\n    ";
  for (const Decision& cell : decisions.cells) {
    Json json = Json::object();
    if (cell.ranks_per_host != 0) json["ranks_per_host"] = cell.ranks_per_host;
    json["ranks"] = cell.ranks;
    json["message_bytes"] = cell.message_bytes;
    json["algorithm"] = cell.algorithm;
    json["segment_bytes"] = cell.segment_bytes;
    json["predicted_s"] = cell.predicted.value;
    if (cell.measured) json["measured_s"] = cell.measured->value;
    text += between + compact_dump(json);
    between = ",\n    ";
  }
  return text + "] }\n";
}

void merge(Decisions& into, std::span<const Decision> cells) {
  for (const Decision& cell : cells) {
    std::erase_if(into.cells, [&](const Decision& old) { return case_of(old) == case_of(cell); });
    into.cells.push_back(cell);
  }
  std::ranges::sort(into.cells, {}, case_of);
}

std::span<const Decision> cells_for(const Decisions& decisions, const Among& among) {
  return nearest(
      nearest(std::span(decisions.cells), &Decision::ranks_per_host, among.ranks_per_host),
      &Decision::ranks, among.ranks);
}

const Decision& decision_for(const Decisions& decisions, const Among& among,
                             std::uint64_t message_bytes) {
  return nearest(cells_for(decisions, among), &Decision::message_bytes, message_bytes).front();
}

}  // namespace espalier::planner
