#include "runtime/api/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "planner/plan/oblivious_shapes.hpp"
#include "runtime/transport/agreement.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/nearest_name.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {
namespace {

using planner::Operation;

constexpr std::uint64_t kMostRanks = 2'147'483'647;  // MPI counts them in an int
// The rate of a plan for which the table predicts no time, because its messages are empty.
constexpr BytesPerSecond kUnknownRate{1e6};

// Algorithm names of the formulas, and the tree shapes that implement them.
struct Shape {
  Operation operation;
  std::string_view algorithm;
  std::string_view shape;
  std::uint64_t trees = 1;
  std::uint64_t parts = 1;  // of the table's segment: TTC's chunks are half of each tree's
};
constexpr std::array kShapes{
    Shape{Operation::kBroadcast, "linear", "flat"},
    Shape{Operation::kBroadcast, "pipeline", "chain"},
    Shape{Operation::kBroadcast, "binomial", "binomial"},
    Shape{Operation::kBroadcast, "binary", "binary"},
    Shape{Operation::kBroadcast, "split-binary", "split-binary", 2},
    Shape{Operation::kBroadcast, "two-tree", "two-tree-complete", 2, 2},
    Shape{Operation::kReduce, "flat-tree", "flat"},
    Shape{Operation::kReduce, "pipeline", "chain"},
    Shape{Operation::kReduce, "binomial", "binomial"},
    Shape{Operation::kReduce, "binary", "binary"},
    Shape{Operation::kReduce, "two-tree", "two-tree-complete", 2, 2},
    Shape{Operation::kAllreduce, "two-tree", "two-tree-complete", 2, 2},
};

const Shape* shape_for(Operation operation, std::string_view algorithm) {
  const auto* const found = std::ranges::find_if(kShapes, [&](const Shape& shape) {
    return shape.operation == operation && shape.algorithm == algorithm;
  });
  return found == kShapes.end() ? nullptr : found;
}

std::vector<std::string_view> algorithms_of(Operation operation) {
  std::vector<std::string_view> names;
  for (const Shape& shape : kShapes) {
    if (shape.operation == operation) names.push_back(shape.algorithm);
  }
  return names;
}

Operation operation_at(const JsonCursor& at) {
  for (const Operation operation :
       {Operation::kBroadcast, Operation::kReduce, Operation::kAllreduce}) {
    if (at.string() == planner::name_of(operation)) return operation;
  }
  at.refuse(fmt::format("{} has no plans; use a table for broadcast, reduce or allreduce",
                        in_quotes(at.string())));
}

Decision decision_at(const JsonCursor& at, Operation operation) {
  Decision decision;
  const std::uint64_t ranks = at.at("ranks").unsigned_integer();
  if (ranks == 0 || ranks > kMostRanks) {
    at.at("ranks").refuse(fmt::format("{} is not in 1 to {}", ranks, kMostRanks));
  }
  decision.ranks = static_cast<std::uint32_t>(ranks);
  decision.message_bytes = at.at("message_bytes").unsigned_integer();
  decision.algorithm = at.at("algorithm").string();
  if (shape_for(operation, decision.algorithm) == nullptr) {
    at.at("algorithm")
        .refuse(unknown_name("algorithm", decision.algorithm, algorithms_of(operation)));
  }
  decision.segment_bytes = at.at("segment_bytes").unsigned_integer();
  decision.predicted = {at.at("predicted_s").number()};
  if (decision.predicted.value < 0) at.at("predicted_s").refuse("a time must not be negative");
  return decision;
}

bool comes_before(const Decision& a, const Decision& b) {
  return std::pair(a.ranks, a.message_bytes) < std::pair(b.ranks, b.message_bytes);
}

// An empty message counts as half a byte, so that ratios exist.
double size_of_message(std::uint64_t bytes) {
  return bytes == 0 ? 0.5 : static_cast<double>(bytes);
}

// Whether `value` is closer, by ratio, to `upper` than to `lower`.
bool is_upper_nearer(double lower, double value, double upper) {
  return value / lower > upper / value;
}

// The segment size of a cell; 0: one segment per tree.
std::uint64_t segment_for(const Decision& decision, const Shape& shape) {
  const std::uint64_t segment = undivided_segment(decision.segment_bytes, shape.parts);
  const bool cuts = decision.segment_bytes != 0 && decision.segment_bytes < decision.message_bytes;
  return cuts && segment < undivided_segment(decision.message_bytes, shape.trees) ? segment : 0;
}

}  // namespace

