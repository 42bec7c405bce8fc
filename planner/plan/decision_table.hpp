// A decision function: for numbers of ranks and message sizes, the algorithm and the segment size.
// `espalier decide --json` writes one from formulas, `espalier-mpi tune --algorithms` one from
// measurements.
//
// What is not in the table uses the nearest entry by ratio: first the nearest number of ranks per
// host (the smaller of two equally near ones), then, among its cells, the nearest number of ranks,
// then the nearest message size.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// What a published formula (cost_models/formulas/formulas.hpp) is called where it is executed.
struct ExecutedFormula {
  Operation operation;
  std::string_view algorithm;  // the formula's; without a formula: the broadcast's of this shape
  std::string_view shape;      // oblivious_shapes.hpp
  std::uint64_t trees = 1;
  std::uint64_t parts = 1;  // of the formula's segment: TTC's chunks are half of each tree's
};
// In the order of the operations.
std::span<const ExecutedFormula> executed_formulas();

// The algorithm of calls that are left to MPI's own function.
inline constexpr std::string_view kLibrary = "library";
// Before an algorithm's name: in two levels, among hosts and within each (hierarchical_shape).
inline constexpr std::string_view kHierarchical = "hierarchical-";

// What executes an algorithm of a table.
struct DecidedShape {
  ExecutedFormula formula;
  bool is_hierarchical = false;
};
// Unset: kLibrary, or an unknown name.
std::optional<DecidedShape> decided_shape(Operation operation, std::string_view algorithm);

// "pipeline/8 KiB"; "pipeline" if the message is not segmented.
std::string method_name(std::string_view algorithm, Bytes segment);

// One cell of the table.
struct Decision {
  std::uint32_t ranks_per_host = 0;  // 0, then in all cells: any number
  std::uint32_t ranks = 0;           // 1 and more
  std::uint64_t message_bytes = 0;   // that each rank receives, or contributes to a reduction
  std::string algorithm;             // a formula's, after kHierarchical or not, or kLibrary
  std::uint64_t segment_bytes = 0;   // 0, or the message's size or more: not segmented
  Seconds predicted;                 // 0 where nothing is sent
  std::optional<Seconds> measured{};

  [[nodiscard]] Seconds time() const { return measured.value_or(predicted); }
};

struct Decisions {
  Operation operation = Operation::kBroadcast;  // or kReduce, kAllreduce
  // Sorted by ranks per host, ranks and message; no duplicates; at least one.
  std::vector<Decision> cells;
};

// The file format: docs/formats.md, "Decision function". Throws InputError (file, JSON pointer,
// reason) for an operation or algorithm without plans, values out of range, a duplicate cell, cells
// with and without ranks per host, or an empty table.
Decisions parse_decisions(std::string_view text, const std::string& file);
std::string decisions_json(const Decisions& decisions);
// Adds cells, each instead of one for the same case.
void merge(Decisions& into, std::span<const Decision> cells);

// Among how many ranks a call is made.
struct Among {
  std::uint32_t ranks = 1;
  std::uint32_t ranks_per_host = 1;  // the mean, rounded up
};
// The cells for the nearest numbers.
std::span<const Decision> cells_for(const Decisions& decisions, const Among& among);
// Among those, the cell for the nearest message size. An empty message counts as half a byte.
const Decision& decision_for(const Decisions& decisions, const Among& among,
                             std::uint64_t message_bytes);

}  // namespace espalier::planner
