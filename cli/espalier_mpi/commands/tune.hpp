// espalier-mpi tune: which segments suit a plan here, by running them.
#pragma once

#include <mpi.h>

#include <string>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"

namespace espalier::cli {

struct TuneArguments {
  std::string plan;  // file
  std::string out;   // tuned segments; empty: beside the plan
  // A platform file, on which the segments to try others about are simulated; empty: none.
  std::string platform;
  bool about_the_plans = false;  // or the plan's own
  // Sizes are those to tune for; segment: or this one. None of the three: what the formula
  // foresees.
  BenchArguments bench;
};

// The subcommand on the command line, and what remains to be checked of it. Throws InputError.
CLI::App* add_tune(CLI::App& app, TuneArguments& to, BenchTexts& texts);
void check_tune(const CLI::App& command, TuneArguments& to, const BenchTexts& texts);

// The whole command. After each size what is best so far is in the file. Throws on all ranks alike,
// but for MpiError.
void run_tune(MPI_Comm comm, const TuneArguments& arguments, Watchdog& watchdog);

}  // namespace espalier::cli
