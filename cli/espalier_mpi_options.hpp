// The command line of espalier-mpi.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/espalier_mpi_elements.hpp"
#include "runtime/broadcast.hpp"
#include "runtime/reduction.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// Of all commands that run a plan.
struct RunArguments {
  std::string plan;
  Bytes message{std::uint64_t{64} << 20};
  bool verify = false;
  std::size_t repeat = 1;
  bool json = false;
  bool quiet = false;
  bool compare = false;        // with MPI's own function
  std::optional<Bytes> slice;  // instead of the plan's
};

struct BcastArguments : RunArguments {
  std::string in;  // a file instead of a message; empty: none
  std::string out;
  runtime::BroadcastOptions broadcast;
};

struct ReduceArguments : RunArguments {
  planner::Operation operation = planner::Operation::kReduce;  // or kAllreduce
  Elements elements;
  runtime::ReductionOptions reduction;
};

// What to do: run a plan, or only print `text` (help, version).
struct CommandLine {
  std::optional<BcastArguments> bcast;
  std::optional<ReduceArguments> reduce;
  std::string text;
};
// Throws InputError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace espalier::cli
