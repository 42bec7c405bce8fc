// Executes a broadcast plan:
//
//   espalier::runtime::Broadcast broadcast(comm, espalier::planner::read_plan("plan.json"));
//   broadcast.run(buffer, count, MPI_DOUBLE);
#pragma once

#include "runtime/api/collective.hpp"

namespace espalier::runtime {

using BroadcastOptions = CollectiveOptions;

class Broadcast : public Collective {
 public:
  // As Collective; also throws InputError for a plan for another operation.
  Broadcast(MPI_Comm comm, const planner::Plan& plan, const BroadcastOptions& options = {})
      : Collective(comm, plan, options, Expects::kBroadcast) {}
};

// The same as the constructor, as a named function.
inline Broadcast plan_on(MPI_Comm comm, const planner::Plan& plan,
                         const BroadcastOptions& options = {}) {
  return {comm, plan, options};
}

}  // namespace espalier::runtime
