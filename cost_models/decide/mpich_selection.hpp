// Writes a decision function as a selection file for MPICH 4, which an unmodified program then
// follows (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE). Source: src/mpi/coll/src/csel.c (operators)
// and csel_container.c (algorithms) of https://github.com/pmodels/mpich.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cost_models/decide/decision.hpp"
#include "support/json.hpp"

namespace espalier::cost_models {

// What a library of MPICH has built in. A selection file replaces all of its selections, and an
// algorithm that it does not know ends the program, so both are taken from the library itself.
struct MpichLibrary {
  std::string selections;            // JSON: {"collective=bcast": {...}, ...}
  std::set<std::string> algorithms;  // "algorithm=MPIR_Bcast_intra_binomial"
};

// bytes: of libmpich.so; file: for messages. Throws InputError if it has no selections.
MpichLibrary read_mpich_library(std::string_view bytes, const std::string& file);

// The library's algorithm for the method of a prediction, with its parameters, for up to
// `most_ranks`. Unset if it has no such method: it cuts messages only along chains and binary
// trees, and not before MPICH 4.2; of reductions it can select binomial trees alone.
std::optional<Json> mpich_algorithm(const Prediction& prediction, std::uint64_t most_ranks,
                                    const MpichLibrary& library);

// The text of the file: the library's selections, with the decision in place of those for the
// decision's grid. A choice holds up to the next size and number of ranks of the grid; outside, and
// where a cell has no method or MPICH not its method, the library's own selection stays. Throws
// InputError for message sizes of 2 GiB and more. Preconditions as open_mpi_rules.
std::string mpich_selection(const DecisionFunction& decision, const MpichLibrary& library);

}  // namespace espalier::cost_models
