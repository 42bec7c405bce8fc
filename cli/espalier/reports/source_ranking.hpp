// Which source would be best (`explain --source each`), for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "planner/explain/rank_sources.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// The best first, as rank_sources gives them; a sentence on how much the best is better, and a row
// a source.
std::string ranking_text(const platforms::Platform& platform, platforms::Model model,
                         planner::Operation operation,
                         const std::vector<planner::RankedSource>& ranking);
Json ranking_json(const platforms::Platform& platform, platforms::Model model,
                  planner::Operation operation, const std::vector<planner::RankedSource>& ranking);

}  // namespace espalier::cli
