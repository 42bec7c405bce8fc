// Writes a decision function as a rules file for Open MPI 4.1's coll/tuned, which an unmodified
// program then follows. Source: ompi/mca/coll/tuned: coll_tuned_dynamic_*.c,
// coll_tuned_*_decision.c (algorithm numbers), coll_tuned_decision_dynamic.c (message sizes).
#pragma once

#include <optional>
#include <string>

#include "cost_models/decide/decision.hpp"

namespace espalier::cost_models {

// coll/tuned's number for the method of a prediction. Unset if coll/tuned has no such method: for
// two-tree, for segments of an algorithm that it does not cut (linear), and for segments over
// 2^31 - 1 bytes.
std::optional<int> open_mpi_number(const Prediction& prediction);

// The text of the rules file. A choice holds up to the next size of the grid; Open MPI chooses on
// its own outside the grid, and where a cell has no method or its method no number. For an alltoall
// the size is all that a rank sends: throws InputError when message times ranks exceeds 2^63 - 1.
// Preconditions: all cells are of one operation of the registry; at least one has a method.
std::string open_mpi_rules(const DecisionFunction& decision);

}  // namespace espalier::cost_models