Decisions parse_decisions(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  Decisions decisions;
  decisions.operation = operation_at(root.at("operation"));
  const JsonCursor rows = root.at("rows");
  std::set<std::pair<std::uint32_t, std::uint64_t>> cells;
  for (const JsonCursor& row : rows.elements()) {
    decisions.cells.push_back(decision_at(row, decisions.operation));
    const Decision& cell = decisions.cells.back();
    if (!cells.emplace(cell.ranks, cell.message_bytes).second) {
      row.refuse(
          fmt::format("{} bytes on {} appear twice; write the table with espalier decide "
                      "without --every",
                      cell.message_bytes, counted(cell.ranks, "rank")));
    }
  }
  if (decisions.cells.empty()) rows.refuse("the table is empty");
  std::ranges::sort(decisions.cells, comes_before);
  return decisions;
}

Decisions share_decisions(MPI_Comm comm, const std::string& file) {
  return parse_decisions(share_file(comm, file), display_name(file));
}

std::span<const Decision> cells_for(const Decisions& decisions, std::uint32_t ranks) {
  const std::vector<Decision>& cells = decisions.cells;
  const auto upper = std::ranges::lower_bound(cells, ranks, {}, &Decision::ranks);
  std::uint32_t nearest = 0;
  if (upper == cells.end()) {
    nearest = cells.back().ranks;
  } else if (upper == cells.begin() || upper->ranks == ranks) {
    nearest = upper->ranks;
  } else {
    const std::uint32_t lower = std::prev(upper)->ranks;
    nearest = is_upper_nearer(lower, ranks, upper->ranks) ? upper->ranks : lower;
  }
  return {std::ranges::lower_bound(cells, nearest, {}, &Decision::ranks),
          std::ranges::upper_bound(cells, nearest, {}, &Decision::ranks)};
}

const Decision& decision_for(const Decisions& decisions, std::uint32_t ranks,
                             std::uint64_t message_bytes) {
  const std::span<const Decision> cells = cells_for(decisions, ranks);
  const auto upper = std::ranges::lower_bound(cells, message_bytes, {}, &Decision::message_bytes);
  if (upper == cells.end()) return cells.back();
  if (upper == cells.begin() || upper->message_bytes == message_bytes) return *upper;
  const Decision& lower = *std::prev(upper);
  return is_upper_nearer(size_of_message(lower.message_bytes), size_of_message(message_bytes),
                         size_of_message(upper->message_bytes))
             ? *upper
             : lower;
}

DecidedPlan plan_for(const Decisions& decisions, std::string_view algorithm, std::uint32_t ranks,
                     std::uint32_t root) {
  const Shape* const shape = shape_for(decisions.operation, algorithm);
  DecidedPlan decided;
  BytesPerSecond best{};
  for (const Decision& decision : cells_for(decisions, ranks)) {
    if (decision.algorithm != algorithm || decision.message_bytes == 0) continue;
    decided.segments.push_back(
        {decision.message_bytes, segment_for(decision, *shape), decision.predicted.value});
    if (decision.predicted.value == 0) continue;
    const double rate = static_cast<double>(decision.message_bytes) / decision.predicted.value;
    if (std::isfinite(rate)) best = std::max(best, BytesPerSecond{rate});
  }
  decided.plan = planner::plan_of(
      {shape->shape, decisions.operation, ranks, root, best.value > 0 ? best : kUnknownRate});
  return decided;
}

void follow(const DecidedPlan& decided, CollectiveOptions& options) {
  options.tuned = decided.segments;
  options.tuned_within = std::numeric_limits<double>::infinity();
  options.direct_copies = false;
}

}  // namespace espalier::runtime
