// The memory of test messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace espalier::cli {

// Collective. Allocates memory for `copies` messages of `bytes`, and `spare` bytes more, on every
// rank. Throws InputError on
// all ranks, naming `option`, when a host does not have enough memory for its ranks.
std::unique_ptr<std::byte[]> allocate_message(MPI_Comm comm, std::uint64_t bytes,
                                              const std::string& option, std::uint64_t copies = 1,
                                              std::uint64_t spare = 0);

}  // namespace espalier::cli
