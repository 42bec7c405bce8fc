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

// Of all commands that run a plan.
struct RunArguments {
  std::string plan;                   // file; empty where `decisions` is not
  std::string decisions;              // file of a decision function
  std::optional<std::uint32_t> root;  // of what it decides; unset: 0
  Bytes message{std::uint64_t{64} << 20};
  bool verify = false;
  std::size_t repeat = 1;
  bool json = false;
  bool quiet = false;
  bool compare = false;            // with MPI's own function
  std::optional<Bytes> segment;    // instead of the plan's
  std::vector<std::string> tuned;  // one file of tuned segments at most
};

struct BcastArguments : RunArguments {
  std::vector<std::string> in;  // files or a folder instead of a message; empty: none
  std::string out;
  bool resume = false;  // what an earlier run left, and leave what this one did if it breaks off
  std::string trace;    // a file for who sent what when; empty: none
  runtime::BroadcastOptions broadcast;
  std::function<void(std::uint64_t)> on_message;  // told how many bytes one has, before it is sent
};

struct ReduceArguments : RunArguments {
  planner::Operation operation = planner::Operation::kReduce;  // or kAllreduce
  Elements elements;
  runtime::ReductionOptions reduction;
  std::optional<Seconds> timeout;  // of waiting without progress; unset: indefinitely
};

// What to do: run a plan, bench, tune, probe, or only print `text` (help, version).
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
