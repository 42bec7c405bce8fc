// An experiment: algorithms on many platforms under several contention models, each compared with
// the proven optimum of several pipelined trees (MTP), as in HBT's simulations. Independent of
// folders and of the command line.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/families.hpp"
#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "support/json.hpp"

namespace espalier::experiments {

inline constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

struct Study {
  std::string family;  // a name of families(), or "files"
  Json origin;         // what the cases were made from, as stored in study.json
  planner::Operation operation = planner::Operation::kBroadcast;  // any but a barrier
  std::vector<Case> cases;                                        // in the order of the results
  std::vector<platforms::Model> models;
  std::vector<planner::Algorithm> algorithms;
  platforms::OccupationOptions occupation;
  // gap, deadline (its limit: of each packing and algorithm), guided_by
  planner::AlgorithmOptions limits;
  // The model whose optimum throughputs are divided by; unset: that of the unit, which no plan
  // exceeds.
  std::optional<platforms::Model> relative_to = std::nullopt;
  bool any_root = false;  // of an allreduce: its roots are free, whatever the cases' sources

  // Whether the source of a case matters.
  [[nodiscard]] bool has_root() const { return planner::may_have_root(operation) && !any_root; }
  // What the optimum consists of.
  [[nodiscard]] std::string_view trees_or_paths() const {
    return planner::routes(operation) ? "paths" : "trees";
  }
  // A unit of work is a case under a model; units are numbered case by case.
  [[nodiscard]] std::size_t unit_count() const { return cases.size() * models.size(); }
  [[nodiscard]] const Case& case_of(std::size_t unit) const { return cases[unit / models.size()]; }
  [[nodiscard]] platforms::Model model_of(std::size_t unit) const {
    return models[unit % models.size()];
  }
};

// One algorithm on one unit. Figures are kNoFigure if there are none; `error` gives the reason.
struct Row {
  std::size_t trees = 0;
  double throughput_Bps = kNoFigure;
  double relative = kNoFigure;  // throughput / proven bound: at most throughput / optimum, unless
                                // relative_to names another model
  std::size_t depth = 0;        // edges on the longest path to or from the source, over all trees
  double seconds = kNoFigure;   // wall clock
  std::string error{};
};

// The figures of a plan that took so long to make, all but `relative`.
Row row_of(const planner::Plan& plan, Seconds took);
// throughput / bound, at most 1: rounding may exceed the bound, and a single host, which has
// nothing to send, has an infinite throughput. kNoFigure without a bound.
double relative_to(double bound_Bps, double throughput_Bps);

// All algorithms on one unit.
struct Result {
  std::size_t nodes = 0;  // hosts
  std::size_t arcs = 0;
  std::string source{};          // of a reduction, the root; empty: there are several
  double bound_Bps = kNoFigure;  // proven, under the model that relative_to names
  double seconds = kNoFigure;    // wall clock of the packing that proves the bound, and of
                                 // `optimal` as well where there are several roots, or paths
  bool gap_open = false;         // a limit was reached before the bound was within the gap
  std::vector<Row> rows;         // one per algorithm, in the study's order
};

// Solves the packing once for all algorithms. Where none is feasible, or a limit is reached, the
// result says so; other errors are thrown.
Result run_unit(const Study& study, std::size_t unit);

// Runs these units on `jobs` threads (at least one) and calls `report` for each finished unit, one
// call at a time, in any order. Rethrows the first exception when all threads have ended.
void run_units(const Study& study, std::span<const std::size_t> units, std::size_t jobs,
               const std::function<void(std::size_t unit, Result&& result)>& report);

}  // namespace espalier::experiments
