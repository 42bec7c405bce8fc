// Executes a reduce or an allreduce plan:
//
//   espalier::runtime::Reduction reduction(comm, espalier::planner::read_plan("plan.json"));
//   reduction.run(sendbuf, recvbuf, count, MPI_DOUBLE, MPI_SUM);
#pragma once

#include "runtime/api/collective.hpp"

namespace espalier::runtime {

// More sends are outstanding than in a broadcast, because the receiver answers each
// (docs/runtime.md, "Reductions").
struct ReductionOptions : CollectiveOptions {
  ReductionOptions() { sends_in_flight = planner::kReductionSendsInFlight; }
};

class Reduction : public Collective {
 public:
  // As Collective; also throws InputError for a plan for a broadcast.
  Reduction(MPI_Comm comm, const planner::Plan& plan, const CollectiveOptions& options)
      : Collective(comm, plan, options, Expects::kReduction) {}
  Reduction(MPI_Comm comm, const planner::Plan& plan) : Reduction(comm, plan, ReductionOptions()) {}
};

}  // namespace espalier::runtime
