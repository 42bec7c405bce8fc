// espalier-mpi probe.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>

#include "cli/common/arguments.hpp"
#include "cli/espalier_mpi/options/running_options.hpp"
#include "runtime/measure/message_times.hpp"
#include "runtime/measure/mpi_network.hpp"
#include "runtime/measure/probe.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The cost model whose parameters are measured, instead of a platform.
struct ModelArguments {
  std::string name{};  // hockney, loggp or plogp; empty: none
  std::optional<runtime::probe::PairClass>
      pair_class{};                            // unset: between hosts, if there are several
  std::optional<runtime::probe::Flow> pair{};  // only this one
  std::optional<Bytes> given_largest{};        // of the messages

  [[nodiscard]] Bytes largest() const {
    return given_largest.value_or(Bytes{std::uint64_t{1} << 20});
  }
};

struct ProbeArguments {
  std::string out{};           // the platform or parameters file; - is standard output
  std::string measurements{};  // file for the raw measurements; empty: none
  std::string name{};          // of the platform; empty: "probe of N ranks"
  double effort_factor = runtime::probe::kNormal;
  bool resume = false;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  std::optional<Seconds> timeout{{60}};  // unset: none
  ModelArguments model{};

  void add_to(Arguments& app);
  // Throws InputError for options that do not fit each other.
  void check() const;
};

// What all ranks do at the end.
inline constexpr const char* kWaitingForTheFile = "waiting for rank 0 to write what was measured";

// The whole command: measures, analyses, writes; rank 0 prints. Until it is done, the measurements
// so far are in a file beside the output, for --resume. Throws on all ranks, except MpiError.
void run_probe(const Job& job, const ProbeArguments& arguments);
// The same with --model: measures messages of several sizes, pair by pair.
void run_model_probe(const Job& job, const ProbeArguments& arguments);
// For a network whose waits the watchdog limits.
runtime::probe::Waits watched(Watchdog& watchdog);
// On rank 0: measures by `act`, then dismisses the other ranks, unless MPI itself has failed.
void lead(runtime::probe::MpiNetwork& network, const std::function<void()>& act);

}  // namespace espalier::cli
