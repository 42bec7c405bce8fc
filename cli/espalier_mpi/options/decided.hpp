// What a run of espalier-mpi goes along: a plan from a file, or what a decision function has for
// its message.
#pragma once

#include <mpi.h>

#include "cli/espalier_mpi/options/options.hpp"
#include "runtime/api/decisions.hpp"

namespace espalier::cli {

// Collective: what the table of --decisions has for the message, from or to --root. Throws
// InputError on all ranks alike: the table is refused, it is about another operation, there is no
// such root.
runtime::DecidedPlan decided_for(MPI_Comm comm, const RunArguments& arguments,
                                 planner::Operation operation);

// Collective: the plan, and the options that say in which segments it is run. options: a
// broadcast's or a reduction's. Throws as decided_for, share_plan and tuned_segments_from.
template <class Options>
planner::Plan plan_of_run(MPI_Comm comm, const RunArguments& arguments,
                          planner::Operation operation, Options& options) {
  if (!arguments.decisions.empty()) {
    const runtime::DecidedPlan decided = decided_for(comm, arguments, operation);
    follow(decided, options);
    return decided.plan;
  }
  planner::Plan plan = runtime::share_plan(comm, arguments.plan);
  for (const std::string& file : arguments.tuned) {
    options.tuned = runtime::tuned_segments_from(comm, file, plan);
  }
  if (arguments.segment) options.segment_bytes = arguments.segment->value;
  return plan;
}

}  // namespace espalier::cli
