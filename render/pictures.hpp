// Platforms and plans as pictures: what is drawn, as a text of Graphviz's DOT language, and that
// text laid out and drawn by Graphviz.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::render {

// A picture with more nodes than this would take minutes, and nobody could read it.
inline constexpr std::size_t kMostNodes = 2000;

// The platform as a DOT graph. A line is a pair of nodes, coloured and as thick as its bandwidth is
// great, on a logarithmic scale; where the two directions differ, the half beside a node has the
// colour of what that node sends. Of many links the strongest are drawn, and the legend says so.
// The same platform gives the same text. Throws InputError (reason only) for more than kMostNodes
// nodes.
std::string platform_picture(const platforms::Platform& platform);

// The plan's trees over the platform as a DOT graph: the trees of the greatest rates in a colour
// each, the others in grey, and what is full marked.
// loads: of the plan's resources, from planner::loads_of.
// Precondition: planner::verify finds no fault. Throws as platform_picture does.
std::string plan_picture(const planner::Plan& plan, const platforms::Platform& platform,
                         std::span<const planner::ResourceLoad> loads);

// A DOT graph, laid out as its attribute "layout" says, as a file of `format`, "svg" or "png". The
// same text gives the same bytes on one machine. Throws InputError (reason only) when the text is
// no DOT graph, or when Graphviz cannot draw it. Graphviz keeps global state: one thread at a time.
std::string draw(const std::string& dot, std::string_view format);

}  // namespace espalier::render
