// Which ranks share a host; there are no links between them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace espalier::runtime {

// Collective. For each rank of comm, the lowest rank that shares its memory: equal for ranks of one
// host. Throws MpiError.
std::vector<int> hosts_of_ranks(MPI_Comm comm);

// The number of ranks on the host of `rank`, including itself. host_of_rank: from hosts_of_ranks().
std::size_t ranks_on_host_of(int rank, std::span<const int> host_of_rank);

// By rank, the number of its host, in the order of the hosts' lowest ranks. host_of_rank: from
// hosts_of_ranks(), or any numbers of hosts; empty: each of the `ranks` has a host of its own.
std::vector<std::size_t> numbered_hosts(std::span<const int> host_of_rank, std::size_t ranks);

// Collective. The number of hosts of the ranks. Throws MpiError.
std::size_t count_hosts(MPI_Comm comm);

}  // namespace espalier::runtime
