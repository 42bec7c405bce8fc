// The memory of test messages, and MPI_Bcast of any number of bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace espalier::cli {

// Collective. Room for `copies` messages of `bytes` on every rank. Throws InputError on all ranks,
// in the name of `option`, where a host has not the memory for its ranks.
std::unique_ptr<std::byte[]> allocate_message(MPI_Comm comm, std::uint64_t bytes,
                                              const std::string& option, std::uint64_t copies = 1);

// MPI_Bcast, which counts in int. Throws MpiError.
void mpi_bcast(std::span<std::byte> message, int root, MPI_Comm comm);

}  // namespace espalier::cli
