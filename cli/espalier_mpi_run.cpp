#include "cli/espalier_mpi_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <new>

#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/owned_comm.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

// Memory is granted on paper and taken back by killing; so it is counted before.
void check_memory(MPI_Comm comm, Bytes message, std::uint64_t bytes) {
  const std::size_t ranks = runtime::ranks_here(comm);
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  runtime::together(comm, [&] {
    if (static_cast<double>(bytes) * static_cast<double>(ranks) > memory) {
      throw InputError(fmt::format("--message {}: {} ranks on one host with {} of memory",
                                   format_size(message), ranks,
                                   format_size({static_cast<std::uint64_t>(memory)})));
    }
  });
}

}  // namespace

double seconds_to_report(MPI_Comm comm, int source, const std::function<void()>& act) {
  check(MPI_Barrier(comm), "MPI_Barrier");
  const double start = MPI_Wtime();
  act();
  const int done = 1;
  int all = 0;
  check(MPI_Reduce(&done, &all, 1, MPI_INT, MPI_SUM, source, comm), "MPI_Reduce");
  double seconds = MPI_Wtime() - start;
  check(MPI_Bcast(&seconds, 1, MPI_DOUBLE, source, comm), "MPI_Bcast");
  return seconds;
}

std::unique_ptr<std::byte[]> allocate(MPI_Comm comm, Bytes message, std::uint64_t bytes) {
  check_memory(comm, message, bytes);
  std::unique_ptr<std::byte[]> buffer;
  runtime::together(
      comm,
      [&] {
        try {
          buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
        } catch (const std::bad_alloc&) {
          throw InputError(fmt::format("no memory for a message of {}", format_size(message)));
        }
      },
      true);
  return buffer;
}

}  // namespace espalier::cli
