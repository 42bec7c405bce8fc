// The settings and the files that they name, equal on all ranks.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "planner/plan/decision_table.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/api/tuned_segments.hpp"
#include "runtime/preload/settings.hpp"

namespace espalier::preload {

struct SharedSettings {
  Settings settings;
  std::vector<planner::Plan> plans;           // in the order of settings.plan_files
  std::vector<runtime::TunedSegments> tuned;  // each for one of the plans
  std::vector<planner::Decisions> decisions;  // one per operation
  std::string platform;                       // as Espalier's JSON; empty: none
  // Whether the network is learnt from the program's broadcasts and allgathers, because nothing
  // else is given.
  bool learns = false;
  // By rank in the communicator: the lowest rank on the same host. Empty if calls within a host are
  // treated like all others.
  std::vector<int> host_of_rank;

  // Whether there are only plans for calls among ranks of one host, which are made from a platform.
  [[nodiscard]] bool only_local() const;
  // The table for an operation; null: none.
  [[nodiscard]] const planner::Decisions* decisions_for(planner::Operation operation) const;
};

// Collective. Only rank 0's environment is used, and only rank 0 reads files. Throws Error on all
// ranks for a malformed variable or an invalid file; MpiError.
SharedSettings share_settings(MPI_Comm comm);

}  // namespace espalier::preload
