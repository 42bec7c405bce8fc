// Plans that need no more than the topology, which is known when the ranks run: which of them share
// a host, and from a file which hosts share a group.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The group of each of these hosts; nothing without a file. Throws InputError.
std::vector<std::string> groups_in(const std::string& file, const std::vector<std::string>& hosts);

struct TopologyRequest {
  planner::Operation operation;
  int root;               // where the operation may have one; of the optimum, where it needs one
  std::string algorithm;  // of espalier plan, or runtime::kTacRules; empty: the optimum
  std::string groups;     // file; empty: hosts only
  Bytes message;
};

// Collective: the plan that rank 0 has the program espalier make. Throws InputError on all ranks.
planner::Plan topology_plan(MPI_Comm comm, const TopologyRequest& request);

}  // namespace espalier::cli
