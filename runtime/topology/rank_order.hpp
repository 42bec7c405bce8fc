// The order of ranks in which those of a host, and the hosts of a group, follow each other, so that
// algorithms that go by rank cross the network as rarely as they can (TAC, sections 1.1.4 and 1.3).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace espalier::runtime {

// The ranks in that order. Rank 0 stays first; otherwise groups, the hosts of a group and the ranks
// of a host stay in the order in which they first appear. host_of_rank: from hosts_of_ranks().
// groups: of each rank's host, "lyon/rack1" for a group in a group; empty: there are no groups.
std::vector<int> contiguous_order(std::span<const int> host_of_rank,
                                  std::span<const std::string> groups);

// How many ranks follow, in this order, a rank of another host.
std::size_t host_changes(std::span<const int> order, std::span<const int> host_of_rank);

// Collective. The ranks of comm in contiguous_order, with comm's error handler; the caller frees
// it. groups_file: as of described_groups, read by rank 0 only; empty: there are no groups. Throws
// InputError on all ranks, MpiError.
MPI_Comm reordered_comm(MPI_Comm comm, const std::string& groups_file);

}  // namespace espalier::runtime
