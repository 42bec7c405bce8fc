// The best algorithm and segment size for each number of ranks and message size, predicted by a
// model, and the loss against measured ones: CM (parameters.hpp), section 6.3, figures 6 and 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/formulas/predict.hpp"

namespace espalier::cost_models {

// An algorithm with a segment size.
struct Method {
  const FormulaEntry* entry = nullptr;
  Bytes segment;  // 0: not cut
};

// Every entry with every segment size, in the given orders. An entry that does not use segments
// appears once, with size 0.
std::vector<Method> methods_of(std::span<const FormulaEntry* const> entries,
                               std::span<const Bytes> segments);

// All combinations of these numbers of ranks and message sizes.
struct DecisionGrid {
  std::vector<std::uint64_t> ranks;  // ascending
  std::vector<Bytes> messages;       // ascending
  SecondsPerByte computation;        // Case::computation

  [[nodiscard]] std::size_t cells() const { return ranks.size() * messages.size(); }
  [[nodiscard]] Case case_of(std::size_t cell) const {
    return {ranks[cell / messages.size()], messages[cell % messages.size()], {}, computation};
  }
};

struct DecisionFunction {
  DecisionGrid grid;
  // Cell r * messages.size() + c is for ranks[r] and messages[c]. `entry` is nullptr where `keep`
  // accepted no method.
  std::vector<Prediction> best;
};

// The time of every method in one case. A segment that is not smaller than the message counts as 0
// (not cut); methods that are then identical are listed once. Errors as predict.
std::vector<Prediction> predict_each(std::span<const Method> methods, const Parameters& parameters,
                                     const Case& of);

// The best method of each cell among those for which `keep` returns true (empty: all methods). Of
// methods that are equal up to rounding, the first is taken. Errors as predict; InputError for no
// methods, no ranks, or no messages.
DecisionFunction decide(std::span<const Method> methods, const Parameters& parameters,
                        const DecisionGrid& grid,
                        const std::function<bool(const Prediction&)>& keep = {});

// Of the methods of a decision, which has at least one.
std::string_view operation_of(const DecisionFunction& decision);

// A measured time of an operation.
struct Measurement {
  std::string algorithm;  // as in the registry; any other counts only as the best measured one
  Bytes segment;          // 0, or not smaller than the message: not cut
  std::uint64_t ranks = 0;
  Bytes message;
  Seconds time;
};

// The loss from a decision in one cell.
struct Penalty {
  Measurement best;               // the least time measured in this cell, of any algorithm
  std::optional<Seconds> chosen;  // measured time of the decision's method; unset: not measured
  // Extra time of the decision's method relative to the best: 0.5 is 50 % longer. Unset: unknown.
  [[nodiscard]] std::optional<double> loss() const {
    if (!chosen) return std::nullopt;
    return chosen->value / best.time.value - 1;
  }
};

// One per cell; unset where nothing was measured. Of several measurements of the same method the
// least counts. Throws InputError (place: "/INDEX") for a time that is not finite and above 0.
std::vector<std::optional<Penalty>> penalties(const DecisionFunction& decision,
                                              std::span<const Measurement> measurements);

}  // namespace espalier::cost_models
