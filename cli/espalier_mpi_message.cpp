// A test message in memory.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <new>

#include "cli/espalier_mpi_bcast.hpp"
#include "cli/espalier_mpi_pattern.hpp"
#include "cli/espalier_mpi_timing.hpp"
#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

// Memory is granted on paper and taken back by killing; so it is counted before.
void check_memory(MPI_Comm comm, std::uint64_t bytes) {
  MPI_Comm host = MPI_COMM_NULL;
  int ranks_here = 1;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  check(MPI_Comm_size(host, &ranks_here), "MPI_Comm_size");
  MPI_Comm_free(&host);
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  runtime::together(comm, [&] {
    if (static_cast<double>(bytes) * ranks_here > memory) {
      throw InputError(fmt::format("--message {}: {} ranks on one host with {} of memory",
                                   format_size({bytes}), ranks_here,
                                   format_size({static_cast<std::uint64_t>(memory)})));
    }
  });
}

std::unique_ptr<std::byte[]> allocate(MPI_Comm comm, std::uint64_t bytes) {
  check_memory(comm, bytes);
  std::unique_ptr<std::byte[]> buffer;
  runtime::together(
      comm,
      [&] {
        try {
          buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
        } catch (const std::bad_alloc&) {
          throw InputError(fmt::format("no memory for a message of {}", format_size({bytes})));
        }
      },
      true);
  return buffer;
}

// MPI_Bcast counts in int.
void mpi_bcast(std::span<std::byte> message, int root, MPI_Comm comm) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  for (std::size_t at = 0; at < message.size(); at += kMost) {
    const std::size_t bytes = std::min(kMost, message.size() - at);
    check(MPI_Bcast(&message[at], static_cast<int>(bytes), MPI_BYTE, root, comm), "MPI_Bcast");
  }
}

}  // namespace

BcastFigures broadcast_message(MPI_Comm comm, runtime::Broadcast& broadcast,
                               const BcastArguments& arguments, Watchdog& watchdog) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  watchdog.expect("waiting for all ranks to have memory for the message");
  const std::unique_ptr<std::byte[]> buffer = allocate(comm, arguments.message.value);
  const std::span<std::byte> message(buffer.get(), arguments.message.value);
  BcastFigures figures{arguments.message.value,
                       broadcast.slice_bytes(arguments.message.value),
                       {},
                       {},
                       arguments.verify};

  const ReportTimer timer(comm, broadcast.root(),
                          broadcast.foreseen(figures.message_bytes, figures.slice_bytes),
                          arguments.broadcast.timeout, watchdog);

  // Pages are touched before they are timed; what is received must not be there before.
  std::uint64_t round = 0;
  const auto timed = [&](const ReportTimer::Act& act) {
    watchdog.rest();  // while the message is made, and checked
    if (rank == broadcast.root()) {
      fill_with_pattern(message, round);
    } else if (arguments.verify || round == 0) {
      std::fill(message.begin(), message.end(), static_cast<std::byte>(0xA5 ^ rank));
    }
    const double seconds = timer.seconds_of(act);
    if (arguments.verify) {
      runtime::together(
          comm,
          [&] {
            if (const auto wrong = find_mismatch(message, round)) {
              throw CheckFailed(fmt::format("byte {} of {} is {:#04x}, not {:#04x}", wrong->offset,
                                            message.size(), wrong->got, wrong->expected));
            }
          },
          true);
    }
    ++round;
    return seconds;
  };

  const ReportTimer::Act ours{[&] { broadcast.run(message.data(), message.size(), MPI_BYTE); }, {}};
  const ReportTimer::Act theirs{[&] { mpi_bcast(message, broadcast.root(), comm); },
                                "waiting in MPI_Bcast"};
  if (arguments.compare) {  // connections and caches of both
    timed(ours);
    timed(theirs);
  }
  for (std::size_t i = 0; i < arguments.repeat; ++i) {
    figures.seconds.push_back(timed(ours));
    if (arguments.compare) figures.mpi_bcast_seconds.push_back(timed(theirs));
  }
  return figures;
}

}  // namespace espalier::cli
