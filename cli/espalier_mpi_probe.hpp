// espalier-mpi probe.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/probe/probe.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace espalier::cli {

struct ProbeArguments {
  std::string out;           // the platform file; - is standard output
  std::string measurements;  // where the raw measurements go as well; empty: nowhere
  std::string name;          // the platform's; empty: says how many ranks
  std::string effort = "normal";
  double effort_factor = runtime::probe::kNormal;
  bool resume = false;
  bool json = false;
  bool quiet = false;
};

// The subcommand on the command line, and what remains to be checked of it. Throws InputError.
CLI::App* add_probe(CLI::App& app, ProbeArguments& to);
void check_probe(ProbeArguments& arguments);

// The whole command: measures, concludes, writes; rank 0 prints. Until it is done measurements are
// beside the output, from which --resume goes on. Throws on all ranks alike, but for MpiError.
void run_probe(MPI_Comm comm, const ProbeArguments& arguments);

}  // namespace espalier::cli
