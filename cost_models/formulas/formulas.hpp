// Times of collective operations by the formulas of CM, tables 1 to 4, of TTC, and of Thakur,
// Rabenseifner and Gropp, as rows of a table (docs/models.md; docs/decisions/0010 where the printed
// tables are damaged).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "cost_models/parameters.hpp"
#include "support/quantities.hpp"

namespace espalier::cost_models {

inline constexpr std::uint64_t kMaxRanks = 2'147'483'647;  // MPI counts them in an int

// One call of an operation.
struct Case {
  std::uint64_t ranks = 1;  // P
  // m: the root's message (broadcast, reduce); a rank's (allreduce); all shares together, each of
  // m / P (allgather, reduce-scatter, scatter, gather); what each rank sends to each other
  // (alltoall); ignored (barrier).
  Bytes message;
  // ms, the segment size; 0 or larger than the message: not cut. The last segment counts as a full
  // one. Barriers, the pairwise alltoall and operations with shares ignore it.
  Bytes segment;
  SecondsPerByte computation;  // gamma: time to combine a byte in a reduction
};

// The actual segment size: at most the message, and at least one byte unless the message is empty.
Bytes segment_of(const Case& of);
// ns, the number of segments; 1 for an empty message.
std::uint64_t segments_of(const Case& of);

// The symbols of a formula, in seconds and bytes (terms.hpp).
struct HockneyTerms;
struct LogGPTerms;
struct PLogPTerms;
struct Counts;
template <typename Terms>
using FormulaOf = double (*)(const Terms&, const Counts&);
// In the order of kModelNames.
using Formula = std::variant<FormulaOf<HockneyTerms>, FormulaOf<LogGPTerms>, FormulaOf<PLogPTerms>>;

struct FormulaEntry {
  std::string_view operation;  // "barrier", "broadcast", ...: as a plan's
  std::string_view algorithm;
  std::string_view source;  // table and row
  bool segments;            // whether the formula uses Case::segment
  Formula formula;
  std::string_view deviation{};  // from the printed row; empty: none

  [[nodiscard]] std::string_view model() const { return kModelNames[formula.index()]; }
  // Whether halves of the message are sent, so that a segment is at most one half.
  [[nodiscard]] bool halves() const { return algorithm == "split-binary"; }
  // Whether messages are of one share or several.
  [[nodiscard]] bool has_shares() const {
    return operation == "allgather" || operation == "reduce-scatter" || operation == "scatter" ||
           operation == "gather";
  }
};

// Ordered by operation, algorithm and model, as in the tables.
std::span<const FormulaEntry> formulas();

// Each once, in the order of formulas().
// Null: there is none.
const FormulaEntry* find_formula(std::string_view operation, std::string_view algorithm,
                                 std::string_view model);
std::vector<std::string_view> operation_names();
// Of one operation and model.
std::vector<std::string_view> algorithm_names(std::string_view operation, std::string_view model);

}  // namespace espalier::cost_models
