// espalier-mpi tune: finds the best segment sizes for a plan by running it.
#pragma once

#include <mpi.h>

#include <string>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"

namespace espalier::cli {

struct TuneArguments {
  std::string plan;  // file
  std::string out;   // file of tuned segments; empty: beside the plan
  // Platform file for simulating the segment around which others are tried; empty: none.
  std::string platform;
  bool around_plan_segment = false;  // instead: the plan's own
  // bench.sizes: the messages to tune for. bench.segment: instead: this segment. If none of the
  // three is given: the segment that the formula predicts.
  BenchArguments bench;
};

// Adds the subcommand to the command line; checks and converts its texts. Throws InputError.
CLI::App* add_tune(CLI::App& app, TuneArguments& to, BenchTexts& texts);
void check_tune(const CLI::App& command, TuneArguments& to, const BenchTexts& texts);

// The whole command. Saves the best segment of each size as soon as it is found. Throws on all
// ranks, except MpiError.
void run_tune(MPI_Comm comm, const TuneArguments& arguments, Watchdog& watchdog);

}  // namespace espalier::cli
