// Maps ranks to the nodes of a plan.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

namespace espalier::runtime {

// The rank of each plan node by order: rank i is node i. Throws InputError with both numbers when
// they differ.
std::vector<int> ranks_by_order(std::size_t ranks, std::size_t nodes);

// The rank of each plan node by host: rank r runs on hosts[r]. A node matches the host with the
// same name; if there is none, the names up to the first dot are compared. Throws InputError that
// names the node without a rank, or the host with several ranks.
std::vector<int> ranks_by_host(std::span<const std::string> hosts,
                               std::span<const std::string> nodes);

// "n1" of "n1.lyon".
std::string up_to_dot(const std::string& name);

// This process's host (MPI_Get_processor_name).
std::string host_name();
// All ranks' hosts. Collective.
std::vector<std::string> host_names(MPI_Comm comm);

}  // namespace espalier::runtime
