// Pictures of platforms and plans: written as text in DOT, Graphviz's language, then laid out and
// drawn by Graphviz.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::render {

// A picture with more nodes would take minutes.
inline constexpr std::size_t kMostNodes = 20'000;
// More nodes than this stand on circles around one of them, and may overlap: moving them apart
// would take minutes. Of a plan's only the source and the busiest then have names.
inline constexpr std::size_t kMostApart = 2000;

// The platform as a DOT graph: a line for each pair of nodes, its colour and thickness by bandwidth
// on a logarithmic scale; of many links only the strongest, as the legend says. Throws InputError
// (reason only) for more than kMostNodes nodes.
std::string platform_picture(const platforms::Platform& platform);

// The plan's trees on the platform as a DOT graph: each of the trees with the greatest rates in its
// own colour, the others in grey; the busiest resources are marked.
// loads: of the plan's resources, from planner::loads_of.
// Precondition: planner::verify finds no fault. Throws InputError (reason only) for more than
// kMostNodes nodes.
std::string plan_picture(const planner::Plan& plan, const platforms::Platform& platform,
                         std::span<const planner::ResourceLoad> loads);

// A DOT graph as a file of `format`, "svg" or "png", laid out by the graph's attribute "layout".
// The same text gives the same bytes on one machine. Throws InputError (reason only) if the text is
// not a DOT graph or Graphviz cannot draw it. Graphviz has global state: call from one thread at a
// time.
std::string draw(const std::string& dot, std::string_view format);

// Where `draw` places the nodes, in the order in which the text names them. Errors as draw.
std::vector<platforms::Position> node_places(const std::string& dot);

}  // namespace espalier::render
