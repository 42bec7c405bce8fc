// The settings and the files that they name, alike on all ranks.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "runtime/api/decisions.hpp"
#include "runtime/api/tuned_segments.hpp"
#include "runtime/preload/settings.hpp"

namespace espalier::preload {

struct SharedSettings {
  Settings settings;
  std::vector<std::string> plans;             // as JSON, in the order of settings.plan_files
  std::vector<runtime::TunedSegments> tuned;  // each of one of the plans
  std::vector<runtime::Decisions> decisions;  // of one operation each
  std::string platform;                       // as Espalier's JSON; empty: none
  // By rank in the communicator, the lowest rank on the same host. Empty where local broadcasts are
  // treated as all others.
  std::vector<int> host_of_rank;

  // The table for an operation; null: none.
  [[nodiscard]] const runtime::Decisions* decisions_for(planner::Operation operation) const;
};

// Collective. Rank 0's environment counts, and only rank 0 reads files. Throws Error on all ranks
// alike: a malformed variable, a file that is refused; MpiError.
SharedSettings share_settings(MPI_Comm comm);

}  // namespace espalier::preload
