// MPI's own functions, and its broadcasts and reductions for any count, also above INT_MAX.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "planner/plan/plan.hpp"

namespace espalier::runtime {

// MPI's own function for an operation: "MPI_Bcast", "MPI_Allgatherv".
std::string_view library_function(planner::Operation operation);

// Collective. As MPI_Bcast. Throws MpiError.
void broadcast_by_library(MPI_Comm comm, void* buffer, std::size_t count, MPI_Datatype type,
                          int root);

// Collective. Buffers as for Reduction::run; operation: kReduce or kAllreduce. Throws MpiError.
void reduce_by_library(MPI_Comm comm, planner::Operation operation, int root, const void* sendbuf,
                       void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op);

// Collective. Buffers as for Collective::reduce_scatter. Throws MpiError, and InputError for a part
// that MPI's ints cannot count.
void reduce_scatter_by_library(MPI_Comm comm, const void* sendbuf, void* recvbuf,
                               std::span<const std::size_t> counts, MPI_Datatype type, MPI_Op op);

// Whether an operation on such elements runs along a plan's trees (otherwise MPI's own reduction
// runs, see Collective::run). False where MPI does not define it. operation: one that combines;
// type, op: not null handles. Throws MpiError.
bool goes_along_trees(planner::Operation operation, MPI_Datatype type, MPI_Op op);

}  // namespace espalier::runtime
