// Which ranks share a host: no link is between them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace espalier::runtime {

// Collective. For each rank of comm, the lowest rank that shares its memory: equal for ranks of one
// host. Throws MpiError.
std::vector<int> hosts_of_ranks(MPI_Comm comm);

// host_of_rank: of all ranks, as above. How many of them are on the host of `rank`, itself
// included.
std::size_t ranks_on_host_of(int rank, std::span<const int> host_of_rank);

// Collective. On how many hosts the ranks are. Throws MpiError.
std::size_t count_hosts(MPI_Comm comm);

}  // namespace espalier::runtime
