// Decision functions: which algorithm with which segment size is best for so many ranks and so long
// a message, by a model; and what it costs to go by the model instead of by measurements.
//
// Source: CM (parameters.hpp), section 6.3, figures 6 and 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost_models/formulas/predict.hpp"

namespace espalier::cost_models {

// One way to do an operation.
struct Method {
  const FormulaEntry* entry = nullptr;
  Bytes segment;  // 0: not cut
};

// Every entry with every segment size, in their orders; once, with 0, where an entry does not cut.
std::vector<Method> methods_of(std::span<const FormulaEntry* const> entries,
                               std::span<const Bytes> segments);

// What is asked for: every number of ranks with every message size.
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
  // Of cell r * messages.size() + c: ranks[r], messages[c]. entry is nullptr where no method was
  // kept.
  std::vector<Prediction> best;
};

// Every method's time in one case. A segment that is not smaller than the message is none, and what
// comes to the same then stands once. Errors as predict.
std::vector<Prediction> predict_each(std::span<const Method> methods, const Parameters& parameters,
                                     const Case& of);

// The best method of each cell, of equal ones (up to rounding) the first, among those that `keep`
// (empty: all) says yes to. Errors as predict; InputError for no methods, no ranks, or no messages.
DecisionFunction decide(std::span<const Method> methods, const Parameters& parameters,
                        const DecisionGrid& grid,
                        const std::function<bool(const Prediction&)>& keep = {});

// What an operation really took.
struct Measurement {
  std::string algorithm;  // as in the registry; others are good for the best only
  Bytes segment;          // 0, or not smaller than the message: not cut
  std::uint64_t ranks = 0;
  Bytes message;
  Seconds time;
};

// What a decision costs in one cell.
struct Penalty {
  Measurement best;               // the least time measured there, of whatever algorithm
  std::optional<Seconds> chosen;  // of the decision's method, measured; unset: it was not
  // How much longer the decision's takes: 0.5 is half as long again. Unset: not known.
  [[nodiscard]] std::optional<double> loss() const {
    if (!chosen) return std::nullopt;
    return chosen->value / best.time.value - 1;
  }
};

// A cell each; unset where nothing was measured. Of several measurements of the same the least
// counts. Throws InputError (place: "/INDEX") for a time that is not finite and above zero.
std::vector<std::optional<Penalty>> penalties(const DecisionFunction& decision,
                                              std::span<const Measurement> measurements);

}  // namespace espalier::cost_models
