// Plans made when a communicator's ranks first broadcast or reduce. A build without the planner has
// the same functions, which refuse (planning_absent.cpp).
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/preload/settings.hpp"

namespace espalier::preload {

// The ranks of a communicator and what they do.
struct Members {
  std::size_t world_size = 0;
  std::vector<int> world_ranks;    // by rank in the communicator
  std::vector<std::string> hosts;  // where each runs; empty unless mapped by host
  int root = 0;                    // rank in the communicator; of an allreduce any
  planner::Operation operation = planner::Operation::kBroadcast;
  std::string decided{};  // the algorithm that a table decides on; empty: no table is for this
};

// The platform that the settings name, in Espalier's JSON. Throws InputError: the file, the model
// or the algorithm is none; there is no planner in this build.
std::string read_platform_text(const Settings& settings);

// A plan for members.operation from (or to) members.root; rank i is its node i. Hosts of the
// platform that no member runs on are left out. Throws Error: members are no hosts of the platform,
// one cannot be reached, the algorithm does not serve the operation, no plan was found in time.
planner::Plan make_plan_for(const std::string& platform_text, const Settings& settings,
                            const Members& members);

}  // namespace espalier::preload
