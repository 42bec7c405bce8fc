// What the commands of espalier-mpi that run a plan have in common.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::cli {

// What was measured. The same on all ranks.
struct Figures {
  std::uint64_t message_bytes = 0;
  std::uint64_t slice_bytes = 0;
  std::vector<double> seconds;      // one a repeat
  std::vector<double> mpi_seconds;  // of MPI's own function, in turns with them, when asked for
  bool verified = false;
  std::string library = "MPI_Bcast";  // that function
  std::string op{};                   // of a reduction; empty: a broadcast
  std::string type{};
};

// From the source's start, after a barrier, until the last rank has told it that it is done. The
// same on all ranks.
double seconds_to_report(MPI_Comm comm, int source, const std::function<void()>& act);

// Room for `bytes`, of which all ranks on a host ask for as much. Throws InputError on all ranks
// alike when a host has not so much memory for a message of that size.
std::unique_ptr<std::byte[]> allocate(MPI_Comm comm, Bytes message, std::uint64_t bytes);

}  // namespace espalier::cli
