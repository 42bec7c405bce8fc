// Writes a decision function as a rules file for Open MPI 4.1's component coll/tuned
// (coll_tuned_use_dynamic_rules, coll_tuned_dynamic_rules_filename). An unmodified MPI program then
// follows it.
//
// Source: Open MPI 4.1, ompi/mca/coll/tuned: coll_tuned_dynamic_file.c, coll_tuned_dynamic_rules.c,
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

// The text of the rules file. Open MPI applies the rule with the greatest size that does not exceed
// the message, so a choice holds up to the next size of the grid. Open MPI chooses on its own for
// ranks and messages outside the grid, for cells without a method, and for methods without a
// number. For an alltoall, Open MPI's message size is all that a rank sends: message times ranks.
// Throws InputError when that exceeds 2^63 - 1.
// Preconditions: all cells are of one operation of the registry; at least one has a method.
std::string open_mpi_rules(const DecisionFunction& decision);

}  // namespace espalier::cost_models
