#include "espalier/espalier.hpp"

#include <fmt/format.h>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "support/files.hpp"

namespace espalier {

Platform read_platform(const std::string& file, const ReadOptions& options) {
  return platforms::read_platform(file, options).platform;
}

namespace {

// Throws InputError for a root where every host is one.
bool has_any_roots(const PlanOptions& options) {
  if (!planner::may_have_root(options.operation) && !options.root.empty()) {
    throw InputError(
        fmt::format("{} has no root: every host is one", planner::with_article(options.operation)));
  }
  return options.root.empty() && !planner::needs_root(options.operation);
}

}  // namespace

Plan make_plan(const Platform& platform, const PlanOptions& options) {
  const planner::Algorithm algorithm =
      planner::find_algorithm(options.algorithm, options.operation);
  if (options.max_depth > 0 && algorithm.entry->name != planner::kOptimal) {
    throw InputError(
        fmt::format("'{}' cannot limit the depth; use '{}'", algorithm.name, planner::kOptimal));
  }
  if (options.segment.value == 0) throw InputError("a segment has at least one byte");
  planner::AlgorithmOptions limits;
  limits.gap = options.gap;
  limits.deadline = Deadline(options.time_limit);
  limits.max_trees = options.max_trees;
  limits.max_depth = options.max_depth;
  const platforms::OccupationOptions occupation{.segment = options.segment,
                                                .latency_occupies = options.latency_occupies};
  if (has_any_roots(options)) {
    if (limits.max_trees > 0 || limits.max_depth > 0) {
      throw InputError("plans with several roots cannot limit trees and depth yet");
    }
    const planner::AllRoots problem(options.operation, platform, options.model, occupation);
    return planner::make_plan(problem, algorithm.name, planner::run(algorithm, problem, limits),
                              options.segment);
  }
  const planner::Collective collective(options.operation, platform,
                                       planner::source_named(platform, options.root), options.model,
                                       occupation);
  const planner::Outcome outcome = planner::run(algorithm, collective, limits);
  return planner::make_plan(collective, algorithm.name, outcome, options.segment);
}

void write_plan(const std::string& file, const Plan& plan) {
  write_text(file, planner::to_json(plan));
}

}  // namespace espalier
