// What binds and what would help (`explain`), for people and for programs.
#pragma once

#include <string>

#include "planner/explain/explain.hpp"
#include "planner/problem/collective.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// Headline, what binds, a table of upgrades, and what they come to.
std::string explanation_text(const planner::Collective& collective,
                             const planner::Explanation& explanation);
// {"operation", "platform", "source", "model", "optimum_Bps", "bound_Bps", "gap", "trees",
// "bottlenecks": [...]}
Json explanation_json(const planner::Collective& collective,
                      const planner::Explanation& explanation);

}  // namespace espalier::cli
