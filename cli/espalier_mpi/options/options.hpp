// The command line of espalier-mpi.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/commands/probe.hpp"
#include "cli/espalier_mpi/commands/tune.hpp"
#include "cli/espalier_mpi/run/elements.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The options of all commands that run a plan.
struct RunArguments {
  std::string plan;                   // file; empty if `decisions` is given
  std::string decisions;              // file of a decision table
  std::optional<std::uint32_t> root;  // root of the decided plan; unset: 0
  Bytes message{std::uint64_t{64} << 20};
  bool verify = false;
  std::size_t repeat = 1;
  bool json = false;
  bool quiet = false;
  bool compare = false;            // time MPI's own function too
  std::optional<Bytes> segment;    // instead of the plan's
  std::vector<std::string> tuned;  // at most one file of tuned segments
};

struct BcastArguments : RunArguments {
  std::vector<std::string> in;  // files or a folder instead of a message; empty: none
  std::string out;
  bool resume = false;  // continue an interrupted run; if interrupted, keep the partial output
  bool allow_changes = false;  // of the source while it is sent: warn instead of failing
  std::string trace;           // trace file; empty: none
  runtime::BroadcastOptions broadcast;
  std::function<void(std::uint64_t)> on_message;  // gets the size before the send
};

struct ReduceArguments : RunArguments {
  planner::Operation operation = planner::Operation::kReduce;  // or kAllreduce
  Elements elements;
  runtime::ReductionOptions reduction;
  std::optional<Seconds> timeout;  // without progress; unset: none
};

// The command to run; if none is set, print `text` (help, version).
struct CommandLine {
  std::optional<BcastArguments> bcast{};
  std::optional<ReduceArguments> reduce{};
  std::optional<BenchArguments> bench{};
  std::optional<TuneArguments> tune{};
  std::optional<ProbeArguments> probe{};
  std::string text{};
};
// Throws InputError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace espalier::cli
