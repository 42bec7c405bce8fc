// Which reductions MPI defines, and a number that identifies a kind of reduction.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace espalier::runtime {

// The reason why MPI does not define `op` on such elements, for example "MPI_BAND is not defined on
// MPI_DOUBLE". Empty where it does (MPI 3.1, section 5.9), and for user-defined operations, which
// may accept any type. type: not MPI_DATATYPE_NULL. Throws MpiError.
std::string operation_fault(MPI_Datatype type, MPI_Op op);

// A number that is equal on ranks that reduce elements of the same type by the same operation.
// Handles differ among ranks and are not included, so user-defined types are distinguished only by
// size, and user-defined operations not at all. Between 2 and 2^63. Throws MpiError.
std::uint64_t reduction_kind(MPI_Datatype type, MPI_Op op);

}  // namespace espalier::runtime
