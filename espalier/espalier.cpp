#include "espalier/espalier.hpp"

#include <fmt/format.h>

#include "planner/problem/any_problem.hpp"
#include "support/files.hpp"

namespace espalier {

Platform read_platform(const std::string& file, const ReadOptions& options) {
  return platforms::read_platform(file, options).platform;
}

namespace {

// None where there are several, or none. Throws InputError for a root where every host is one.
std::optional<platforms::NodeId> root_of(const PlanOptions& options, const Platform& platform) {
  if (!planner::may_have_root(options.operation) && !options.root.empty()) {
    throw InputError(
        fmt::format("{} has no root: every host is one", planner::with_article(options.operation)));
  }
  if (options.root.empty() && !planner::needs_root(options.operation)) return std::nullopt;
  return planner::source_named(platform, options.root);
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
  const std::optional<platforms::NodeId> root = root_of(options, platform);
  const bool has_trees = root && !planner::has_parts(options.operation);
  if (!has_trees && (limits.max_trees > 0 || limits.max_depth > 0)) {
    throw InputError("plans with several roots, or parts, cannot limit trees and depth yet");
  }
  return planner::on_problem(
      options.operation, platform, root, options.model, occupation, {}, [&](const auto& problem) {
        return planner::make_plan(problem, algorithm.name, planner::run(algorithm, problem, limits),
                                  options.segment);
      });
}

void write_plan(const std::string& file, const Plan& plan) {
  write_text(file, planner::to_json(plan));
}

}  // namespace espalier
