// The program `espalier-mpi`: runs plans on the ranks of an mpirun.
//
// A fault that all ranks have found together (every Error but MpiError) is printed once, by rank 0,
// and all leave through MPI_Finalize with its exit status, so that mpirun returns it. Anything else
// is one rank's own trouble, which the others may be waiting for: that rank says what it is and
// ends all.
#include <fmt/format.h>
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "cli/espalier_mpi_bcast.hpp"
#include "cli/espalier_mpi_options.hpp"
#include "cli/espalier_mpi_reduce.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/rank_mapping.hpp"
#include "support/errors.hpp"

namespace {

using espalier::ExitStatus;

void print_error(const std::string& text) {
  fmt::print(stderr, "espalier-mpi: {}\n", text);
  std::fflush(stderr);
}

ExitStatus run(int argc, char** argv, int rank) {
  try {
    const auto command = espalier::cli::parse_command_line(argc, argv);
    if (command.bcast) {
      espalier::cli::run_bcast(MPI_COMM_WORLD, *command.bcast);
    } else if (command.reduce) {
      espalier::cli::run_reduce(MPI_COMM_WORLD, *command.reduce);
    } else if (rank == 0) {
      fmt::print("{}", command.text);
    }
    return ExitStatus::kDone;
  } catch (const espalier::runtime::MpiError&) {
    throw;
  } catch (const espalier::Error& error) {
    if (rank == 0) print_error(error.what());
    return error.status();
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // A file size limit is then a failed write like any other.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ExitStatus status = ExitStatus::kInternalFault;
  try {
    status = run(argc, argv, rank);
  } catch (const std::exception& error) {
    print_error(
        fmt::format("rank {} on {}: {}", rank, espalier::runtime::host_name(), error.what()));
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitStatus::kInternalFault));
  }
  MPI_Finalize();
  return static_cast<int>(status);
}
