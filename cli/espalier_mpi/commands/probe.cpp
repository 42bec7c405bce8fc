#include "cli/espalier_mpi/commands/probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
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
                            Checkpoint& checkpoint, const ProbeArguments& arguments) {
  ProbeProgress progress(!arguments.quiet);
  const probe::ProbeOptions options{
      arguments.effort_factor, [&](const probe::Progress& now) { progress.show(now); },
      [&](const probe::Measurements& measured) { checkpoint.keep(measured); }};
  probe::Measurements measured;
  lead(network, [&] { measured = probe::measure(network, std::move(so_far), options); });
  return measured;
}

probe::Estimate conclude_and_write(const probe::Measurements& measured,
                                   const ProbeArguments& arguments) {
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

void lead(runtime::probe::MpiNetwork& network, const std::function<void()>& act) {
  try {
    act();
  } catch (const runtime::MpiError&) {
    throw;  // the other ranks cannot be notified
  } catch (...) {
    network.dismiss();
    throw;
  }
  network.dismiss();
}

runtime::probe::Waits watched(Watchdog& watchdog) {
  return [&watchdog](const std::string& doing, Seconds extra) { watchdog.expect(doing, extra); };
}

void run_probe(const Job& job, const ProbeArguments& arguments) {
  const MPI_Comm comm = job.comm;
  Watchdog& watchdog = *job.watchdog;
  watchdog.start(arguments.timeout);
  watchdog.expect("waiting for all ranks to begin the probe");
  if (!arguments.model.name.empty()) {
    run_model_probe(job, arguments);
    return;
  }
  const Stopwatch watch;
  const int rank = runtime::rank_in(comm);
  probe::Measurements measured;
  measured.hosts = runtime::host_names(comm);
  if (measured.hosts.size() < 2) {
    throw InputError("one rank has no network to probe; start two or more");
  }
  if (arguments.dry_run) {
    if (rank == 0) {
      print_report(forecast_report(measured.hosts, arguments.effort_factor), arguments.json);
    }
    return;
  }
  Checkpoint checkpoint(arguments.out);
  runtime::collective_try(comm, [&] {
    if (rank != 0) return;
    require_writable(arguments.out);
    require_writable(arguments.measurements);
    if (arguments.resume) measured = checkpoint.read(measured.hosts);
    checkpoint.keep(measured, true);
  });

  std::optional<probe::Estimate> estimate;
  probe::MpiNetwork network(comm, watched(watchdog));
  runtime::collective_try(comm, [&] {
    if (rank != 0) {
      network.serve();
      watchdog.expect(kWaitingForTheFile);
      return;
    }
    measured = measure(network, std::move(measured), checkpoint, arguments);
    watchdog.pause();
    checkpoint.keep(measured, true);
    estimate = conclude_and_write(measured, arguments);
    checkpoint.remove();
    watchdog.expect(kWaitingForTheFile);
  });
  if (!estimate) return;
  print_report(probe_report(*estimate, watch.elapsed().value), arguments.json,
               arguments.out == "-");
}

}  // namespace espalier::cli
