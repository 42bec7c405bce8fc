// Which reductions MPI defines, and which of them can go along trees.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace espalier::runtime {

// Why MPI defines no reduction of such elements by `op`: "MPI_BAND is not defined on MPI_DOUBLE";
// empty where it does (MPI 3.1, section 5.9), and for operations of the user's own, which may take
// anything. type: not MPI_DATATYPE_NULL. Throws MpiError.
std::string operation_fault(MPI_Datatype type, MPI_Op op);

// A number that is the same on ranks that reduce elements of one kind by one operation; handles,
// which differ among ranks, do not count, so that types and operations of the user's own are only
// known as such. Between 2 and 2^63. Throws MpiError.
std::uint64_t reduction_kind(MPI_Datatype type, MPI_Op op);

}  // namespace espalier::runtime
