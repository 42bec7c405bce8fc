#include "espalier/espalier.hpp"

#include <fmt/format.h>

#include "planner/problem/collective.hpp"
#include "support/files.hpp"

namespace espalier {

Platform read_platform(const std::string& file, const ReadOptions& options) {
  return platforms::read_platform(file, options).platform;
}

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
  const planner::Collective collective(
      options.operation, platform, planner::source_named(platform, options.root), options.model,
      {.segment = options.segment, .latency_occupies = options.latency_occupies});
  const planner::Outcome outcome = planner::run(algorithm, collective, limits);
  return planner::make_plan(collective, algorithm.name, outcome, options.segment);
}

void write_plan(const std::string& file, const Plan& plan) {
  write_text(file, planner::to_json(plan));
}

}  // namespace espalier
