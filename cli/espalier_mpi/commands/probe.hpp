// espalier-mpi probe.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/espalier_mpi/options/running_options.hpp"
#include "cost_models/parameters_json.hpp"
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
  std::optional<runtime::probe::Statistics> given_statistics{};

  [[nodiscard]] Bytes largest() const {
    return given_largest.value_or(Bytes{std::uint64_t{1} << 20});
  }
  [[nodiscard]] runtime::probe::Statistics statistics() const {
    return given_statistics.value_or(runtime::probe::Statistics::kLeast);
  }
};

struct ProbeCommand {
  Job job{};
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
  [[nodiscard]] ExitStatus run() const;
};

// The whole command: measures, analyses, writes; rank 0 prints. Until it is done, the measurements
// so far are in a file beside the output, for --resume. Throws on all ranks, except MpiError.
void run_probe(const ProbeCommand& command);
// The same with --model: measures messages of several sizes, pair by pair. hosts: of each rank.
void run_model_probe(const ProbeCommand& command, const std::vector<std::string>& hosts);
// LogGP's parameters, as `probe --model loggp` measures them. On rank 0; collective. Throws as
// run_probe.
cost_models::NetworkParameters measured_loggp(const Job& job);
// Rank 0 measures while the others serve it, and then writes. Collective; throws as run_probe.
void measure_and_write(const Job& job,
                       const std::function<void(runtime::probe::MpiNetwork&)>& measure,
                       const std::function<void()>& write);

}  // namespace espalier::cli
