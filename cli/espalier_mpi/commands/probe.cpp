#include "cli/espalier_mpi/commands/probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/espalier_mpi/reports/output.hpp"
#include "cli/espalier_mpi/reports/probe_report.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/measure/analysis.hpp"
#include "runtime/measure/mpi_network.hpp"
#include "runtime/measure/platform_file.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;
namespace probe = runtime::probe;

constexpr double kBetweenCheckpoints_s = 2;

// The measurements so far, in a file beside the output until the probe is done.
class Checkpoint {
 public:
  explicit Checkpoint(const std::string& output) {
    std::error_code ignored;
    const bool is_file = !fs::exists(output, ignored) || fs::is_regular_file(output, ignored);
    if (output != "-" && is_file) file_ = output + ".measurements.json";
  }

  [[nodiscard]] probe::Measurements read(const std::vector<std::string>& hosts) const {
    if (file_.empty())
      throw InputError("--resume: -o is not a regular file; give the -o of the earlier run");
    probe::Measurements measured = probe::parse_measurements(read_text(file_), file_);
    if (measured.hosts.size() != hosts.size()) {
      throw InputError(file_, "/hosts",
                       fmt::format("was measured with {}, not {}",
                                   counted(measured.hosts.size(), "rank"), hosts.size()));
    }
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      if (measured.hosts[rank] == hosts[rank]) continue;
      throw InputError(file_, fmt::format("/hosts/{}", rank),
                       fmt::format("rank {} ran on {} and is now on {}", rank,
                                   in_quotes(measured.hosts[rank]), in_quotes(hosts[rank])));
    }
    return measured;
  }

  void keep(const probe::Measurements& measured, bool at_once = false) {
    if (file_.empty() || (!at_once && steady_now().value < next_s_)) return;
    write_text(file_, probe::measurements_json(measured));
    next_s_ = steady_now().value + kBetweenCheckpoints_s;
  }

  void remove() const {
    std::error_code ignored;
    if (!file_.empty()) fs::remove(file_, ignored);
  }

 private:
  std::string file_;  // empty: none
  double next_s_ = 0;
};

probe::Measurements measure(probe::MpiNetwork& network, probe::Measurements so_far,
                            Checkpoint& checkpoint, const ProbeCommand& arguments) {
  ProbeProgress progress(!arguments.quiet);
  progress.show_forecast(network.ranks(), arguments.effort_factor);
  const probe::ProbeOptions options{
      arguments.effort_factor, [&](const probe::Progress& now) { progress.show(now); },
      [&](const probe::Measurements& measured) { checkpoint.keep(measured); }};
  return probe::measure(network, std::move(so_far), options);
}

probe::Estimate conclude_and_write(const probe::Measurements& measured,
                                   const ProbeCommand& arguments) {
  probe::Estimate estimate = probe::analyse(measured);
  const std::string name = arguments.name.empty()
                               ? fmt::format("probe of {}", counted(measured.hosts.size(), "rank"))
                               : arguments.name;
  if (!arguments.measurements.empty()) {
    write_text(arguments.measurements, probe::measurements_json(measured));
  }
  write_text(arguments.out, probe::platform_json(estimate, name));
  return estimate;
}

}  // namespace

void measure_and_write(const Job& job,
                       const std::function<void(runtime::probe::MpiNetwork&)>& measure,
                       const std::function<void()>& write) {
  Watchdog& watchdog = *job.watchdog;
  probe::MpiNetwork network(job.comm, [&watchdog](const std::string& doing, Seconds extra) {
    watchdog.expect(doing, extra);
  });
  runtime::collective_try(job.comm, [&] {
    if (runtime::rank_in(job.comm) != 0) {
      network.serve();
    } else {
      try {
        measure(network);
      } catch (const runtime::MpiError&) {
        throw;  // the other ranks cannot be notified
      } catch (...) {
        network.dismiss();
        throw;
      }
      network.dismiss();
      watchdog.pause();
      write();
    }
    watchdog.expect("waiting for rank 0 to write what was measured");
  });
}

void run_probe(const ProbeCommand& command) {
  const MPI_Comm comm = command.job.comm;
  Watchdog& watchdog = *command.job.watchdog;
  watchdog.start(command.timeout);
  watchdog.expect("waiting for all ranks to begin the probe");
  const Stopwatch watch;
  const bool leads = runtime::rank_in(comm) == 0;
  probe::Measurements measured;
  measured.hosts = runtime::host_names(comm);
  if (measured.hosts.size() < 2) {
    throw InputError("one rank has no network to probe; start two or more");
  }
  if (!command.model.name.empty()) return run_model_probe(command, measured.hosts);
  if (command.dry_run) {
    if (leads) print_report(forecast_report(measured.hosts, command.effort_factor), command.json);
    return;
  }
  Checkpoint checkpoint(command.out);
  runtime::collective_try(comm, [&] {
    if (!leads) return;
    require_writable(command.out);
    require_writable(command.measurements);
    if (command.resume) measured = checkpoint.read(measured.hosts);
    checkpoint.keep(measured, true);
  });

  std::optional<probe::Estimate> estimate;
  measure_and_write(
      command.job,
      [&](probe::MpiNetwork& network) {
        measured = measure(network, std::move(measured), checkpoint, command);
      },
      [&] {
        checkpoint.keep(measured, true);
        estimate = conclude_and_write(measured, command);
        checkpoint.remove();
      });
  if (!estimate) return;
  print_report(probe_report(*estimate, watch.elapsed().value), command.json, command.out == "-");
}

}  // namespace espalier::cli
