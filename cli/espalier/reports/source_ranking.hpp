// Which source is best (`explain --source each`), as text and as JSON.
#pragma once

#include <vector>

#include "cli/common/report.hpp"
#include "planner/explain/rank_sources.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::cli {

// ranking: best first, as rank_sources returns it. A sentence that compares the best with the
// others, and one row per source.
Report ranking_report(const platforms::Platform& platform, platforms::Model model,
                      planner::Operation operation,
                      const std::vector<planner::RankedSource>& ranking);

}  // namespace espalier::cli
