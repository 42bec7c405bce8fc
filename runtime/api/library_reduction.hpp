// MPI's own reductions for any count, also above INT_MAX.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "planner/plan/plan.hpp"

namespace espalier::runtime {

// Collective. Buffers as for Reduction::run; operation: kReduce or kAllreduce. Throws MpiError.
void reduce_by_library(MPI_Comm comm, planner::Operation operation, int root, const void* sendbuf,
                       void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op);

// Whether an operation on such elements runs along a plan's trees (otherwise MPI's own reduction
// runs, see Collective::run). False where MPI does not define it. operation: kReduce or kAllreduce;
// type, op: not null handles. Throws MpiError.
bool goes_along_trees(planner::Operation operation, MPI_Datatype type, MPI_Op op);

}  // namespace espalier::runtime
