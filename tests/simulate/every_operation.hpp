// Plans of every operation, for tests of the simulator.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/routing.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/random_platforms.hpp"

namespace espalier::testing {

// A plan by an algorithm; all trees of the packing for `optimal`, with the proven optimum.
template <class Problem>
planner::Plan plan_of(const Problem& problem, std::string_view algorithm, Bytes segment) {
  const planner::Outcome outcome =
      algorithm == "optimal"
          ? planner::prove_optimum(problem, {})
          : planner::run(planner::find_algorithm(algorithm, problem.operation()), problem, {});
  return planner::make_plan(problem, algorithm, outcome, segment);
}

// An operation with its roots: an allreduce has one root, or free ones.
struct OperationCase {
  planner::Operation operation;
  bool has_one_root;
};

// Unset where hosts cannot reach one another. shares: as the problems take them.
inline std::optional<planner::Plan> plan_for(const OperationCase& kind, const DrawnPlatform& drawn,
                                             platforms::Model model, std::string_view algorithm,
                                             Bytes segment, std::vector<double> shares = {}) {
  const auto& [platform, source, options] = drawn;
  const planner::Operation operation = kind.operation;
  try {
    if (planner::routes(operation)) {
      const auto root = planner::needs_root(operation) ? std::optional(source) : std::nullopt;
      return plan_of(planner::Routing(operation, platform, root, model, options, std::move(shares)),
                     algorithm, segment);
    }
    if (!kind.has_one_root) {
      return plan_of(planner::AllRoots(operation, platform, model, options, std::move(shares)),
                     algorithm, segment);
    }
    return plan_of(planner::Collective(operation, platform, source, model, options), algorithm,
                   segment);
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
}

}  // namespace espalier::testing
