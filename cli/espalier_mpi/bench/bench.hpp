// espalier-mpi bench: plans against MPI's own function. Its options and figures are tune's, too.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/espalier_mpi/bench/candidates.hpp"
#include "cli/espalier_mpi/options/running_options.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

inline constexpr const char* kSizesHelp =
    "message sizes: \"1KiB,1MiB\"; \"1KiB..8MiB\" doubles, \"1KiB..8MiB:4\" quadruples";

// The options of commands that time rounds.
struct TimingOptions {
  std::vector<Bytes> sizes{};  // of messages
  Rounds rounds{.timed = 9, .warm_up = 2};
  bool json = false;
  RunningOptions running{};
  runtime::BroadcastOptions broadcast{};
  ElementOptions elements{};
  bool by_leaders = false;  // see timed_collective

  void add_to(Arguments& app);
  // Throws InputError.
  void check();
  // The same, with messages that tell the watchdog of their progress.
  [[nodiscard]] TimingOptions watched_by(const Watchdog& watchdog) const;
};

// MPI's own function and the plans, bound to the ranks. Collective. Throws MpiError, and InputError
// on all ranks when the plans cannot run here, an option does not apply to the operation, or a size
// is not a multiple of the element size.
TimedOperation timed_operation(MPI_Comm comm, std::span<const NamedPlan> plans,
                               planner::Operation operation, const TimingOptions& options);

// The figures of a message size and a candidate. The same on all ranks.
struct BenchRow {
  std::uint64_t message_bytes = 0;
  std::string method;
  std::vector<double> seconds;         // one per round, report-to-root
  std::optional<double> mpi_median_s;  // of MPI's own, same size; unset: this is it
  std::optional<std::uint64_t> segment_bytes;
  std::optional<Seconds> predicted_time;
  std::string algorithm{};  // of a plan; empty: MPI's own
};

// The segment size in which a message was fastest.
struct BestSegment {
  runtime::TunedSegment segment;
  double default_median_s = 0;  // in the segment size that the executor chooses on its own
};

// The decision for a message, by its method's name.
struct DecidedMessage {
  Bytes message;
  std::string chosen;
  std::optional<Seconds> median;  // unset: not timed
  std::string modelled;           // what the model chooses
  std::optional<Seconds> modelled_median;
  std::optional<Seconds> mpi_median;  // of MPI's own function
};

struct BenchFigures {
  planner::Operation operation = planner::Operation::kBroadcast;
  std::string op{};  // of a reduction; empty: a broadcast
  std::string type{};
  int ranks = 0;
  std::size_t warm_up = 0;
  bool verified = false;
  std::vector<BenchRow> rows{};
  std::vector<BestSegment> best{};        // of a tune
  std::vector<DecidedMessage> decided{};  // of a tune of algorithms
};
// No rows yet. Collective.
BenchFigures empty_figures(MPI_Comm comm, planner::Operation operation,
                           const TimingOptions& options);
// Adds the rows of these sizes. Collective. Throws as AlternatingTimer does.
void measure(MPI_Comm comm, const TimedOperation& operation, std::span<const Bytes> sizes,
             const TimingOptions& options, Watchdog& watchdog, BenchFigures& figures);
// Prints the figures on rank 0.
void print_figures(MPI_Comm comm, const BenchFigures& figures, bool json);

}  // namespace espalier::cli
