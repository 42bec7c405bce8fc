// A plan as settings by which an MPI library uses its own algorithm of the same trees. Only
// topology-oblivious trees in the order of ranks can be stated so.
#pragma once

#include <string>

#include "planner/plan/plan.hpp"

namespace espalier::cli {

// Rules for Open MPI 4.1 (cost_models/decide/open_mpi_rules.hpp), for the plan's number of ranks
// and messages of at least `from` bytes. Both throw InputError (place and reason) for a plan of
// other trees, and for operations other than broadcast and reduce.
std::string open_mpi_rules_of(const planner::Plan& plan, Bytes from, Bytes segment);

// Control variables for MPICH 4 as lines NAME=VALUE, which apply to every number of ranks and every
// size. Source: src/mpi/coll/cvars.txt and doc/mpich/tuning_parameters.md in
// https://github.com/pmodels/mpich.
std::string mpich_settings_of(const planner::Plan& plan, Bytes segment);

}  // namespace espalier::cli
