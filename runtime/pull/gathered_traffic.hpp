// Brings what the ranks of a pull have received to one rank.
#pragma once

#include <mpi.h>

#include <vector>

#include "engine/pull/traffic.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

// Collective: on rank 0 the traffic of each rank, in bins of one length; nothing on the others.
// Throws MpiError, TimedOut.
std::vector<engine::pull::Traffic> gathered_traffic(MPI_Comm comm,
                                                    const engine::pull::Traffic& mine,
                                                    Timeout timeout);

}  // namespace espalier::runtime
