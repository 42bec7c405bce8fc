// Trees of every root that cross between distant clusters of hosts at many of them.
#pragma once

#include <optional>

#include "lp/problem/parts_problem.hpp"
#include "planner/problem/all_roots.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

// For each root a chain of the hosts near it, and from the root itself an edge to one host of each
// other cluster, from where a chain goes on: to another one for each root. Joined to a whole tree
// of the problem's parts. A host at which all trees cross has to share its ports between neighbours
// and distant hosts, and a port that transfers share is divided by their round-trip times
// (docs/decisions/0012-long-links.md). Unset: roots are free, or there are no clusters: hosts whose
// latencies are at most a tenth of the longest.
std::optional<lp::RoutedTree> chains_through_clusters(const AllRoots& problem,
                                                      const Deadline& deadline);

}  // namespace espalier::planner
