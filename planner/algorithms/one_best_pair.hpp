// best-tree and exact-tree for an allreduce: one reduce tree and one broadcast tree, chosen jointly
// because both load the same ports and links.
#pragma once

#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"

namespace espalier::planner::tree_algorithms {

// packings: of the collective, which is an allreduce; null: solved here.
Outcome best_pair(const Collective& collective, const AlgorithmOptions& options,
                  const Packings* packings);
Outcome exact_pair(const Collective& collective, const AlgorithmOptions& options,
                   const Packings* packings);

}  // namespace espalier::planner::tree_algorithms
