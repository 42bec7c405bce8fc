#include "cost_models/decide/decision.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

// Relative rounding error between formulas that are mathematically equal (linear and binary on
// three ranks, for example).
constexpr double kRounding = 1e-12;

template <typename Value>
std::optional<std::size_t> index_in(const std::vector<Value>& ascending, const Value& value) {
  const auto at = std::lower_bound(ascending.begin(), ascending.end(), value);
  if (at == ascending.end() || *at != value) return std::nullopt;
  return static_cast<std::size_t>(at - ascending.begin());
}

// The index of the measured cell; unset if the grid does not contain it.
std::optional<std::size_t> cell_of(const DecisionGrid& grid, const Measurement& measured) {
  const auto row = index_in(grid.ranks, measured.ranks);
  const auto column = index_in(grid.messages, measured.message);
  if (!row || !column) return std::nullopt;
  return *row * grid.messages.size() + *column;
}

// The segment size, or 0 if it does not cut the message. Split-binary cuts each half.
Bytes cut_of(const FormulaEntry& entry, Bytes segment, Bytes message) {
  const std::uint64_t whole = message.value;
  const Bytes most{entry.halves() ? whole - whole / 2 : whole};
  return segment < most ? segment : Bytes{0};
}

bool is_of(const Measurement& measured, const Prediction& choice) {
  if (choice.entry == nullptr || measured.algorithm != choice.entry->algorithm) return false;
  if (!choice.entry->segments) return true;
  return cut_of(*choice.entry, measured.segment, measured.message) ==
         cut_of(*choice.entry, choice.of.segment, measured.message);
}

}  // namespace

std::vector<Method> methods_of(std::span<const FormulaEntry* const> entries,
                               std::span<const Bytes> segments) {
  std::vector<Method> methods;
  for (const FormulaEntry* entry : entries) {
    if (!entry->segments) {
      methods.push_back({entry, {}});
      continue;
    }
    for (const Bytes segment : segments) methods.push_back({entry, segment});
  }
  return methods;
}

std::vector<Prediction> predict_each(std::span<const Method> methods, const Parameters& parameters,
                                     const Case& of) {
  std::vector<Prediction> predictions;
  for (const Method& method : methods) {
    Prediction prediction{method.entry, of, {}};
    prediction.of.segment = method.segment < of.message ? method.segment : Bytes{0};
    const bool known = std::ranges::any_of(predictions, [&](const Prediction& other) {
      return other.entry == method.entry && other.of.segment == prediction.of.segment;
    });
    if (known) continue;
    prediction.time = predict(*method.entry, parameters, prediction.of);
    predictions.push_back(prediction);
  }
  return predictions;
}

DecisionFunction decide(std::span<const Method> methods, const Parameters& parameters,
                        const DecisionGrid& grid,
                        const std::function<bool(const Prediction&)>& keep) {
  if (methods.empty()) throw InputError("no algorithms to choose from");
  if (grid.ranks.empty()) throw InputError("no numbers of ranks");
  if (grid.messages.empty()) throw InputError("no message sizes");
  DecisionFunction decision{grid, {}};
  decision.best.reserve(grid.cells());
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
    Prediction best{nullptr, grid.case_of(cell), {}};
    for (const Prediction& one : predict_each(methods, parameters, best.of)) {
      if (keep && !keep(one)) continue;
      if (best.entry == nullptr || one.time.value < (1 - kRounding) * best.time.value) best = one;
    }
    decision.best.push_back(best);
  }
  return decision;
}

std::vector<std::optional<Penalty>> penalties(const DecisionFunction& decision,
                                              std::span<const Measurement> measurements) {
  std::vector<std::optional<Penalty>> found(decision.best.size());
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Measurement& measured = measurements[i];
    require_time(i, measured.time);
    const auto cell = cell_of(decision.grid, measured);
    if (!cell) continue;
    std::optional<Penalty>& penalty = found[*cell];
    if (!penalty) {
      penalty = Penalty{measured, std::nullopt};
    } else if (measured.time < penalty->best.time) {
      penalty->best = measured;
    }
    if (is_of(measured, decision.best[*cell]) &&
        (!penalty->chosen || measured.time < *penalty->chosen)) {
      penalty->chosen = measured.time;
    }
  }
  return found;
}

std::string_view operation_of(const DecisionFunction& decision) {
  const auto some = std::ranges::find_if(
      decision.best, [](const Prediction& best) { return best.entry != nullptr; });
  if (some == decision.best.end()) throw std::invalid_argument("a decision without any method");
  return some->entry->operation;
}

}  // namespace espalier::cost_models
