// A test message in memory.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/espalier_mpi_bcast.hpp"
#include "cli/espalier_mpi_pattern.hpp"
#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

// MPI_Bcast counts in int.
void mpi_bcast(std::span<std::byte> message, int root, MPI_Comm comm) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  for (std::size_t at = 0; at < message.size(); at += kMost) {
    const std::size_t bytes = std::min(kMost, message.size() - at);
    check(MPI_Bcast(&message[at], static_cast<int>(bytes), MPI_BYTE, root, comm), "MPI_Bcast");
  }
}

}  // namespace

Figures broadcast_message(MPI_Comm comm, runtime::Broadcast& broadcast,
                          const BcastArguments& arguments) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::unique_ptr<std::byte[]> buffer =
      allocate(comm, arguments.message, arguments.message.value);
  const std::span<std::byte> message(buffer.get(), arguments.message.value);
  Figures figures{arguments.message.value,
                  broadcast.slice_bytes(arguments.message.value),
                  {},
                  {},
                  arguments.verify};

  // Pages are touched before they are timed; what is received must not be there before.
  std::uint64_t round = 0;
  const auto timed = [&](const std::function<void()>& act) {
    if (rank == broadcast.root()) {
      fill_with_pattern(message, round);
    } else if (arguments.verify || round == 0) {
      std::fill(message.begin(), message.end(), static_cast<std::byte>(0xA5 ^ rank));
    }
    const double seconds = seconds_to_report(comm, broadcast.root(), act);
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

  const auto ours = [&] { broadcast.run(message.data(), message.size(), MPI_BYTE); };
  const auto theirs = [&] { mpi_bcast(message, broadcast.root(), comm); };
  if (arguments.compare) {  // connections and caches of both
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
