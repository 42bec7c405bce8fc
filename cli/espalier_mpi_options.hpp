// The command line of espalier-mpi.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/espalier_mpi_probe.hpp"
#include "runtime/broadcast.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct BcastArguments {
  std::string plan;
  Bytes message{std::uint64_t{64} << 20};
  std::string in;  // a file instead of a message; empty: none
  std::string out;
  bool verify = false;
  std::size_t repeat = 1;
  bool json = false;
  bool quiet = false;
  bool compare = false;        // with MPI_Bcast
  std::optional<Bytes> slice;  // instead of the plan's
  runtime::BroadcastOptions broadcast;
};

// What to do: run a broadcast, probe, or only print `text` (help, version).
struct CommandLine {
  std::optional<BcastArguments> bcast;
  std::optional<ProbeArguments> probe;
  std::string text;
};
// Throws InputError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace espalier::cli
