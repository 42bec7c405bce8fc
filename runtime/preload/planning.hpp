// Makes plans when a communicator's ranks first call an operation. In a build without the planner
// these functions throw (planning_absent.cpp).
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/api/decisions.hpp"
#include "runtime/preload/settings.hpp"

namespace espalier::preload {

// The ranks of a communicator and their operation.
struct Members {
  std::size_t world_size = 0;
  std::vector<int> world_ranks;    // by rank in the communicator
  std::vector<std::string> hosts;  // host of each; empty unless mapped by host
  int root = 0;                    // rank in the communicator; any rank where there is none
  planner::Operation operation = planner::Operation::kBroadcast;
  std::string decided{};  // the algorithm given by a decision table; empty: no table for this
  const runtime::Placement* placement = nullptr;  // where there is such a table
  // Of an operation whose message has parts, by rank; sum 1. Empty: equal.
  std::vector<double> shares{};
  // All on one host, where short calls are left to MPI: one plan serves all others.
  bool is_local = false;
};

// Whether this build can.
bool can_plan();

// Throws InputError if the model or the algorithm is invalid, or if this build has no planner.
void check_planning(const Settings& settings);

// The platform that the settings name, in Espalier's JSON. Throws InputError if the file, the model
// or the algorithm is invalid, or if this build has no planner.
std::string read_platform_text(const Settings& settings);

// A plan for members.operation from (or to) members.root; rank i is its node i. Hosts of the
// platform without a member are left out. Throws Error if members are not hosts of the platform,
// one cannot be reached, the algorithm does not support the operation, or no plan was found within
// the limit. message: determines the algorithm where rules do (kTacRules).
planner::Plan make_plan_for(const std::string& platform_text, const Settings& settings,
                            const Members& members, Bytes message, Seconds limit);

// Of all algorithms' plans, the one that is predicted to be the fastest for one message
// (simulate/search/choose_plan.hpp, choose_blocks.hpp). The same exceptions.
planner::Plan make_plan_for_message(const std::string& platform_text, const Settings& settings,
                                    const Members& members, Bytes message, Seconds limit);

}  // namespace espalier::preload
