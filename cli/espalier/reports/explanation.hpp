// The bottlenecks and what upgrading them would gain (`explain`), as text and as JSON.
#pragma once

#include "cli/common/report.hpp"
#include "planner/explain/explain.hpp"
#include "planner/problem/collective.hpp"

namespace espalier::cli {

// Headline, bottlenecks, a table of upgrades, and the best ones.
Report explanation_report(const planner::Collective& collective,
                          const planner::Explanation& explanation);

}  // namespace espalier::cli
