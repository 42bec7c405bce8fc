// espalier-mpi bench: plans against what MPI does by itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/espalier_mpi_pattern.hpp"
#include "cli/espalier_mpi_watchdog.hpp"
#include "runtime/broadcast.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct BenchArguments {
  std::vector<std::string> plans;  // files; none: only MPI's own is timed
  std::vector<Bytes> sizes;        // of messages
  std::size_t repeat = 9;          // timed rounds
  std::size_t warm_up = 2;         // rounds before them
  bool verify = false;
  bool json = false;
  std::optional<Bytes> slice;  // instead of the plans'
  runtime::BroadcastOptions broadcast;
};

// One way of doing an operation.
struct BenchMethod {
  std::string name;  // "MPI_Bcast", or a plan's file
  // On the whole of its argument, which is in place: what goes in and what comes out.
  std::function<void(std::span<std::byte>)> run;
  // Of a plan: the slices in which a message of so many bytes goes, and the time that the plan
  // foresees. Empty: MPI's own, of which nothing is known.
  std::function<std::uint64_t(std::uint64_t)> slice_bytes{};
  std::function<Seconds(std::uint64_t)> foreseen{};

  [[nodiscard]] bool is_mpis() const { return !foreseen; }
};

// What is done in turns by each of its methods.
struct BenchOperation {
  std::string name;  // as a plan calls it
  int root = 0;      // the rank that is told, and tells the time
  // On this rank, before a round: what goes in. Each round has other bytes.
  std::function<void(std::span<std::byte>, std::uint64_t round)> prepare;
  // After it: the first byte that is not what should have come out.
  std::function<std::optional<Mismatch>(std::span<const std::byte>, std::uint64_t round)> mismatch;
  std::vector<BenchMethod> methods;  // MPI's own first
  std::shared_ptr<void> keeps{};     // what the functions refer to
};

// Broadcasts: MPI_Bcast, and each plan. Collective. Throws InputError on all ranks when plans have
// different sources, or cannot be run here; MpiError.
BenchOperation broadcast_bench(MPI_Comm comm, const std::vector<planner::Plan>& plans,
                               const BenchArguments& arguments);

// A message size and a method. The same on all ranks.
struct BenchRow {
  std::uint64_t message_bytes = 0;
  std::string method;
  std::vector<double> seconds;          // one a round, report-to-root
  std::optional<double> mpis_median_s;  // of the same size; unset: this is MPI's own
  std::optional<std::uint64_t> slice_bytes;
  std::optional<Seconds> foreseen;
};

struct BenchFigures {
  std::string operation;
  int ranks = 0;
  std::size_t warm_up = 0;
  bool verified = false;
  std::vector<BenchRow> rows;
};
std::string bench_json(const BenchFigures& figures);
std::string bench_text(const BenchFigures& figures);

// The whole command. Throws on all ranks alike, but for MpiError.
void run_bench(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog);

}  // namespace espalier::cli
