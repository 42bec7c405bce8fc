// The input, the check and the candidates of an alltoall.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/espalier_mpi/bench/candidates.hpp"
#include "cli/espalier_mpi/bench/parts_in_memory.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/topology/alltoall_by_leaders.hpp"

namespace espalier::cli {

// What a rank sends, then what it receives.
struct AllToAll {
  Rank rank;
  std::uint64_t copies;
  std::uint64_t spare;
  std::vector<double> shares;  // sender by sender

  void run(runtime::Collective& plan, std::span<std::byte> memory) const;
  void run_by_leaders(const runtime::AlltoallByLeaders& leaders,
                      runtime::AlltoallByLeaders::Way way, std::span<std::byte> memory) const;
  void run_by_library(MPI_Comm comm, std::span<std::byte> memory) const;
  void prepare(std::span<std::byte> memory, std::uint64_t round) const;
  [[nodiscard]] Fault fault(std::span<const std::byte> memory, std::uint64_t round) const;

 private:
  struct Parts;
  [[nodiscard]] Parts parts_in(std::size_t memory) const;
  [[nodiscard]] std::uint64_t pattern(std::uint64_t round, std::size_t from, std::size_t to) const;
};

// shares: sender by sender.
AllToAll all_to_all(Rank rank, std::vector<double> shares);

// TAC's two ways by leaders of hosts, after the candidates that `timed` has. Collective. Throws
// MpiError.
void add_by_leaders(MPI_Comm comm, const AllToAll& kind, TimedOperation& timed);

}  // namespace espalier::cli
