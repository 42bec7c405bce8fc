// Broadcasts a test message in memory.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/espalier_mpi/commands/bcast.hpp"
#include "cli/espalier_mpi/run/buffer.hpp"
#include "cli/espalier_mpi/run/pattern.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

using runtime::check;

Figures broadcast_message(MPI_Comm comm, runtime::Broadcast& broadcast,
                          const BcastArguments& arguments, Watchdog& watchdog) {
  const int rank = runtime::rank_in(comm);
  watchdog.expect("waiting for all ranks to have memory for the message");
  const std::unique_ptr<std::byte[]> buffer =
      allocate_message(comm, arguments.message.value, "--message");
  const std::span<std::byte> message(buffer.get(), arguments.message.value);
  if (arguments.on_message) arguments.on_message(arguments.message.value);
  Figures figures{arguments.message.value,
                  broadcast.segment_bytes(arguments.message.value),
                  {},
                  {},
                  arguments.verify};

  const ReportTimer timer(comm, broadcast.root(),
                          broadcast.predicted_time(figures.message_bytes, figures.segment_bytes),
                          arguments.broadcast.timeout, watchdog);

  // Touches the pages before the timing, and clears what must be received.
  std::uint64_t round = 0;
  const auto timed = [&](const ReportTimer::Act& act) {
    watchdog.pause();  // while the message is filled, and checked
    if (rank == broadcast.root()) {
      fill_with_pattern(message, round);
    } else if (arguments.verify || round == 0) {
      std::fill(message.begin(), message.end(), static_cast<std::byte>(0xA5 ^ rank));
    }
    const double seconds = timer.seconds_of(act);
    if (arguments.verify) {
      runtime::collective_try(
          comm,
          [&] {
            if (const auto fault = find_fault(message, round)) throw CheckFailed(*fault);
          },
          true);
    }
    ++round;
    return seconds;
  };

  const ReportTimer::Act ours{[&] { broadcast.run(message.data(), message.size(), MPI_BYTE); }, {}};
  const ReportTimer::Act theirs{[&] { mpi_bcast(message, broadcast.root(), comm); },
                                "waiting in MPI_Bcast"};
  if (arguments.compare) {  // sets up the connections and caches of both
    timed(ours);
    timed(theirs);
  }
  for (std::size_t i = 0; i < arguments.repeat; ++i) {
    figures.seconds.push_back(timed(ours));
    if (arguments.compare) figures.mpi_seconds.push_back(timed(theirs));
  }
  return figures;
}

}  // namespace espalier::cli
