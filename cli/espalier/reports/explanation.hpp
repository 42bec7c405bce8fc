// The bottlenecks and what upgrading them would gain (`explain`), as text and as JSON.
#pragma once

#include <string>

#include "planner/explain/explain.hpp"
#include "planner/problem/collective.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// Headline, bottlenecks, a table of upgrades, and the best ones.
std::string explanation_text(const planner::Collective& collective,
                             const planner::Explanation& explanation);
// {"operation", "platform", "source", "model", "optimum_Bps", "bound_Bps", "gap", "trees",
// "bottlenecks": [...]}
Json explanation_json(const planner::Collective& collective,
                      const planner::Explanation& explanation);

}  // namespace espalier::cli
