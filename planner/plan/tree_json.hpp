// Trees in a plan file, docs/formats.md, "Plan": shared by both versions of the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/json.hpp"

namespace espalier::planner::plan_file {

// The direction of a tree's data; the file names the sender of each edge first.
enum class Direction : std::uint8_t { kDown, kUp };

// Names from a CSV may not be UTF-8, which JSON requires: invalid bytes are replaced.
std::string quoted(const std::string& text);
std::string quoted_list(const std::vector<std::string>& names);
// The shortest text that reads back as the same double. Throws std::invalid_argument unless finite.
std::string number(double value, std::string_view what);
std::string trees_json(const std::vector<PlanTree>& trees, Direction direction);

std::vector<std::string> parse_names(const JsonCursor& list);
// An index below `count`, the number of `what`.
std::uint32_t index_below(const JsonCursor& place, std::size_t count, std::string_view what);
// nodes: how many the plan has.
std::vector<PlanTree> parse_trees(const JsonCursor& list, std::size_t nodes, Direction direction);

}  // namespace espalier::planner::plan_file
