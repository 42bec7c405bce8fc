// The plan that a run of espalier-mpi follows: from a plan file, or from a decision function for
// the run's message.
#pragma once

#include <mpi.h>

#include "cli/espalier_mpi/options/options.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/api/decisions.hpp"
#include "support/files.hpp"

namespace espalier::cli {

// Collective: the entry of the --decisions table for the message, from or to --root. Throws
// InputError on all ranks when the table is invalid or for another operation, or when there is no
// such root.
runtime::DecidedPlan decided_for(MPI_Comm comm, const RunArguments& arguments,
                                 planner::Operation operation);

// Collective: returns the plan and sets the segment size in `options`, which are those of a
// broadcast or of a reduction. Throws as decided_for, share_plan, require_operation and
// tuned_segments_from.
template <class Options>
planner::Plan plan_of_run(MPI_Comm comm, const RunArguments& arguments,
                          planner::Operation operation, Options& options) {
  if (!arguments.decisions.empty()) {
    const runtime::DecidedPlan decided = decided_for(comm, arguments, operation);
    follow(decided, options);
    return decided.plan;
  }
  planner::Plan plan = runtime::share_plan(comm, arguments.plan);
  planner::require_operation(plan, operation, display_name(arguments.plan));
  for (const std::string& file : arguments.tuned) {
    options.tuned = runtime::tuned_segments_from(comm, file, plan);
  }
  if (arguments.segment) options.segment_bytes = arguments.segment->value;
  return plan;
}

}  // namespace espalier::cli
