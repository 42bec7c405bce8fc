// The program `espalier-mpi`: runs plans on the ranks of an mpirun, and probes their network.
// All ranks agree on every Error except MpiError; any other error, or a timeout, is one rank's, for
// which the others may be waiting: it aborts them (docs/runtime.md, Checks).
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/files/temporary_names.hpp"
#include "runtime/memory/mpi_plugins.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace {

using espalier::ExitStatus;

void print_error(const std::string& text) {
  fmt::print(stderr, "espalier-mpi: {}\n", text);
  std::fflush(stderr);
}

// Time for other ranks that time out as well to print their messages, before all are aborted.
constexpr auto kTimeForMessages = std::chrono::seconds(1);
constexpr espalier::Seconds kLongestAbort{5};

void require_threads() {
  if (espalier::runtime::thread_level() >= MPI_THREAD_FUNNELED) return;
  throw espalier::Error(ExitStatus::kInternalFault,
                        "this MPI provides MPI_THREAD_SINGLE only; the thread that ends a rank "
                        "after --timeout needs MPI_THREAD_FUNNELED");
}

ExitStatus run(int argc, char** argv, int rank, espalier::cli::Watchdog& watchdog) {
  try {
    require_threads();
    const auto line = espalier::cli::make_command_line({MPI_COMM_WORLD, &watchdog});
    const std::string help = line->parse(argc, argv);
    if (help.empty()) return line->run();
    if (rank == 0) fmt::print("{}", help);
    return ExitStatus::kDone;
  } catch (const espalier::runtime::MpiError&) {
    throw;
  } catch (const espalier::Error& error) {
    if (rank == 0) print_error(error.what());
    return error.status();
  }
}

// Completion and manual pages are asked for where no MPI may be running: by a shell, by a build.
bool needs_no_ranks(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view first = argv[1];
  return first.starts_with("--completion") || first.starts_with("--manual");
}

ExitStatus run_without_ranks(int argc, char** argv) {
  try {
    fmt::print("{}", espalier::cli::make_command_line({MPI_COMM_NULL, nullptr})->parse(argc, argv));
    return ExitStatus::kDone;
  } catch (const espalier::Error& error) {
    print_error(error.what());
    return error.status();
  }
}

// Aborts all ranks.
[[noreturn]] void abort_all(const std::string& rank_name, const std::exception& error,
                            espalier::cli::Watchdog& watchdog) {
  print_error(fmt::format("{}: {}", rank_name, error.what()));
  auto status = static_cast<int>(ExitStatus::kInternalFault);
  if (const auto* const fault = dynamic_cast<const espalier::Error*>(&error)) {
    status = static_cast<int>(fault->status());
  }
  watchdog.limit_exit(kLongestAbort, status);
  if (dynamic_cast<const espalier::runtime::TimedOut*>(&error) != nullptr) {
    std::this_thread::sleep_for(kTimeForMessages);
  }
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (needs_no_ranks(argc, argv)) return static_cast<int>(run_without_ranks(argc, argv));
  // The watchdog's thread makes no MPI calls.
  int threads = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // So that exceeding a file size limit is an ordinary write error.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  espalier::runtime::remove_temporaries_on_signals();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string rank_name = fmt::format("rank {} on {}", rank, espalier::runtime::host_name());
  espalier::cli::Watchdog watchdog(rank_name);
  ExitStatus status = ExitStatus::kInternalFault;
  try {
    status = run(argc, argv, rank, watchdog);
  } catch (const std::exception& error) {
    abort_all(rank_name, error, watchdog);
  }
  espalier::runtime::keep_plugins_loaded();
  watchdog.expect("waiting for all ranks to end");
  MPI_Finalize();
  return static_cast<int>(status);
}
