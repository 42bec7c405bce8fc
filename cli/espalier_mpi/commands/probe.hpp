// espalier-mpi probe.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>

#include "runtime/measure/message_times.hpp"
#include "runtime/measure/mpi_network.hpp"
#include "runtime/measure/probe.hpp"
#include "support/quantities.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace espalier::cli {

// The cost model whose parameters are probed for, instead of a platform.
struct ModelArguments {
  std::string name;  // hockney, loggp or plogp; empty: none
  std::optional<runtime::probe::PairClass>
      pair_class;                            // unset: between hosts, if there are several
  std::optional<runtime::probe::Flow> pair;  // that one alone
  Bytes largest{std::uint64_t{1} << 20};     // of the messages
  std::string class_text;                    // as given, before they are checked
  std::string pair_text;
  std::string largest_text;
};

struct ProbeArguments {
  std::string out;           // the platform or parameters file; - is standard output
  std::string measurements;  // where the raw measurements go as well; empty: nowhere
  std::string name;          // the platform's; empty: says how many ranks
  std::string effort = "normal";
  double effort_factor = runtime::probe::kNormal;
  bool resume = false;
  bool json = false;
  bool quiet = false;
  ModelArguments model;
};

// The subcommand on the command line, and what remains to be checked of it. Throws InputError.
CLI::App* add_probe(CLI::App& app, ProbeArguments& to);
void check_probe(ProbeArguments& arguments);

// The whole command: measures, concludes, writes; rank 0 prints. Until it is done measurements are
// beside the output, from which --resume goes on. Throws on all ranks alike, but for MpiError.
void run_probe(MPI_Comm comm, const ProbeArguments& arguments);
// That with a model: messages of several sizes, pair by pair.
void run_model_probe(MPI_Comm comm, const ProbeArguments& arguments);
// On rank 0: measures by `act`, then lets the others go, unless MPI itself has failed.
void lead(runtime::probe::MpiNetwork& network, const std::function<void()>& act);

}  // namespace espalier::cli
