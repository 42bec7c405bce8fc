// espalier-mpi bcast without a plan.
#pragma once

#include <cstdint>

#include "cli/espalier_mpi/commands/learning.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"

namespace espalier::cli {

// Collective. source: the rank that has the message. Throws InputError on all ranks when there is
// no such rank, and as broadcast_file and time_message do.
ExitStatus run_pull(const Job& job, const RunArguments& arguments, const FileOptions& files,
                    const LearningOptions& options, std::uint64_t source);

}  // namespace espalier::cli
