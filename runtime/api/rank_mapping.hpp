// Which rank is which node of a plan.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

namespace espalier::runtime {

// Ranks of plan nodes by order: rank i is node i. Throws InputError that says both numbers when
// they differ.
std::vector<int> ranks_by_order(std::size_t ranks, std::size_t nodes);

// Ranks of plan nodes by host: hosts[r] is where rank r runs. A node is its host's name, as a whole
// or each up to the first dot. Throws InputError that names the node without a rank, or the host
// with several ranks.
std::vector<int> ranks_by_host(std::span<const std::string> hosts,
                               std::span<const std::string> nodes);

// "n1" of "n1.lyon".
std::string up_to_dot(const std::string& name);

// This process's host, as MPI calls it.
std::string host_name();
// All ranks' hosts. Collective.
std::vector<std::string> host_names(MPI_Comm comm);

}  // namespace espalier::runtime
