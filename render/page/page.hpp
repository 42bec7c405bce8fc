// The page of `espalier report`: one HTML document with everything in it. These functions gather
// the facts that the page's script shows; the keys are explained where they are written.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"
#include "support/json.hpp"

namespace espalier::render {

// What a page may contain, so that it stays below 2 MB and fluent.
inline constexpr std::size_t kMostPageLinks = 12'000;  // directed
inline constexpr std::size_t kMostPageHops = 50'000;   // edges of trees, of all plans
inline constexpr std::size_t kMostPageBars = 20'000;   // of a trace

// What the plans of one page have used of it.
struct PageContents {
  std::size_t hops = 0;
  std::vector<platforms::ArcId> links{};  // of the trees, with repetitions
};

// Nodes with their places, links and shared links: the strongest links, and `wanted` ones in any
// case. Throws InputError (reason only) for more than kMostNodes nodes.
Json network_facts(const platforms::Platform& platform,
                   std::span<const platforms::ArcId> wanted = {});

// [kind, node or link or shared link, load, price] of each resource with a load or a price.
Json resource_facts(std::span<const planner::ResourceLoad> loads, std::span<const double> prices,
                    const platforms::Platform& platform);

// The trees of a plan, each with the paths of its edges over the nodes, those with the greatest
// rates first, as far as the page has room. Precondition: planner::verify finds no fault.
Json tree_facts(const planner::Plan& plan, const platforms::Platform& platform,
                PageContents& contents);

// The document. facts: {"title", ...}, as the page's script reads them. Any text in them is shown
// as text.
std::string page(const Json& facts);

}  // namespace espalier::render
