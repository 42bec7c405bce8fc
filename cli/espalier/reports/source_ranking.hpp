// Which source is best (`explain --source each`), as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "planner/explain/rank_sources.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// ranking: best first, as rank_sources returns it. A sentence that compares the best with the
// others, and one row per source.
std::string ranking_text(const platforms::Platform& platform, platforms::Model model,
                         planner::Operation operation,
                         const std::vector<planner::RankedSource>& ranking);
Json ranking_json(const platforms::Platform& platform, platforms::Model model,
                  planner::Operation operation, const std::vector<planner::RankedSource>& ranking);

}  // namespace espalier::cli
