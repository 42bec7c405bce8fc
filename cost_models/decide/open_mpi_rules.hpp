// A decision function as a file of rules for Open MPI 4.1's component coll/tuned
// (coll_tuned_use_dynamic_rules, coll_tuned_dynamic_rules_filename), so that an MPI program follows
// it unchanged.
//
// Source: Open MPI 4.1, ompi/mca/coll/tuned: coll_tuned_dynamic_file.c, coll_tuned_dynamic_rules.c,
// coll_tuned_*_decision.c (numbers of algorithms), coll_tuned_decision_dynamic.c (what counts as
// the size of a message).
#pragma once

#include <optional>
#include <string>

#include "cost_models/decide/decision.hpp"

namespace espalier::cost_models {

// The number that coll/tuned knows the method of a prediction by; unset where it has none: for
// two-tree, for cuts where it does not cut (linear), and for segments over 2^31 - 1 bytes.
std::optional<int> open_mpi_number(const Prediction& prediction);

// The rules. Open MPI takes the rule of the greatest size that is not over what it is asked for, so
// a choice holds up to the next size of the grid. What is under the grid's least ranks and message
// or over its greatest is left to Open MPI's own choice, and so are cells without a method or whose
// method has no number. Of an alltoall Open MPI counts what a rank sends to all: message times
// ranks. Throws InputError when that is over 2^63 - 1.
// Preconditions: all of one operation, which the registry has; at least one cell has a method.
std::string open_mpi_rules(const DecisionFunction& decision);

}  // namespace espalier::cost_models
