// The results of `compare`, as tables, CSV and JSON.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "planner/plan/plan.hpp"
#include "support/choice.hpp"
#include "support/json.hpp"

namespace espalier::cli {

using experiments::kNoFigure;

// One algorithm on one instance. If `error` is set, the figures are kNoFigure.
struct ComparisonRow {
  std::string algorithm{};
  experiments::Row figures{};
  double makespan_s = kNoFigure;            // of one message; kNoFigure for several trees
  std::optional<planner::PlanCost> cost{};  // unset: no prices, or no result
  double time_s = kNoFigure;                // of Comparison::message, simulated
};

// The optimum within a budget.
struct FrontierRow {
  double budget_per_GB = kNoFigure;
  double cost_per_GB = kNoFigure;
  BytesPerSecond throughput;
  std::optional<BytesPerSecond> bound{};
  std::size_t trees = 0;
};

// The optimum with trees of a limited depth.
struct DepthRow {
  std::size_t max_depth = 0;  // 0: no limit
  experiments::Row figures{};
  std::size_t out_degree = 0;
  double time_s = kNoFigure;  // of Comparison::message
};

// What the optimum is exchanged for.
enum class Frontier { kCost, kDepth };
inline constexpr std::array<espalier::Choice<Frontier>, 2> kFrontiers{
    {{"cost", Frontier::kCost}, {"depth", Frontier::kDepth}}};

// All algorithms on one platform from one source.
struct Comparison {
  planner::Operation operation{};
  std::string platform;
  std::string source;
  std::string model;
  double optimum_Bps = kNoFigure;  // reached
  double bound_Bps = kNoFigure;    // proven
  bool bound_final = false;        // more time would not have lowered the bound
  std::optional<Bytes> message{};  // whose time each row has; unset: there is no such column
  std::vector<ComparisonRow> rows{};
  std::vector<FrontierRow> frontier{};  // by budget; empty: not asked for
  std::vector<DepthRow> by_depth{};     // likewise, from the deepest on
  std::string currency{};               // of its costs
  std::string error{};  // of the whole instance, e.g. an unreachable node; then there are no rows
};

// One table per instance, and a summary for several instances; in JSON the object of one instance,
// or {"instances": […], "summary": […]}.
std::string comparison_text(const std::vector<Comparison>& comparisons, bool as_json);
// The object of one instance.
Json comparison_json(const Comparison& comparison);
// Throughput against cost or depth: the frontier as a line, the algorithms as points. An SVG
// document.
std::string frontier_chart(const Comparison& comparison);
// One row per instance and algorithm.
std::string comparison_csv(const std::vector<Comparison>& comparisons);

}  // namespace espalier::cli
